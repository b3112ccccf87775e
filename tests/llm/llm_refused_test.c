/* SPDX-License-Identifier: MIT */
/* What a language model refuses of its caller, with the reason, and then goes on as before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/backend/buffer.h>

#include "tests/llm/small_model.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void steps_of_what_is_none_are_refused(void **state)
{
	static const int32_t good[] = { 'a', 'b' }, negative[] = { 'a', -1 },
			     large[] = { 'a', 260 };
	static const struct {
		const int32_t *tokens;
		size_t count, parts;
		const char *words;
	} wrong[] = {
		{ good, 2, 0, "0 sequences in a step" },
		{ good, 2, 9, "9 sequences in a step" },
		{ good, 0, 1, "no tokens for sequence" },
		{ negative, 2, 1, "token -1, the model has 0 to 259" },
		{ large, 2, 1, "token 260, the model has 0 to 259" },
	};
	struct tenon_llm *llm = open_with(&(struct tenon_llm_options){
		.size = sizeof(struct tenon_llm_options), .tokens = 64, .sequences = 2 });
	struct tenon_llm_part parts[9] = { { 0 } };
	const float *logits;
	int64_t id, other;

	(void)state;
	assert_int_equal(tenon_llm_add(llm, &id), 0);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		parts[0] = (struct tenon_llm_part){ id, wrong[i].tokens, wrong[i].count };
		assert_int_equal(tenon_llm_forward(llm, parts, wrong[i].parts, &logits),
				 -TENON_E_VALUE);
		assert_error_has(wrong[i].words);
		assert_null(logits);
	}
	/* sequences that are not there, and more tokens than one has */
	assert_int_not_equal(tenon_llm_fork(llm, 77, 0, &other), 0);
	assert_int_not_equal(tenon_llm_pop(llm, id, 100), 0);
	assert_int_not_equal(tenon_llm_remove(llm, 77), 0);
	parts[0] = (struct tenon_llm_part){ 77, good, 2 };
	assert_int_not_equal(tenon_llm_forward(llm, parts, 1, &logits), 0);
	parts[0].id = id;
	assert_int_equal(tenon_llm_forward(llm, parts, 1, &logits), 0);
	assert_non_null(logits);
	tenon_llm_close(llm);
}

static void requests_that_cannot_be_answered_are_refused(void **state)
{
	static const int32_t good[100] = { 'a', 'b' }, wrong[] = { 'a', -1 },
			     large[] = { 'a', 260 };
	struct tenon_llm *llm = open_with(&(struct tenon_llm_options){
		.size = sizeof(struct tenon_llm_options), .tokens = 64 });
	const struct {
		const int32_t *prompt;
		size_t count;
		const char *words;
	} prompts[] = {
		{ good, 0, "the prompt has no tokens" },
		{ good, 100, "the prompt has 100 tokens; the key-value cache has room for 64" },
		{ wrong, 2, "token -1 at 1 of the prompt" },
		{ large, 2, "token 260 at 1 of the prompt" },
	};
	const struct tenon_llm_sampling samplings[] = {
		{ -1, 1, 1, 0, 0, 0 },	 { 101, 1, 1, 0, 0, 0 },      { NAN, 1, 1, 0, 0, 0 },
		{ 1, -0.1, 1, 0, 0, 0 }, { 1, 1.1, 1, 0, 0, 0 },      { 1, 1, 0, 0, 0, 0 },
		{ 1, 1, 101, 0, 0, 0 },	 { 1, 1, 1, 101, 0, 0 },      { 1, 1, 1, 0, -101, 0 },
		{ 1, 1, 1, NAN, 0, 0 },	 { 1, 1, 1, 0, INFINITY, 0 },
	};
	struct outcome o = { 0 };
	struct tenon_llm_request r;
	uint64_t job;

	(void)state;
	/* nothing is there to be cancelled, or done */
	tenon_llm_cancel(llm, 5);
	assert_int_equal(tenon_llm_step(llm), 0);
	for (size_t i = 0; i < COUNT(prompts); i++) {
		r = request_of(prompts[i].prompt, prompts[i].count, 4, &o);
		assert_int_equal(tenon_llm_submit(llm, &r, &job), -TENON_E_VALUE);
		assert_error_has(prompts[i].words);
	}
	for (size_t i = 0; i < COUNT(samplings); i++) {
		r = request_of(good, 2, 4, &o);
		r.sampling = samplings[i];
		assert_int_equal(tenon_llm_submit(llm, &r, &job), -TENON_E_VALUE);
	}
	assert_int_equal(tenon_llm_step(llm), 0);
	/* a request without the callbacks for text and for its end runs, too */
	r = request_of(good, 2, 4, &o);
	r.text = NULL;
	r.end = NULL;
	submit(llm, &r);
	finish(llm);
	tenon_llm_close(llm);
}

static void conversations_and_texts_that_are_none_are_refused(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	const struct tenon_llm_message system = { { "system", 6 }, { "Be long.", 8 } };
	const struct tenon_llm_message late[] = { { { "user", 4 }, { "a", 1 } }, system };
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	static const int32_t numbers[] = { -1, 255, 256, 260 };

	(void)state;
	assert_int_equal(tenon_llm_prompt(llm, NULL, 0, &tokens), -TENON_E_VALUE);
	assert_error_has("a conversation without a message");
	assert_int_equal(tenon_llm_prompt(llm, late, 2, &tokens), -TENON_E_VALUE);
	assert_error_has("message 2");
	tokens.size = 0;
	/* a system message alone, in the place of the template's */
	assert_int_equal(tenon_llm_prompt(llm, &system, 1, &tokens), 0);
	assert_true(tokens.size > 0);
	for (size_t i = 0; i < COUNT(numbers); i++)
		assert_true(tenon_llm_decode(llm, numbers[i]).size == (numbers[i] == 255));
	tenon_buffer_fini(&tokens);
	tenon_llm_close(llm);
}

static void folders_without_a_model_are_refused(void **state)
{
	char empty[4000], path[4100];
	struct tenon_llm_options o = { .size = sizeof(o) };
	struct tenon_llm *llm;

	(void)state;
	snprintf(empty, sizeof(empty), "%s/llm.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	assert_non_null(mkdtemp(empty));
	assert_int_not_equal(tenon_llm_open(empty, NULL, &llm), 0);
	assert_error_has(empty);
	assert_null(llm);
	snprintf(path, sizeof(path), "%s/", empty);
	assert_int_not_equal(tenon_llm_open(path, NULL, &llm), 0);
	/* weights elsewhere: a folder without any, and a file that is none */
	o.weights = empty;
	assert_int_not_equal(tenon_llm_open(folder, &o, &llm), 0);
	o.weights = "/dev/null";
	assert_int_not_equal(tenon_llm_open(folder, &o, &llm), 0);
	o = (struct tenon_llm_options){ .size = sizeof(o), .sequences = 100000 };
	assert_int_equal(tenon_llm_open(folder, &o, &llm), -TENON_E_VALUE);
	assert_error_has("sequences: 100000");
	o = (struct tenon_llm_options){ .size = sizeof(o), .chunk = -1 };
	assert_int_equal(tenon_llm_open(folder, &o, &llm), -TENON_E_VALUE);
	assert_error_has("chunk: -1");
	o = (struct tenon_llm_options){ .size = sizeof(o), .tokens = INT64_MAX };
	assert_int_equal(tenon_llm_open(folder, &o, &llm), -TENON_E_VALUE);
	assert_error_has("tokens: ");
	o = (struct tenon_llm_options){ .size = sizeof(o), .device = { 99, 0 } };
	assert_int_not_equal(tenon_llm_open(folder, &o, &llm), 0);
	assert_null(llm);
	tenon_llm_close(llm);
	assert_int_equal(rmdir(empty), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_of_what_is_none_are_refused),
		cmocka_unit_test(requests_that_cannot_be_answered_are_refused),
		cmocka_unit_test(conversations_and_texts_that_are_none_are_refused),
		cmocka_unit_test(folders_without_a_model_are_refused),
	};

#if defined(__x86_64__) && defined(__GLIBC__)
	return cmocka_run_group_tests_name("what language models refuse", tests, read_record,
					   free_record);
#else
	(void)tests;
	printf("1..0 # SKIP the model is for x86-64 and glibc\n");
	return 77;
#endif
}
