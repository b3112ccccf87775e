/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LLM_TOKENIZER_BPE_H
#define RUNTIME_LLM_TOKENIZER_BPE_H

/* What the files of the tokenizer share. */

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "runtime/llm/tokenizer.h"

#define PATTERNS_MOST 8

/* a pair of tokens that become one */
struct bpe_merge {
	uint32_t left, right;
	uint32_t rank; /* the lowest goes first */
	uint32_t id;
};

struct bpe_added {
	struct tenon_slice name;
	int32_t id;
	bool special;
};

struct bpe_symbol {
	int32_t id;
	uint32_t before, after; /* neighbours; UINT32_MAX for none */
};

struct bpe_candidate {
	uint32_t rank;
	uint32_t at; /* left symbol */
	uint32_t left, right, id;
};

struct tokenizer {
	char *strings; /* names of tokens */
	char *bytes;   /* what they stand for */
	struct tenon_slice *names;
	struct tenon_slice *decoded;
	uint32_t count; /* largest number of a token + 1 */
	uint32_t *by_name;
	uint32_t name_mask; /* size of the hash table - 1 */
	struct bpe_merge *merges;
	uint32_t merge_mask;
	struct bpe_added *added;
	uint32_t added_count;
	bool first_bytes[256];	  /* of the names of added tokens */
	int32_t byte_tokens[256]; /* -1 for none */
	int32_t unknown;	  /* -1 for none */
	bool byte_level;
	bool byte_fallback;
	bool ignore_merges;
	bool strip; /* a space at the beginning of a text is not part of it */
	/* spaces become U+2581, and one is put in front of the text */
	bool metaspace;
	bool prepend_once; /* not if the text begins with one */
	enum { PREPEND_NEVER, PREPEND_FIRST, PREPEND_ALWAYS } prepend;
	pcre2_code *patterns[PATTERNS_MOST];
	uint32_t pattern_count;
	pcre2_match_data *match;
	pcre2_match_context *limits;
	/* memory for pieces, used again */
	struct bpe_symbol *symbols;
	struct bpe_candidate *heap;
	size_t room;
};

#define BPE_SPACE "\xe2\x96\x81" /* U+2581 */

/* Read the text of a tokenizer.json; @name is for messages. */
int bpe_read(struct tenon_slice text, const char *name, struct tokenizer **out);

/* Number of a token by its name; -1 for none. */
int32_t bpe_find(const struct tokenizer *t, struct tenon_slice name);

/* The pair of two tokens; NULL for none. */
const struct bpe_merge *bpe_find_merge(const struct tokenizer *t, uint32_t left, uint32_t right);

uint64_t bpe_hash(const void *data, size_t size);
uint64_t bpe_hash_pair(uint32_t left, uint32_t right);

/* Length of the UTF-8 character at the beginning; 1 for an invalid byte. */
size_t bpe_character(struct tenon_slice text);

/* Test for UTF-8, which PCRE2 requires; *@at receives the place of the first invalid byte. */
bool bpe_is_utf8(struct tenon_slice text, size_t *at);

/* The character that stands for a byte in names of byte-level tokenizers. */
uint32_t bpe_byte_character(unsigned int byte);

/* Append the tokens of one word. */
int bpe_encode_word(struct tokenizer *t, struct tenon_slice word, struct tenon_buffer *tokens);

/* Compile one of the expressions that divide a text. */
int bpe_add_pattern(struct tokenizer *t, struct tenon_slice pattern, bool literal);

#endif /* RUNTIME_LLM_TOKENIZER_BPE_H */
