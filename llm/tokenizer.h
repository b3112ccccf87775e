/* SPDX-License-Identifier: MIT */
/* Text to tokens and back, as the tokenizer.json of a model says, or a file in GGUF. */
#ifndef LLM_TOKENIZER_H
#define LLM_TOKENIZER_H

/*
 * Byte-pair encoding as a tokenizer.json describes it. The split into words by regular expressions
 * is PCRE2's, with the expressions of the file.
 */

#include <stdbool.h>
#include <tenon/buffer.h>
#include <tenon/string.h>

struct tokenizer;

/** struct tokenizer_span - a part of a text, in which names of special tokens are plain text */
struct tokenizer_span {
	size_t start, end;
};

/**
 * tokenizer_open - read the tokenizer.json of a folder, or the vocabulary of a file in GGUF
 * @folder: the folder; NULL for none
 * @gguf: a file, for a folder without tokenizer.json; NULL for none
 * @out: receives the tokenizer; NULL if neither has one
 *
 * A vocabulary in GGUF of a kind that is not known gives a tokenizer that encodes no text: such a file has the weights too,
 * and the model runs without.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED for a tokenizer.json with a part that is not
 *	known, with its name; -TENON_E_NOMEM.
 */
int tokenizer_open(const char *folder, const char *gguf, struct tokenizer **out);

void tokenizer_close(struct tokenizer *t);

/** tokenizer_works - test whether text can be encoded; else tokenizer_encode() says why not, and tokens have no bytes */
bool tokenizer_works(const struct tokenizer *t);

/**
 * tokenizer_encode - convert text to tokens
 * @text: the text
 * @plain: @count spans, in order
 * @tokens: the tokens are appended, as int32_t
 */
int tokenizer_encode(struct tokenizer *t, struct tenon_slice text,
		     const struct tokenizer_span *plain, size_t count, struct tenon_buffer *tokens);

/** tokenizer_decode - bytes of a token; empty for special and unknown ones */
struct tenon_slice tokenizer_decode(const struct tokenizer *t, int32_t token);

/** tokenizer_strips - test whether a space at the beginning of a text is not part of it */
bool tokenizer_strips(const struct tokenizer *t);

#endif /* LLM_TOKENIZER_H */
