/* SPDX-License-Identifier: MIT */
/* Read the record of TVM's run of the small model, and make requests of it. */
#include "tests/llm/small_model.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expected cases[CASES_MOST];
size_t case_count;
char folder[4096];

/* ---- the record */

static void *read_numbers(const cJSON *list, size_t *count, bool real)
{
	size_t n = (size_t)cJSON_GetArraySize(list), i = 0;
	int32_t *ints = malloc((n + 1) * sizeof(*ints));
	float *reals = (float *)(void *)ints;
	const cJSON *item;

	assert_non_null(ints);
	cJSON_ArrayForEach(item, list)
	{
		if (real)
			reals[i++] = (float)item->valuedouble;
		else
			ints[i++] = item->valueint;
	}
	*count = n;
	return ints;
}

char *read_file(const char *path)
{
	char *text = NULL;
	size_t room = 0;
	FILE *f = fopen(path, "rb");

	if (!f || getdelim(&text, &room, '\0', f) < 0)
		fail_msg("%s cannot be read", path);
	fclose(f);
	return text;
}

int read_record(void **state)
{
	const cJSON *item;
	char path[4200], *text;
	cJSON *json;
	int32_t *reply;
	size_t n;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/tests/llm/data/bytes", getenv("TENON_SOURCE") ?: ".");
	snprintf(path, sizeof(path), "%s/expected.json", folder);
	text = read_file(path);
	json = cJSON_Parse(text);
	assert_non_null(json);
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "cases"))
	{
		struct expected *e = &cases[case_count++];

		e->prompt = read_numbers(cJSON_GetObjectItem(item, "prompt"), &e->count, false);
		e->logits = read_numbers(cJSON_GetObjectItem(item, "logits"), &n, true);
		reply = read_numbers(cJSON_GetObjectItem(item, "reply"), &e->reply_count, false);
		assert_true(e->reply_count <= REPLY_MOST && case_count < CASES_MOST);
		memcpy(e->reply, reply, e->reply_count * sizeof(*reply));
		free(reply);
	}
	cJSON_Delete(json);
	free(text);
	return 0;
}

int free_record(void **state)
{
	(void)state;
	while (case_count) {
		free(cases[--case_count].prompt);
		free(cases[case_count].logits);
	}
	return 0;
}

/* ---- helpers */

struct tenon_llm *open_with(const struct tenon_llm_options *o)
{
	struct tenon_llm *llm;

	if (tenon_llm_open(folder, o, &llm))
		fail_msg("%s", tenon_error_message());
	return llm;
}

void assert_logits(const float *have, const float *want, int64_t count)
{
	int64_t i;

	for (i = 0; i < count; i++)
		if (!(fabsf(have[i] - want[i]) <= 1e-4f + 1e-4f * fabsf(want[i])))
			fail_msg("logit %d is %g, TVM has %g", (int)i, (double)have[i],
				 (double)want[i]);
}

static void take_text(void *context, struct tenon_slice text, const int32_t *tokens, size_t count)
{
	struct outcome *o = context;

	assert_true(o->count + count <= 512 && o->text_size + text.size < sizeof(o->text));
	memcpy(o->tokens + o->count, tokens, count * sizeof(*tokens));
	o->count += count;
	memcpy(o->text + o->text_size, text.data, text.size);
	o->text_size += text.size;
	if (o->cancel_in)
		tenon_llm_cancel(o->cancel_in, o->job);
}

static void take_end(void *context, enum tenon_llm_end end, const char *message,
		     const struct tenon_llm_usage *usage)
{
	struct outcome *o = context;

	assert_int_equal(o->end, 0);
	o->end = end;
	snprintf(o->message, sizeof(o->message), "%s", message);
	o->usage = *usage;
}

struct tenon_llm_request request_of(const int32_t *prompt, size_t count, size_t most,
				    struct outcome *o)
{
	return (struct tenon_llm_request){
		.size = sizeof(struct tenon_llm_request),
		.prompt = prompt,
		.prompt_count = count,
		.most = most,
		.sampling = { .temperature = 0, .top_p = 1, .repetition_penalty = 1 },
		.ignore_end = true,
		.text = take_text,
		.end = take_end,
		.context = o,
	};
}

void submit(struct tenon_llm *llm, const struct tenon_llm_request *r)
{
	struct outcome *o = r->context;

	if (tenon_llm_submit(llm, r, &o->job))
		fail_msg("%s", tenon_error_message());
}

void finish(struct tenon_llm *llm)
{
	int i, more = 1;

	for (i = 0; i < 5000 && more > 0; i++)
		more = tenon_llm_step(llm);
	assert_int_equal(more, 0);
}

void assert_reply(const struct outcome *o, const struct expected *e)
{
	if (o->end == TENON_LLM_ERROR)
		fail_msg("%s", o->message);
	assert_int_equal(o->end, TENON_LLM_LENGTH);
	assert_int_equal(o->count, e->reply_count);
	assert_memory_equal(o->tokens, e->reply, e->reply_count * sizeof(*e->reply));
}
