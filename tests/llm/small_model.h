/* SPDX-License-Identifier: MIT */
/* The small language model that TVM compiled (generate.py), the tokens that TVM's runtime generates with it, and requests to it. */
#ifndef TESTS_LLM_SMALL_MODEL_H
#define TESTS_LLM_SMALL_MODEL_H

#include <stdbool.h>
#include <tenon/llm.h>

#include "tests/unit/suite.h"

#define CASES_MOST 16
#define REPLY_MOST 64

/* what TVM generated */
struct expected {
	int32_t *prompt;
	size_t count;
	float *logits;
	int32_t reply[REPLY_MOST];
	size_t reply_count;
};

extern struct expected cases[CASES_MOST];
extern size_t case_count;

/* of the model */
extern char folder[4096];

/* setup and teardown of a suite: the record */
int read_record(void **state);
int free_record(void **state);

/* The text of a file; to be freed. Fails the test without it. */
char *read_file(const char *path);

/* Open the model. Fails the test if that fails. */
struct tenon_llm *open_with(const struct tenon_llm_options *o);

void assert_logits(const float *have, const float *want, int64_t count);

/* a request, and what came of it */
struct outcome {
	int32_t tokens[512];
	size_t count;
	char text[4096];
	size_t text_size;
	enum tenon_llm_end end;
	char message[256];
	struct tenon_llm_usage usage;
	uint64_t job;
	struct tenon_llm *cancel_in; /* cancel the request with its first text */
};

/* A request without sampling, whose outcome goes to @o. */
struct tenon_llm_request request_of(const int32_t *prompt, size_t count, size_t most,
				    struct outcome *o);

void submit(struct tenon_llm *llm, const struct tenon_llm_request *r);

/* Run all requests to their end. A step for each token and more is an endless loop. */
void finish(struct tenon_llm *llm);

/* The reply is TVM's. */
void assert_reply(const struct outcome *o, const struct expected *e);

#endif /* TESTS_LLM_SMALL_MODEL_H */
