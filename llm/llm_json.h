/* SPDX-License-Identifier: MIT */
/* Read the JSON of model folders, in addition to lib/json_read.h. */
#ifndef LLM_LLM_JSON_H
#define LLM_LLM_JSON_H

/* Reading JSON, beside lib/json_read.h */

#include "lib/json_read.h"
#include "lib/slice_text.h"

/* Test whether the token is the word null, true or false; then move past it. */
bool llm_json_word(const struct json_text *t, uint32_t *at, const char *word);

/* Read true or false. */
int llm_json_bool(const struct json_text *t, uint32_t *at, const char *what, bool *out);

/* Read a number, independent of the locale. */
int llm_json_number(const struct json_text *t, uint32_t *at, const char *what, double least,
		    double most, double *out);

struct tenon_llm_sampling;

/* Test whether @key is a number of sampling; then read it, or leave it as it is for null. */
bool llm_json_sampling(const struct json_text *t, uint32_t *at, struct tenon_slice key,
		       struct tenon_llm_sampling *to, int *err);

/* Read an integer that may be null, which leaves *out as it is. */
int llm_json_optional(const struct json_text *t, uint32_t *at, const char *what, int64_t *out);

#endif /* LLM_LLM_JSON_H */
