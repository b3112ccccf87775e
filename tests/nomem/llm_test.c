/* SPDX-License-Identifier: MIT */
/*
 * What a program does with a language model, once for each allocation in it, with that one failing: sequences, a conversation, requests
 * that share a beginning, are sampled, stopped or cancelled. Sequences also with each call to the system that opens the model.
 */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <tenon/llm.h>

#include "llm/jinja.h"
#include "tests/nomem/deeds.h"
#include "tests/nomem/failing_malloc.h"

#define FOLDER "tests/llm/data/bytes"
#define TOKENS 8

/* ---- sequences */

static int compute(struct tenon_llm *llm, uint64_t *facts)
{
	static const int32_t tokens[] = { 'a', 'b', 'c', 'd' };
	struct tenon_llm_part part = { 0, tokens, 4 };
	const float *logits;
	int64_t fork;
	int err = tenon_llm_add(llm, &part.id);

	err = err ? err : tenon_llm_forward(llm, &part, 1, &logits);
	err = err ? err : tenon_llm_fork(llm, part.id, 3, &fork);
	err = err ? err : tenon_llm_pop(llm, part.id, 1);
	if (err)
		return err;
	part = (struct tenon_llm_part){ fork, tokens + 3, 1 };
	err = tenon_llm_forward(llm, &part, 1, &logits);
	if (!err)
		deed_fact(facts, logits, sizeof(*logits));
	return err ? err : tenon_llm_remove(llm, fork);
}

static int use_sequences(uint64_t *facts)
{
	struct tenon_llm *llm = NULL;
	int err = tenon_llm_open(FOLDER, NULL, &llm);

	err = err ? err : compute(llm, facts);
	tenon_llm_close(llm);
	return err;
}

/* ---- conversations */

static int make_prompt(struct tenon_llm *llm, struct tenon_buffer *tokens)
{
	const struct tenon_llm_message messages[] = {
		{ tenon_slice_of("user"), tenon_slice_of("Hi") },
		{ tenon_slice_of("assistant"), tenon_slice_of("Yes") },
		{ tenon_slice_of("user"), tenon_slice_of("Why") },
	};

	return tenon_llm_prompt(llm, messages, 3, tokens);
}

static int render(uint64_t *facts)
{
	static const char program[] = "{% set words = 'a-b-c'.split('-') %}{% for m in messages "
				      "%}{% if m.role != 'system' and loop.index0 is even %}"
				      "{{ m['content'] | trim | upper + ':' }}{% elif m.role == "
				      "'user' %}{{ '<' ~ m.content[1:] + '>' ~ 2 * 3 }}{% endif %}"
				      "{% endfor %}{{ words[-1] + messages[0].content.strip('H') "
				      "if words | length > 2 else 'none' }}"
				      "{% set held %}held{% endset %}{{ held }}";
	const struct tenon_llm_message messages[] = {
		{ tenon_slice_of("user"), tenon_slice_of(" Hi ") },
		{ tenon_slice_of("user"), tenon_slice_of("Why") },
	};
	const struct jinja_input in = { messages, 2, tenon_slice_of("<s>"),
					tenon_slice_of("</s>") };
	struct tenon_buffer out = TENON_BUFFER_INIT;
	int err = jinja_render(tenon_slice_of(program), "file", &in, &out);

	if (!err)
		deed_fact(facts, out.data, out.size);
	tenon_buffer_fini(&out);
	return err;
}

/* ---- requests */

/* what came of a request */
struct reply {
	uint64_t *facts;
	enum tenon_llm_end end;
	bool no_memory;
};

static void take_text(void *context, struct tenon_slice text, const int32_t *tokens, size_t count)
{
	struct reply *r = context;

	(void)text;
	deed_fact(r->facts, tokens, count * sizeof(*tokens));
}

static void take_end(void *context, enum tenon_llm_end end, const char *message,
		     const struct tenon_llm_usage *usage)
{
	struct reply *r = context;

	(void)usage;
	r->end = end;
	r->no_memory = strstr(message, "memory") || strstr(message, "thread");
}

static int submit(struct tenon_llm *llm, const struct tenon_buffer *prompt, struct reply *reply,
		  double temperature, uint64_t *job)
{
	static const struct tenon_slice stops[] = { { "never", 5 }, { "\1\2\3", 3 } };
	const struct tenon_llm_request request = {
		.size = sizeof(request),
		.prompt = (const int32_t *)(const void *)prompt->data,
		.prompt_count = prompt->size / sizeof(int32_t),
		.most = TOKENS,
		.sampling = { .temperature = temperature,
			      .top_p = 0.9,
			      .repetition_penalty = 1.1,
			      .presence_penalty = 0.1,
			      .seed = 7 },
		.stops = stops,
		.stop_count = 2,
		.ignore_end = true,
		.text = take_text,
		.end = take_end,
		.context = reply,
	};

	return tenon_llm_submit(llm, &request, job);
}

/* Return: 0, or a status; a request that ended with an error says why */
static int finish(struct tenon_llm *llm, const struct reply *replies, size_t count)
{
	size_t i;
	int err;

	do
		err = tenon_llm_step(llm);
	while (err > 0);
	for (i = 0; !err && i < count; i++)
		if (replies[i].end == TENON_LLM_ERROR)
			err = replies[i].no_memory
				      ? tenon_error(-TENON_E_NOMEM, "a request's memory")
				      : tenon_error(-TENON_E_CALL, "a request ended with an error");
	return err;
}

static int reply_to_all(struct tenon_llm *llm, uint64_t *facts)
{
	struct tenon_buffer prompt = TENON_BUFFER_INIT;
	struct reply replies[3] = { { facts, 0, false }, { facts, 0, false }, { facts, 0, false } };
	uint64_t job;
	int err = make_prompt(llm, &prompt);

	err = err ? err : submit(llm, &prompt, &replies[0], 0, &job);
	err = err ? err : submit(llm, &prompt, &replies[1], 1, &job);
	err = err ? err : submit(llm, &prompt, &replies[2], 0, &job);
	if (!err)
		tenon_llm_cancel(llm, job);
	err = err ? err : finish(llm, replies, 3);
	tenon_buffer_fini(&prompt);
	return err;
}

static int use_requests(uint64_t *facts)
{
	const struct tenon_llm_options o = { .size = sizeof(o), .tokens = 64, .sequences = 2 };
	struct tenon_llm *llm = NULL;
	int err = tenon_llm_open(FOLDER, &o, &llm);

	err = err ? err : reply_to_all(llm, facts);
	tenon_llm_close(llm);
	return err;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEED("sequences_are_computed", use_sequences),
		DEED_CALLS("calls_of_sequences", use_sequences),
		DEED("requests_are_answered", use_requests),
		DEED("a_template_is_rendered", render),
	};

	return cmocka_run_group_tests(tests, deeds_prepare, NULL);
}
