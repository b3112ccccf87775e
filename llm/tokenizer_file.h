/* SPDX-License-Identifier: MIT */
/*
 * What the readers of tokenizer.json share. A member of the file that is not known is an error: it
 * could give the same text other tokens.
 */
#ifndef LLM_TOKENIZER_FILE_H
#define LLM_TOKENIZER_FILE_H

#include "llm/llm_json.h"
#include "llm/tokenizer_bpe.h"

/* what is read at the moment */
struct tokenizer_file {
	struct json_text t;
	struct tokenizer *to;
	char *room;	     /* for decoded strings */
	uint32_t vocabulary; /* where it is in the text; 0 for nowhere */
	uint32_t merges;
	struct tenon_slice unknown;
	bool marks_are_spaces; /* U+2581 in a name is a space */
	bool decodes_bytes;    /* <0x41> is a byte */
};

/* a member of an object */
struct tokenizer_field {
	const char *name;
	uint32_t at; /* position of its value; 0 if it is not there, or null */
};

/* Find the members of an object, which has no others. */
int tokenizer_fields(const struct tokenizer_file *r, uint32_t at, const char *what,
		     struct tokenizer_field *fields, size_t count);

/* The "type" of an object; empty for none. */
int tokenizer_type(const struct tokenizer_file *r, uint32_t at, const char *what,
		   struct tenon_slice *type);

/* Decode a string, or take @otherwise. */
int tokenizer_text(struct tokenizer_file *r, const struct tokenizer_field *f, const char *otherwise,
		   struct tenon_slice *out);

/* Read true or false, or take @otherwise. */
int tokenizer_flag(const struct tokenizer_file *r, const struct tokenizer_field *f, bool otherwise,
		   bool *out);

/* Refuse a kind of part by its name. */
int tokenizer_refuse(const struct tokenizer_file *r, uint32_t at, const char *what,
		     struct tenon_slice type);

/* Read the parts of the file at @at; 0 for none. */
int tokenizer_read_normalizer(struct tokenizer_file *r, uint32_t at);
int tokenizer_read_splits(struct tokenizer_file *r, uint32_t at);
int tokenizer_read_decoder(struct tokenizer_file *r, uint32_t at);
int tokenizer_read_added(struct tokenizer_file *r, uint32_t at);

/* Compare the added tokens with the vocabulary, and prepare their names for the search. */
int tokenizer_check_added(struct tokenizer_file *r);

#endif /* LLM_TOKENIZER_FILE_H */
