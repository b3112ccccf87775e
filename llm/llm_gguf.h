/* SPDX-License-Identifier: MIT */
/* What a model in GGUF says about text: its vocabulary, and its chat template. */
#ifndef LLM_LLM_GGUF_H
#define LLM_LLM_GGUF_H

#include <tenon/buffer.h>
#include <tenon/params.h>

/* types of metadata */
enum { GGUF_INT32 = 5, GGUF_BOOL = 7, GGUF_STRING = 8 };

/**
 * struct gguf_value - a value of the metadata that is looked for
 * @key: its name
 * @type: the type that it has; -1 for any integer
 * @array: it is an array
 * @found: the file has it
 * @count: elements of an array
 * @bytes: a string; the elements of an array; 8 bytes of an integer in the order of this machine; a byte of a bool
 */
struct gguf_value {
	const char *key;
	int type;
	bool array;
	bool found;
	uint64_t count;
	struct tenon_buffer bytes;
};

/**
 * gguf_read_values - read values of a file's metadata
 * @values: @count values; free with gguf_free_values(), also on failure. Those that are not there are empty
 *
 * Return: as tenon_params_open(); -TENON_E_FORMAT for a value of another type, or one that is there twice.
 */
int gguf_read_values(const char *path, struct gguf_value *values, size_t count);

void gguf_free_values(struct gguf_value *values, size_t count);

/* The integer of a value that was found. */
int64_t gguf_integer(const struct gguf_value *v);

/* Take the next string of an array; the array was checked when it was read. */
struct tenon_slice gguf_next_string(struct tenon_slice *rest);

/**
 * gguf_chat_json - write what a file says about conversations, as the text of an mlc-chat-config.json
 * @path: the file
 * @out: the text is appended
 * @why: receives why the chat template is not in it, appended; nothing if it is
 *
 * Return: 0; as gguf_read_values().
 */
int gguf_chat_json(const char *path, struct tenon_buffer *out, struct tenon_buffer *why);

/**
 * gguf_tokenizer_json - write the vocabulary of a file, as the text of a tokenizer.json
 *
 * Return: 0, with nothing written if the file has no vocabulary; -TENON_E_UNSUPPORTED for another kind than byte-level
 *	BPE, or a way to divide a text that is not known; as gguf_read_values().
 */
int gguf_tokenizer_json(const char *path, struct tenon_buffer *out);

#endif /* LLM_LLM_GGUF_H */
