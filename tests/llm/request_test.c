/* SPDX-License-Identifier: MIT */
/* Requests to a language model: replies, and how they end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/llm/small_model.h"

static void reply_to_all(struct tenon_llm *llm, struct outcome o[CASES_MOST])
{
	struct tenon_llm_request r;
	size_t i;

	for (i = 0; i < case_count; i++) {
		r = request_of(cases[i].prompt, cases[i].count, cases[i].reply_count, &o[i]);
		submit(llm, &r);
	}
	finish(llm);
	for (i = 0; i < case_count; i++)
		assert_reply(&o[i], &cases[i]);
}

static void requests_in_one_batch_reply_as_tvm_does(void **state)
{
	struct tenon_llm *llm = open_with(&(struct tenon_llm_options){
		.size = sizeof(struct tenon_llm_options), .tokens = 1024 });
	struct outcome o[CASES_MOST] = { 0 };

	(void)state;
	reply_to_all(llm, o);
	/* the beginning that two prompts have in common was computed once */
	assert_true(o[2].usage.shared_tokens >= 16);
	assert_int_equal(o[2].usage.prompt_tokens, cases[2].count);
	assert_true(o[2].usage.first && o[2].usage.last >= o[2].usage.first);
	tenon_llm_close(llm);
}

static void requests_reply_the_same_while_the_cache_is_full(void **state)
{
	/* room for two of them at their end: others give up their sequences in the middle */
	struct tenon_llm *llm = open_with(&(struct tenon_llm_options){
		.size = sizeof(struct tenon_llm_options), .tokens = 96 });
	struct outcome o[CASES_MOST] = { 0 };

	(void)state;
	reply_to_all(llm, o);
	tenon_llm_close(llm);
}

static void a_reply_that_fills_the_cache_ends_with_length(void **state)
{
	struct tenon_llm *llm = open_with(&(struct tenon_llm_options){
		.size = sizeof(struct tenon_llm_options), .tokens = 48 });
	struct outcome o = { 0 }, after = { 0 };
	struct tenon_llm_request r = request_of(cases[0].prompt, cases[0].count, 0, &o);

	(void)state;
	submit(llm, &r);
	finish(llm);
	assert_int_equal(o.end, TENON_LLM_LENGTH);
	assert_true(o.count >= 40 && o.count < 80);
	assert_memory_equal(o.tokens, cases[0].reply, sizeof(int32_t) * cases[0].reply_count);
	r = request_of(cases[1].prompt, cases[1].count, 10, &after);
	submit(llm, &r);
	finish(llm);
	assert_memory_equal(after.tokens, cases[1].reply, sizeof(int32_t) * 10);
	tenon_llm_close(llm);
}

static void the_next_turn_of_a_conversation_shares_the_last(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct outcome first = { 0 }, second = { 0 }, alone = { 0 };
	const struct expected *e = &cases[1];
	int32_t prompt[128];
	struct tenon_llm_request r = request_of(e->prompt, e->count, 12, &first);

	(void)state;
	submit(llm, &r);
	finish(llm);
	memcpy(prompt, e->prompt, e->count * sizeof(*prompt));
	memcpy(prompt + e->count, first.tokens, 12 * sizeof(*prompt));
	prompt[e->count + 12] = 'x';
	r = request_of(prompt, e->count + 13, 12, &second);
	submit(llm, &r);
	finish(llm);
	/* all but the last token of the reply, which was not read by the model, and the new one */
	assert_int_equal(second.usage.shared_tokens, e->count + 11);
	tenon_llm_close(llm);
	llm = open_with(NULL);
	r.context = &alone;
	submit(llm, &r);
	finish(llm);
	assert_int_equal(alone.usage.shared_tokens, 0);
	assert_memory_equal(alone.tokens, second.tokens, sizeof(int32_t) * 12);
	tenon_llm_close(llm);
}

static void a_seed_decides_what_is_sampled(void **state)
{
	struct outcome o[4] = { 0 };
	struct tenon_llm_request r;
	struct tenon_llm *llm;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		llm = open_with(NULL);
		r = request_of(cases[0].prompt, cases[0].count, 24, &o[i]);
		r.sampling.temperature = i == 3 ? 1e-3 : 1;
		r.sampling.seed = i == 1 ? 77 : 5;
		submit(llm, &r);
		finish(llm);
		tenon_llm_close(llm);
	}
	assert_memory_not_equal(o[0].tokens, o[1].tokens, sizeof(int32_t) * 24);
	assert_memory_equal(o[0].tokens, o[2].tokens, sizeof(int32_t) * 24);
	/* almost no temperature is none */
	assert_memory_equal(o[3].tokens, cases[0].reply, sizeof(int32_t) * 10);
}

static void a_penalty_changes_tokens_that_occurred(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct outcome o = { 0 };
	struct tenon_llm_request r = request_of(cases[0].prompt, cases[0].count, 24, &o);
	size_t i, k;

	(void)state;
	r.sampling.presence_penalty = 100;
	submit(llm, &r);
	finish(llm);
	assert_int_equal(o.count, 24);
	for (i = 0; i < o.count; i++)
		for (k = 0; k < i; k++)
			assert_int_not_equal(o.tokens[i], o.tokens[k]);
	tenon_llm_close(llm);
}

static void the_parts_of_a_reply_are_all_of_its_text(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct outcome o = { 0 }, longer = { 0 };
	struct tenon_llm_request r = request_of(cases[1].prompt, cases[1].count, 8, &o);

	(void)state;
	submit(llm, &r);
	finish(llm);
	r.most = 24;
	r.context = &longer;
	submit(llm, &r);
	finish(llm);
	/* bytes that are no UTF-8 become three, so no token is without text */
	assert_true(o.text_size >= 7);
	/* a character may have been cut off at the end */
	assert_true(longer.text_size > o.text_size);
	assert_memory_equal(o.text, longer.text, o.text_size - 3);
	tenon_llm_close(llm);
}

static void a_stop_string_ends_the_reply_before_it(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct outcome all = { 0 }, o = { 0 };
	struct tenon_llm_request r = request_of(cases[0].prompt, cases[0].count, 24, &all);
	struct tenon_slice stops[2] = { { "never", 5 }, { NULL, 0 } };
	char bytes[24];
	size_t i, at;

	(void)state;
	submit(llm, &r);
	finish(llm);
	for (i = 0; i < 24; i++)
		bytes[i] = (char)all.tokens[i];
	/* bytes of the middle of the reply, which come with several tokens */
	stops[1] = (struct tenon_slice){ bytes + 9, 3 };
	at = (size_t)((char *)memmem(bytes, 24, bytes + 9, 3) - bytes);
	r.context = &o;
	r.stops = stops;
	r.stop_count = 2;
	submit(llm, &r);
	finish(llm);
	assert_int_equal(o.end, TENON_LLM_STOP);
	/* the tokens that made the string are counted, and their text is not given out */
	assert_int_equal(o.count, at + 3);
	assert_true(o.text_size > 0 && o.text_size < all.text_size);
	assert_memory_equal(o.text, all.text, o.text_size);
	tenon_llm_close(llm);
}

static void a_request_ends_when_it_is_cancelled(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct outcome o = { 0 }, other = { 0 };
	struct tenon_llm_request r = request_of(cases[1].prompt, cases[1].count, 24, &o);

	(void)state;
	o.cancel_in = llm;
	submit(llm, &r);
	r = request_of(cases[2].prompt, cases[2].count, 24, &other);
	submit(llm, &r);
	finish(llm);
	assert_int_equal(o.end, TENON_LLM_CANCELLED);
	assert_true(o.count >= 1 && o.count < 24);
	assert_reply(&other, &cases[2]);
	tenon_llm_cancel(llm, 12345);
	tenon_llm_close(llm);
}

static void a_request_ends_at_its_deadline(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct outcome o = { 0 };
	struct tenon_llm_request r = request_of(cases[1].prompt, cases[1].count, 24, &o);

	(void)state;
	r.deadline = 1;
	submit(llm, &r);
	finish(llm);
	assert_int_equal(o.end, TENON_LLM_DEADLINE);
	assert_int_equal(o.count, 0);
	/* closing with requests left is no leak */
	memset(&o, 0, sizeof(o));
	r.deadline = 0;
	submit(llm, &r);
	assert_int_equal(tenon_llm_step(llm), 1);
	tenon_llm_close(llm);
}

static void what_a_request_may_not_have_is_refused(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct tenon_llm_request r = request_of(cases[0].prompt, 0, 1, NULL);
	const int32_t beyond[] = { 1, 260 };
	int32_t *many = calloc(256, sizeof(*many));
	uint64_t job;

	(void)state;
	assert_int_equal(tenon_llm_submit(llm, &r, &job), -TENON_E_VALUE);
	assert_error_has("no tokens");
	r = request_of(beyond, 2, 1, NULL);
	assert_int_equal(tenon_llm_submit(llm, &r, &job), -TENON_E_VALUE);
	assert_error_has("token 260 at 1");
	r = request_of(many, 256, 1, NULL);
	assert_int_equal(tenon_llm_submit(llm, &r, &job), -TENON_E_VALUE);
	assert_error_has("256 tokens");
	r = request_of(many, 2, 1, NULL);
	r.sampling.temperature = NAN;
	assert_int_equal(tenon_llm_submit(llm, &r, &job), -TENON_E_VALUE);
	assert_error_has("temperature");
	assert_int_equal(tenon_llm_step(llm), 0);
	free(many);
	tenon_llm_close(llm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_in_one_batch_reply_as_tvm_does),
		cmocka_unit_test(requests_reply_the_same_while_the_cache_is_full),
		cmocka_unit_test(a_reply_that_fills_the_cache_ends_with_length),
		cmocka_unit_test(the_next_turn_of_a_conversation_shares_the_last),
		cmocka_unit_test(a_seed_decides_what_is_sampled),
		cmocka_unit_test(a_penalty_changes_tokens_that_occurred),
		cmocka_unit_test(the_parts_of_a_reply_are_all_of_its_text),
		cmocka_unit_test(a_stop_string_ends_the_reply_before_it),
		cmocka_unit_test(a_request_ends_when_it_is_cancelled),
		cmocka_unit_test(a_request_ends_at_its_deadline),
		cmocka_unit_test(what_a_request_may_not_have_is_refused),
	};

#if defined(__x86_64__) && defined(__GLIBC__)
	return cmocka_run_group_tests(tests, read_record, free_record);
#else
	(void)tests;
	printf("1..0 # SKIP the model is for x86-64 and glibc\n");
	return 77;
#endif
}
