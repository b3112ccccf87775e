/* SPDX-License-Identifier: MIT */
/* What the files of the tokenizer share. */
#ifndef LLM_TOKENIZER_BPE_H
#define LLM_TOKENIZER_BPE_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "llm/tokenizer.h"

#define STEPS_MOST 16

/* a pair of tokens that become one */
struct bpe_merge {
	uint32_t left, right;
	uint32_t rank; /* the lowest goes first */
	uint32_t id;
};

struct bpe_added {
	struct tenon_slice name;
	struct tenon_slice match;   /* what is looked for in a text */
	struct tenon_buffer normal; /* bytes of @match that are not those of @name */
	int32_t id;
	bool special;
	bool single_word; /* no character of a word beside it */
	bool lstrip;	  /* white space before it is part of it; */
	bool rstrip;	  /* and behind it */
	bool normalized;  /* is looked for in the normalized text */
};

enum bpe_step_kind {
	STEP_PREPEND,	/* normalizers: put @text in front, */
	STEP_REPLACE,	/* replace all matches of @code by @text */
	STEP_PREFIX,	/* pre-tokenizers: put a space in front, if there is none, */
	STEP_METASPACE, /* replace spaces by U+2581, with one in front as @prepend says, */
	STEP_SPLIT,	/* divide by the matches of @code */
};

/* what becomes of the matches of an expression that divides a text */
enum bpe_behavior { ISOLATED, REMOVED, CONTIGUOUS, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT };

enum bpe_prepend { PREPEND_NEVER, PREPEND_FIRST, PREPEND_ALWAYS };

struct bpe_step {
	enum bpe_step_kind kind;
	pcre2_code *code;
	struct tenon_slice text;
	enum bpe_behavior behavior;
	bool invert; /* what lies between matches counts as matched */
	enum bpe_prepend prepend;
};

struct bpe_steps {
	struct bpe_step step[STEPS_MOST];
	uint32_t count;
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
	char *problem; /* why it encodes no text, and nothing else; NULL: it does */
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
	bool fuse_unknown; /* unknown characters beside each other are one token */
	bool strip;	   /* a space at the beginning of a text is not part of it */
	struct bpe_steps normal;
	struct bpe_steps splits;
	bool origins;	  /* the places of normalized bytes in the text matter */
	pcre2_code *word; /* a character of a word; NULL where no added token needs it */
	pcre2_match_data *match;
	pcre2_match_context *limits;
	/* memory for pieces, used again */
	struct bpe_symbol *symbols;
	struct bpe_candidate *heap;
	size_t room;
};

#define BPE_SPACE "\xe2\x96\x81" /* U+2581 */
#define BPE_WORD  "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]"

/* what is encoded: where special tokens are plain text, and where the tokens go */
struct bpe_encoding {
	struct tokenizer *t;
	const struct tokenizer_span *plain;
	size_t count;
	struct tenon_buffer *tokens;
};

/* a part of the text, and where it comes from */
struct bpe_piece {
	struct tenon_slice text;
	size_t start;
	const size_t *origin; /* place of each byte in the text, from @start; NULL: unchanged */
};

static inline size_t bpe_origin(const struct bpe_piece *piece, size_t at)
{
	return piece->start + (piece->origin ? piece->origin[at] : at);
}

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

/* Compile an expression. */
int bpe_compile(struct tokenizer *t, struct tenon_slice pattern, bool literal, pcre2_code **out);

/* Report why an expression could not be matched. */
int bpe_match_failed(int error);

/* Do the steps of the normalizer. @origins: receives the place of each byte in @text, as size_t; or NULL. */
int bpe_normalize(struct tokenizer *t, struct tenon_slice text, struct tenon_buffer *out,
		  struct tenon_buffer *origins);

/* Append the added tokens of a text; @between appends those of what lies between them. */
int bpe_take_added(const struct bpe_encoding *e, const struct bpe_piece *piece, bool normalized,
		   int (*between)(const struct bpe_encoding *e, const struct bpe_piece *piece));

#endif /* LLM_TOKENIZER_BPE_H */
