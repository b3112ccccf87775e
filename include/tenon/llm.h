/* SPDX-License-Identifier: MIT */
#ifndef TENON_LLM_H
#define TENON_LLM_H

/**
 * DOC: language models
 *
 * A language model that MLC-LLM, or TVM in the same form, compiled: a shared object with functions
 * for prefill and decoding, weights in the files of tensor-cache.json, and a tokenizer. A folder without
 * tokenizer.json or mlc-chat-config.json takes the vocabulary and the chat template of its only file in GGUF.
 *
 *	tenon_llm_open("model", NULL, &llm);
 *	tenon_llm_encode(llm, tenon_slice_of("Hello"), 0, &tokens);
 *	tenon_llm_submit(llm, &request, &job);
 *	while (tenon_llm_step(llm) > 0)
 *		;
 *
 * There are two levels. Requests (tenon_llm_submit() and below) generate text: all requests share
 * one batch, join it and leave it at any step, and share the beginnings that their prompts have in
 * common. Sequences (tenon_llm_add() and below) give the logits of tokens, for programs that sample
 * themselves. One model should be used at one level only.
 *
 * These functions are in libtenon-llm, a library beside libtenon (pkg-config: tenon-llm). It needs
 * libpcre2-8 if it was built with tokenizers. Any thread may use a model, but only one at a time.
 */

#include <stddef.h>
#include <stdint.h>
#include <tenon/buffer.h>
#include <tenon/export.h>
#include <tenon/prepare.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_llm;

/**
 * struct tenon_llm_options - options for opening a model; 0 selects each default
 * @size: sizeof(struct tenon_llm_options)
 * @device: device to run on; device type 0 is the processor
 * @weights: folder with tensor-cache.json, mlc-chat-config.json and tokenizer.json; or a file of weights in safetensors
 *	or GGUF, whose names are those of the model, the other files being beside the library; NULL for the
 *	folder of the model
 * @sequences: sequences at a time; by default what the model was compiled for
 * @tokens: tokens of all sequences together, for which the key-value cache has room; by default one
 *	context window
 * @chunk: tokens of one prefill step; by default what the model was compiled for
 * @bytes: use the bytes of a text as its tokens, even if there is a tokenizer
 * @progress: called after each kernel that is built; see below. NULL for none
 * @context: passed to @progress
 *
 * For a device, opening a model begins to build all of its kernels in the background
 * (tenon/prepare.h). @progress is called by the threads that build, also after
 * tenon_llm_open() has returned, and not after tenon_llm_close().
 */
struct tenon_llm_options {
	size_t size;
	DLDevice device;
	const char *weights;
	int64_t sequences;
	int64_t tokens;
	int64_t chunk;
	bool bytes;
	void (*progress)(void *context, const struct tenon_prepare_progress *progress);
	void *context;
};

/**
 * struct tenon_llm_info - description of an open model; valid as long as the model
 * @name: name of the model's folder or file
 * @type: "llama", …; from the model
 * @quantization: "q4f16_1", …; from the model
 * @tokenizer: "bpe"; "bytes"; "none" if text cannot be converted: the model has no tokenizer.json, its file in GGUF
 *	has a tokenizer of an unknown kind, or the library has no tokenizers. Its prompts are numbers.
 * @context: largest number of tokens of a sequence; INT64_MAX for a sliding window
 * @window: size of the sliding window; 0 for none
 * @chunk: tokens of one prefill step
 * @sequences: sequences at a time
 * @tokens: tokens of all sequences together
 * @vocabulary: size of a row of logits
 * @weight_bytes: size of the weights
 * @cache_bytes: size of the key-value cache; 0 if the model does not state its dimensions
 * @has_template: mlc-chat-config.json, or the file in GGUF, states the form of conversations; else it is "user: …"
 */
struct tenon_llm_info {
	const char *name;
	const char *type;
	const char *quantization;
	const char *tokenizer;
	int64_t context;
	int64_t window;
	int64_t chunk;
	int64_t sequences;
	int64_t tokens;
	int64_t vocabulary;
	uint64_t weight_bytes;
	uint64_t cache_bytes;
	bool has_template;
};

/**
 * tenon_llm_open - open a model
 * @path: the shared object, or a folder with one
 * @options: NULL for all defaults
 * @out: receives the model
 *
 * Opening runs the library's constructors and reads the weights. A file in GGUF whose tokenizer is of an unknown
 * kind is opened without one: prompts are numbers, and tenon_llm_encode() refuses text with the name of that kind.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT for weights, metadata or a tokenizer that do not fit
 *	together; -TENON_E_UNSUPPORTED for a model of another form or device, or a tokenizer.json or
 *	template with parts that are not known; -TENON_E_VALUE for options beyond what the model was compiled for;
 *	-TENON_E_DEVICE; -TENON_E_NOMEM.
 */
TENON_API int tenon_llm_open(const char *path, const struct tenon_llm_options *options,
			     struct tenon_llm **out);

/** tenon_llm_close - free a model, its sequences and requests. NULL is allowed. */
TENON_API void tenon_llm_close(struct tenon_llm *llm);

/** tenon_llm_info - describe an open model */
TENON_API const struct tenon_llm_info *tenon_llm_info(const struct tenon_llm *llm);

/**
 * tenon_llm_template_problem - why the chat template of a file in GGUF is not used
 * @llm: a model
 *
 * A chat template is a program; one that cannot be done, or whose text depends on more than the roles of messages, is left out.
 *
 * Return: a text, valid as long as the model; NULL for no such template, or one that is used.
 */
TENON_API const char *tenon_llm_template_problem(const struct tenon_llm *llm);

/* ---- text */

/* tenon_llm_encode(): the names of special tokens in the text stand for these tokens */
#define TENON_LLM_SPECIAL 1u

/**
 * tenon_llm_encode - convert text to tokens
 * @llm: the model
 * @text: the text
 * @flags: 0 or TENON_LLM_SPECIAL. Without it, no text of a user becomes a special token.
 * @tokens: the tokens are appended, as int32_t
 *
 * Return: 0; -TENON_E_VALUE for text that the tokenizer cannot express; -TENON_E_UNSUPPORTED for a
 *	model whose tokenizer is "none", with the reason; -TENON_E_NOMEM.
 */
TENON_API int tenon_llm_encode(struct tenon_llm *llm, struct tenon_slice text, unsigned int flags,
			       struct tenon_buffer *tokens);

/**
 * tenon_llm_decode - get the bytes of one token
 * @llm: the model
 * @token: the token
 *
 * A character may be divided between tokens. Special tokens have no bytes.
 *
 * Return: the bytes, valid as long as the model; empty for an unknown token.
 */
TENON_API struct tenon_slice tenon_llm_decode(struct tenon_llm *llm, int32_t token);

/**
 * struct tenon_llm_message - a message of a conversation
 * @role: "system", "user", "assistant" or "tool"
 * @content: its text
 */
struct tenon_llm_message {
	struct tenon_slice role;
	struct tenon_slice content;
};

/**
 * tenon_llm_prompt - convert a conversation to tokens, as the model's template says
 * @llm: the model
 * @messages: the conversation
 * @count: how many; at least 1
 * @tokens: the tokens are appended, as int32_t; the reply of the assistant comes next
 *
 * Return: 0; -TENON_E_VALUE for a role that the template lacks; errors of tenon_llm_encode().
 */
TENON_API int tenon_llm_prompt(struct tenon_llm *llm, const struct tenon_llm_message *messages,
			       size_t count, struct tenon_buffer *tokens);

/* ---- requests */

/**
 * struct tenon_llm_sampling - how the next token is chosen
 * @temperature: 0 for the most probable token
 * @top_p: choose among the most probable tokens that have this probability together; 1 for all
 * @repetition_penalty: divides the logits of tokens that occurred; 1 for none
 * @presence_penalty: subtracted from the logits of tokens that occurred in the reply
 * @frequency_penalty: subtracted for each time that a token occurred in the reply
 * @seed: start of the random numbers. A request that is alone in the batch gets the same reply for
 *	the same seed; others change the order in which kernels add numbers.
 */
struct tenon_llm_sampling {
	double temperature;
	double top_p;
	double repetition_penalty;
	double presence_penalty;
	double frequency_penalty;
	uint64_t seed;
};

/** tenon_llm_sampling - the sampling that the model's configuration recommends */
TENON_API struct tenon_llm_sampling tenon_llm_sampling(const struct tenon_llm *llm);

/** enum tenon_llm_end - why a reply ended */
enum tenon_llm_end {
	TENON_LLM_STOP = 1,  /* a stop string or an end token */
	TENON_LLM_LENGTH,    /* the limit of the request, the context or the cache */
	TENON_LLM_CANCELLED, /* tenon_llm_cancel() */
	TENON_LLM_DEADLINE,  /* the request's deadline passed */
	TENON_LLM_ERROR,     /* a step failed */
};

/**
 * struct tenon_llm_usage - what a request took
 * @prompt_tokens: tokens of the prompt
 * @shared_tokens: of these, those that another request had computed before
 * @tokens: tokens of the reply
 * @submitted: time of tenon_llm_submit(), in nanoseconds of CLOCK_MONOTONIC
 * @first: time of the first token; 0 if there is none
 * @last: time of the last token
 */
struct tenon_llm_usage {
	size_t prompt_tokens;
	size_t shared_tokens;
	size_t tokens;
	uint64_t submitted;
	uint64_t first;
	uint64_t last;
};

/**
 * struct tenon_llm_request - a request to generate text
 * @size: sizeof(struct tenon_llm_request)
 * @prompt: tokens of the prompt; copied
 * @prompt_count: how many; at least 1
 * @most: most tokens of the reply; 0 for as many as the context has room for
 * @sampling: how tokens are chosen
 * @stops: strings that end the reply and are not part of it; copied. Those of the model's template
 *	apply as well.
 * @stop_count: how many
 * @deadline: when the reply ends, see tenon/timeline.h; 0 for none
 * @ignore_end: do not stop at the end tokens or stop strings of the model
 * @text: receives a part of the reply: whole characters, of @token_count tokens. May be NULL.
 * @end: the reply is complete; @message is the reason for TENON_LLM_ERROR, else "". May be NULL.
 * @context: passed to both. They are called by tenon_llm_step(), and may submit and cancel
 *	requests.
 */
struct tenon_llm_request {
	size_t size;
	const int32_t *prompt;
	size_t prompt_count;
	size_t most;
	struct tenon_llm_sampling sampling;
	const struct tenon_slice *stops;
	size_t stop_count;
	uint64_t deadline;
	bool ignore_end;
	void (*text)(void *context, struct tenon_slice text, const int32_t *tokens,
		     size_t token_count);
	void (*end)(void *context, enum tenon_llm_end end, const char *message,
		    const struct tenon_llm_usage *usage);
	void *context;
};

/**
 * tenon_llm_submit - add a request
 * @llm: the model
 * @request: the request
 * @job: receives its number
 *
 * Return: 0; -TENON_E_VALUE for an empty prompt, one that the context or the cache cannot hold, a
 *	token that does not exist, or sampling out of range; -TENON_E_NOMEM.
 */
TENON_API int tenon_llm_submit(struct tenon_llm *llm, const struct tenon_llm_request *request,
			       uint64_t *job);

/** tenon_llm_cancel - end a request in the next step; an unknown number is ignored */
TENON_API void tenon_llm_cancel(struct tenon_llm *llm, uint64_t job);

/**
 * tenon_llm_step - take one step with all requests
 * @llm: the model
 *
 * Takes waiting requests into the batch, reads a part of their prompts, and adds one token to each
 * of the others. If the key-value cache is full, sequences that are kept for later prompts are
 * dropped, then the request that came last waits until there is room again. A failure ends the
 * requests it concerns, with TENON_LLM_ERROR.
 *
 * Return: 1 if there is more to do; 0 if no request is left.
 */
TENON_API int tenon_llm_step(struct tenon_llm *llm);

/* ---- sequences */

/** tenon_llm_add - begin an empty sequence; @id receives its number */
TENON_API int tenon_llm_add(struct tenon_llm *llm, int64_t *id);

/**
 * tenon_llm_fork - begin a sequence with the first tokens of another
 * @llm: the model
 * @parent: the other
 * @position: number of tokens; -1 for all
 * @id: receives the number of the new sequence
 *
 * The sequences share these tokens; only a page that is partly filled is copied.
 *
 * Return: 0; -TENON_E_CALL with the reason, and nothing has changed.
 */
TENON_API int tenon_llm_fork(struct tenon_llm *llm, int64_t parent, int64_t position, int64_t *id);

/** tenon_llm_pop - remove the last @count tokens of a sequence */
TENON_API int tenon_llm_pop(struct tenon_llm *llm, int64_t id, int64_t count);

/** tenon_llm_remove - remove a sequence */
TENON_API int tenon_llm_remove(struct tenon_llm *llm, int64_t id);

/** tenon_llm_free_pages - free pages of the key-value cache; negative status on failure */
TENON_API int64_t tenon_llm_free_pages(struct tenon_llm *llm);

/**
 * struct tenon_llm_part - tokens for a sequence
 * @id: the sequence; each only once in a step
 * @tokens: tokens to append
 * @count: how many; at least 1
 */
struct tenon_llm_part {
	int64_t id;
	const int32_t *tokens;
	size_t count;
};

/**
 * tenon_llm_forward - append tokens to sequences, in one batch
 * @llm: the model
 * @parts: the tokens
 * @count: number of sequences
 * @logits: receives @count rows of logits, one for the last token of each part; valid until the
 *	next call
 *
 * More tokens than one prefill step takes are appended in several steps.
 *
 * Return: 0; -TENON_E_CALL and others. The sequences are then as they were before.
 */
TENON_API int tenon_llm_forward(struct tenon_llm *llm, const struct tenon_llm_part *parts,
				size_t count, const float **logits);

#ifdef __cplusplus
}
#endif

#endif /* TENON_LLM_H */
