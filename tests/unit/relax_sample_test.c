/* SPDX-License-Identifier: MIT */
/* Sampling, the cache of rows and recurrent states, called as a program calls them. */
#include <math.h>

#include "tests/unit/relax_builtin_call.h"

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };
static const DLDataType i32 = { TENON_DTYPE_INT, 32, 1 };

static void the_largest_logit_wins_without_temperature(void **state)
{
	float logits[] = { 1, 5, 3, 5 };
	int64_t shape[] = { 1, 4 };
	DLTensor t = tenon_dltensor(logits, shape, 2, f32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(sample_top_p_from_logits, &ret, tenon_arg_tensor(&t), tenon_arg_int(0),
			     tenon_arg_float(0.9), tenon_arg_float(0.99)),
			 0);
	assert_int_equal(ret.as.integer, 1);
	/* both fives have nearly all; the second half is the other one */
	assert_int_equal(TRY(sample_top_p_from_logits, &ret, tenon_arg_tensor(&t),
			     tenon_arg_float(0.25), tenon_arg_float(0.9), tenon_arg_float(0.9)),
			 0);
	assert_int_equal(ret.as.integer, 3);
	shape[0] = 0;
	assert_int_equal(TRY(sample_top_p_from_logits, &ret, tenon_arg_tensor(&t),
			     tenon_arg_float(1), tenon_arg_float(1), tenon_arg_float(0)),
			 -TENON_E_VALUE);
	tenon_error_clear();
	shape[0] = 1;
	logits[2] = INFINITY;
	assert_int_equal(TRY(sample_top_p_from_logits, &ret, tenon_arg_tensor(&t),
			     tenon_arg_float(0), tenon_arg_float(1), tenon_arg_float(0)),
			 0);
	assert_int_equal(ret.as.integer, 2);
	assert_int_equal(TRY(sample_top_p_from_logits, &ret, tenon_arg_tensor(&t),
			     tenon_arg_float(1), tenon_arg_float(1), tenon_arg_float(0)),
			 -TENON_E_VALUE);
	assert_error_has("a largest logit of inf");
	tenon_error_clear();
}

static void probabilities_are_sampled(void **state)
{
	float prob[] = { 0.1f, 0.6f, 0.3f }, u[] = { 0.65f }, nan[] = { NAN, NAN, NAN };
	int64_t shape[] = { 1, 3 }, one = 1;
	DLTensor t = tenon_dltensor(prob, shape, 2, f32), r = tenon_dltensor(u, &one, 1, f32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t),
			     tenon_arg_float(0.5), tenon_arg_float(0.99)),
			 0);
	assert_int_equal(ret.as.integer, 1);
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t), tenon_arg_float(1),
			     tenon_arg_float(0.8)),
			 0);
	assert_int_equal(ret.as.integer, 2);
	assert_int_equal(
		TRY(multinomial_from_uniform, &ret, tenon_arg_tensor(&t), tenon_arg_tensor(&r)), 0);
	assert_int_equal(*(int64_t *)((struct tenon_tensor *)ret.as.object)->dl.data, 1);
	tenon_value_release(&ret);
	t.data = nan;
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t),
			     tenon_arg_float(0.5), tenon_arg_float(0.5)),
			 -TENON_E_VALUE);
	tenon_error_clear();
}

static void softmax_and_penalties_change_logits_in_place(void **state)
{
	float logits[] = { -200, -201, -300 };
	int32_t ids[] = { 0, 2 }, times[] = { 2, 1 }, wrong[] = { 0, 3 };
	int64_t n = 3, two = 2;
	DLTensor t = tenon_dltensor(logits, &n, 1, f32), i = tenon_dltensor(ids, &two, 1, i32);
	DLTensor k = tenon_dltensor(times, &two, 1, i32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(
		TRY(apply_softmax_with_temperature, &ret, tenon_arg_tensor(&t), tenon_arg_float(1)),
		0);
	assert_true(fabsf(logits[0] - 0.7310586f) < 1e-6 && fabsf(logits[1] - 0.26894143f) < 1e-6);
	logits[0] = 4;
	logits[2] = -4;
	assert_int_equal(TRY(apply_repetition_penalty, &ret, tenon_arg_tensor(&t),
			     tenon_arg_tensor(&i), tenon_arg_float(2)),
			 0);
	assert_true(logits[0] == 2 && logits[2] == -8);
	assert_int_equal(TRY(apply_presence_and_frequency_penalty, &ret, tenon_arg_tensor(&t),
			     tenon_arg_tensor(&i), tenon_arg_tensor(&k), tenon_arg_float(1),
			     tenon_arg_float(0.5)),
			 0);
	assert_true(logits[0] == 0 && logits[2] == -9.5f);
	i.data = wrong;
	assert_int_equal(TRY(apply_repetition_penalty, &ret, tenon_arg_tensor(&t),
			     tenon_arg_tensor(&i), tenon_arg_float(2)),
			 -TENON_E_VALUE);
	assert_error_has("token 3 of a row of 3 logits");
	tenon_error_clear();
}

static void rows_are_appended_viewed_and_written_as_a_ring(void **state)
{
	float rows[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	int64_t shape[] = { 2, 2 }, one[] = { 1, 2 }, reserve[] = { 2, 2 };
	DLTensor t = tenon_dltensor(rows, shape, 2, f32),
		 next = tenon_dltensor(rows + 4, one, 2, f32);
	struct tenon_value cache, ret, view;
	struct tenon_shape *s;
	const float *have;

	(void)state;
	assert_int_equal(tenon_shape_create(reserve, 2, &s), 0);
	assert_int_equal(TRY(attention_kv_cache_create, &cache, tenon_arg_tensor(&t),
			     tenon_arg_object(s), tenon_arg_int(-1)),
			 0);
	assert_int_equal(TRY(attention_kv_cache_append, &ret, cache, tenon_arg_tensor(&next)), 0);
	tenon_value_release(&ret);
	assert_int_equal(TRY(attention_kv_cache_view, &view, cache), 0);
	have = ((struct tenon_tensor *)view.as.object)->dl.data;
	assert_int_equal(((struct tenon_tensor *)view.as.object)->dl.shape[0], 3);
	assert_memory_equal(have, rows, 24);
	tenon_value_release(&view);
	assert_int_equal(TRY(attention_kv_cache_view, &view, cache, tenon_arg_object(s)),
			 -TENON_E_VALUE);
	assert_int_equal(TRY(attention_kv_cache_window_override_with_sinks, &ret, cache,
			     tenon_arg_tensor(&t), tenon_arg_int(1), tenon_arg_int(0)),
			 -TENON_E_VALUE);
	tenon_value_release(&cache);
	assert_int_equal(TRY(attention_kv_cache_view, &view, tenon_arg_int(3)), -TENON_E_TYPE);
	tenon_object_unref(s);
	tenon_error_clear();
}

static void rows_of_another_form_are_refused(void **state)
{
	float logits[] = { 1, 2, 3, 4 };
	int64_t square[] = { 2, 2 }, many[] = { 1, INT32_MAX }, one[] = { 1 };
	DLTensor t = tenon_dltensor(logits, square, 2, f32),
		 u = tenon_dltensor(logits, one, 1, f32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t), tenon_arg_float(1),
			     tenon_arg_float(0)),
			 -TENON_E_VALUE);
	assert_error_has("4 elements; one row with at least one is wanted");
	t.ndim = 0;
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t), tenon_arg_float(1),
			     tenon_arg_float(0)),
			 -TENON_E_VALUE);
	assert_error_has("1 elements; one row");
	/* its elements are not looked at */
	t = tenon_dltensor(logits, many, 2, f32);
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t), tenon_arg_float(1),
			     tenon_arg_float(0)),
			 sizeof(size_t) == 8 ? -TENON_E_VALUE : -TENON_E_OVERFLOW);
	tenon_error_clear();
	t = tenon_dltensor(logits, square, 0, f32);
	assert_int_equal(
		TRY(multinomial_from_uniform, &ret, tenon_arg_tensor(&t), tenon_arg_tensor(&u)),
		-TENON_E_VALUE);
	t.dtype = i32;
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t), tenon_arg_float(1),
			     tenon_arg_float(0)),
			 -TENON_E_TYPE);
	assert_error_has("argument 0: expected float32, found int32");
}

/* A random number of 1, or a sum that is short of it by rounding, chooses the last. */
static void the_last_token_is_there_for_the_largest_number(void **state)
{
	float prob[] = { 0.25f, 0.5f, 0.25f }, one[] = { 1 }, u[] = { 1 };
	int64_t shape[] = { 1, 3 }, single[] = { 1, 1 }, n = 1;
	DLTensor t = tenon_dltensor(prob, shape, 2, f32), r = tenon_dltensor(u, &n, 1, f32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(sample_top_p_from_prob, &ret, tenon_arg_tensor(&t), tenon_arg_float(1),
			     tenon_arg_float(1)),
			 0);
	assert_int_equal(ret.as.integer, 2);
	assert_int_equal(
		TRY(multinomial_from_uniform, &ret, tenon_arg_tensor(&t), tenon_arg_tensor(&r)), 0);
	assert_int_equal(*(int64_t *)((struct tenon_tensor *)ret.as.object)->dl.data, 2);
	tenon_value_release(&ret);
	t = tenon_dltensor(one, single, 2, f32);
	assert_int_equal(TRY(sample_top_p_from_logits, &ret, tenon_arg_tensor(&t),
			     tenon_arg_float(1), tenon_arg_float(1), tenon_arg_float(1)),
			 0);
	assert_int_equal(ret.as.integer, 0);
}

static void penalties_are_for_tokens_of_the_row(void **state)
{
	float logits[] = { 1, 2, 3 };
	int32_t below[] = { -1, 0 }, two[] = { 0, 1 };
	int64_t n = 3, pair = 2, one = 1;
	DLTensor t = tenon_dltensor(logits, &n, 1, f32), i = tenon_dltensor(below, &pair, 1, i32);
	DLTensor k = tenon_dltensor(two, &one, 1, i32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(apply_repetition_penalty, &ret, tenon_arg_tensor(&t),
			     tenon_arg_tensor(&i), tenon_arg_float(2)),
			 -TENON_E_VALUE);
	assert_error_has("token -1 of a row of 3 logits");
	i.data = two;
	assert_int_equal(TRY(apply_presence_and_frequency_penalty, &ret, tenon_arg_tensor(&t),
			     tenon_arg_tensor(&i), tenon_arg_tensor(&k), tenon_arg_float(1),
			     tenon_arg_float(0.5)),
			 -TENON_E_VALUE);
	assert_error_has("1 frequencies of 2 tokens");
	assert_true(logits[0] == 1);
	t.ndim = 0;
	assert_int_equal(
		TRY(apply_softmax_with_temperature, &ret, tenon_arg_tensor(&t), tenon_arg_float(1)),
		0);
	assert_true(logits[0] == 1 && logits[1] == 2);
	logits[0] = NAN;
	t.ndim = 1;
	assert_int_equal(
		TRY(apply_softmax_with_temperature, &ret, tenon_arg_tensor(&t), tenon_arg_float(1)),
		0);
	assert_true(logits[1] != logits[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_logit_wins_without_temperature),
		cmocka_unit_test(probabilities_are_sampled),
		cmocka_unit_test(softmax_and_penalties_change_logits_in_place),
		cmocka_unit_test(rows_are_appended_viewed_and_written_as_a_ring),
		cmocka_unit_test(rows_of_another_form_are_refused),
		cmocka_unit_test(the_last_token_is_there_for_the_largest_number),
		cmocka_unit_test(penalties_are_for_tokens_of_the_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
