/* SPDX-License-Identifier: MIT */
/* What the files of this folder share: an open language model. */
#ifndef LLM_LLM_ENGINE_H
#define LLM_LLM_ENGINE_H

#include <tenon/array.h>
#include <tenon/function.h>
#include <tenon/llm.h>
#include <tenon/module.h>

/* tokens of a page of the cache; the kernels of MLC-LLM are compiled for it */
#define LLM_PAGE 16

struct llm_batch;
struct tokenizer;
struct tokenizer_span;

/* functions of the model; NULL for one that it lacks */
struct llm_model_functions {
	struct tenon_function *embed;
	struct tenon_function *prefill;
	struct tenon_function *decode;
	struct tenon_function *batch_prefill;
	struct tenon_function *batch_decode;
};

/* functions of the runtime */
struct llm_cache_functions {
	struct tenon_function *add;
	struct tenon_function *remove;
	struct tenon_function *fork;
	struct tenon_function *popn;
	struct tenon_function *begin;
	struct tenon_function *end;
	struct tenon_function *pages;
	struct tenon_function *window;
	struct tenon_function *sample;
};

/* what the library says about itself: _metadata() */
struct llm_metadata {
	char *strings; /* decoded strings, in which the others point */
	const char *type;
	const char *quantization;
	const char *kind; /* kv_cache, rnn_state, none, hybrid */
	int64_t context;
	int64_t window;
	int64_t sink;
	int64_t chunk;
	int64_t batch;
	int64_t shards;
	int64_t stages;
	int64_t layers, kv_heads, head_dim; /* of the cache; 0 where it is not stated */
	struct llm_weight {
		struct tenon_slice name;
		int64_t shape[8]; /* -1 for an extent that is a name */
		int32_t ndim;
		DLDataType dtype;
	} * weights;
	size_t weight_count;
};

/* the template of conversations, and recommended sampling: mlc-chat-config.json, or a file in GGUF */
struct llm_template {
	char *strings;
	char *problem; /* why the template of a file in GGUF is not here; NULL for none */
	struct tenon_slice system_template;
	struct tenon_slice system_message;
	struct tenon_slice roles[3]; /* enum llm_role */
	struct tenon_slice role_templates[3];
	struct tenon_slice separators[2];
	struct tenon_slice content_separator;
	struct tenon_slice empty_separator;
	struct tenon_slice *stops;
	size_t stop_count;
	int32_t *prefix;
	size_t prefix_count;
	int32_t *ends; /* tokens that end a reply */
	size_t end_count;
	bool role_after_system;
	bool present;	 /* there is a template */
	int64_t context; /* 0 if the file does not state it */
	struct tenon_llm_sampling sampling;
};

/* tokens that a step appends to a sequence */
struct llm_slice {
	size_t part; /* number of the part that receives the row of logits if the slice ends it */
	size_t start;
	size_t count;
};

/**
 * struct llm_step - what a step needs, for as many sequences as there may be
 * @gathered: tokens of the step, in the order of its sequences: @info.chunk, or @info.sequences if that is more
 * @slices: of the step
 * @done: tokens of each part that earlier steps appended
 * @numbers: identifiers of the sequences, then numbers of tokens
 * @ends: last token of each slice
 * @tokens: @gathered on the device; @ids, @counts: @numbers. All three are used again as long as they fit
 */
struct llm_step {
	int32_t *gathered;
	struct llm_slice *slices;
	size_t *done;
	int64_t *numbers;
	int32_t *ends;
	struct tenon_tensor *tokens;
	struct tenon_shape *ids;
	struct tenon_shape *counts;
};

enum llm_role { LLM_USER, LLM_ASSISTANT, LLM_TOOL };

struct tenon_llm {
	struct tenon_llm_info info;
	char *name;
	char *folder;	    /* of the weights */
	char *weights_file; /* a file of parameters that the program named; NULL: those of the folder */
	DLDevice device;
	struct tenon_module *machine;
	struct tenon_preparation *kernels; /* being built; NULL for none */
	struct llm_model_functions f;
	struct llm_cache_functions cache_f;
	struct llm_metadata metadata;
	struct llm_template template;
	struct tenon_array *weights;
	struct tenon_value cache;
	struct tokenizer *tokenizer; /* NULL: bytes */
	bool bytes;		     /* they are the tokens because the program says so */
	int64_t next_id;
	float *logits;
	size_t logits_room; /* rows */
	struct llm_step step;
	struct llm_batch *batch;
};

/* Read the answer of _metadata(). */
int llm_metadata_read(struct tenon_slice text, struct llm_metadata *out);
void llm_metadata_fini(struct llm_metadata *m);

/* Read mlc-chat-config.json of a folder, or without one what @gguf says; NULL for no such file. None is no failure. */
int llm_template_read(const char *folder, const char *gguf, struct llm_template *out);
void llm_template_fini(struct llm_template *t);

/**
 * llm_find_gguf - find the file in GGUF that may have a model's vocabulary and chat template
 * @out: receives the path, to be freed: the file of weights if it is one, else the only one of the folder; NULL for none
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int llm_find_gguf(const struct tenon_llm *llm, char **out);

/* Load the weights that the metadata lists, in its order: @weights. */
int llm_weights_load(struct tenon_llm *llm);

bool llm_is_folder(const char *path);

/* Whether there is no such file. Where the system refuses to look, the answer is no: opening the file then says why. */
bool llm_is_absent(const char *path);

/* Test whether a folder has a file. */
bool llm_has_file(const char *folder, const char *file);

/**
 * llm_find_only - find the only file of a folder with a suffix
 * @out: receives the path, to be freed; NULL for none, or on failure
 *
 * Return: 0, also for none; -TENON_E_EXISTS for several; -TENON_E_IO; -TENON_E_NOMEM.
 */
int llm_find_only(const char *folder, const char *suffix, char **out);

/* Call a function, and drop what it returns. */
int llm_call(struct tenon_function *f, const struct tenon_value *args, int32_t count);

/* Refuse a device that the library was not compiled for. */
int llm_check_device(struct tenon_module *root, DLDevice device);

/* Make room for steps of @info.sequences sequences. */
int llm_step_open(struct tenon_llm *llm);
void llm_step_close(struct llm_step *s);

/* Find out how long a row of logits is, by one forward step. */
int llm_measure(struct tenon_llm *llm);

/* Choose a token of a row, which is changed. @seen has the count of each token; @u is in [0, 1). */
int llm_sample(struct tenon_llm *llm, float *row, const struct tenon_llm_sampling *s,
	       const uint16_t *in_prompt, const uint16_t *in_reply, double u, int32_t *token);

/* Check the numbers of a request. */
int llm_sampling_check(const struct tenon_llm_sampling *s);

/* What the tokens of text are: "bpe", "bytes", or "none" if text cannot be converted. */
const char *llm_text_kind(const struct tenon_llm *llm);

/* Convert text to tokens; names of special tokens in the spans are plain text. */
int llm_encode(struct tenon_llm *llm, struct tenon_slice text, const struct tokenizer_span *plain,
	       size_t count, struct tenon_buffer *tokens);

void llm_batch_free(struct llm_batch *b);

/* Room for the strings of a text: what json_string() needs for all of them. */
char *llm_string_room(struct tenon_slice text);

/* Read a whole file, or tell that there is none (@text is empty then). */
int llm_read_file(const char *folder, const char *file, char **path, struct tenon_slice *text);

#endif /* LLM_LLM_ENGINE_H */
