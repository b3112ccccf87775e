/* SPDX-License-Identifier: MIT */
/*
 * What a program that embeds the runtime does and a command cannot: functions of its own that modules call,
 * and tensors that no file describes.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static const char *const tvms[] = { "tvm-0.18", "tvm-0.25.0.post1", "tvm-0.27.0.post1" };
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static int register_fixtures(void **state)
{
	(void)state;
	if (tenon_function_register_c("fixture.scale", fixture_scale, true) ||
	    tenon_function_register_c("fixture.observe", fixture_observe, true) ||
	    tenon_function_register_c("fixture.give", fixture_give, true))
		return -1;
	return 0;
}

/* call @name of @file with the stored input, and compare the stored output */
static void run_stored(const char *suite, const char *file, const char *name, int number)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f = fixture_function_in(suite, file, name);
	char a[80], b[80];
	struct tenon_tensor *input, *want, *out;

	snprintf(a, sizeof(a), "%s/host_call_packed/c%d_in0.npy", suite, number);
	snprintf(b, sizeof(b), "%s/host_call_packed/c%d_out1.npy", suite, number);
	input = fixture_tensor(a);
	want = fixture_tensor(b);
	out = fixture_zeros(want->dl.shape[0], want->dl.dtype);
	fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&input->dl), tenon_arg_tensor(&out->dl)),
		   name);
	fixture_near(out, want);
	/* and again, by objects, with the handle cached */
	memset(out->dl.data, 0, sizeof(float));
	fixture_ok(tenon_call(f, &ret, tenon_arg_object(input), tenon_arg_object(out)), name);
	fixture_near(out, want);
	tenon_object_unref(out);
	tenon_object_unref(want);
	tenon_object_unref(input);
	tenon_object_unref(f);
}

static void host_code_calls_a_function_of_the_program(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tvms); i++)
		run_stored(tvms[i], "host_call_packed/scale.so", "call_scale", 0);
}

static void host_code_reads_what_a_function_of_the_program_returns(void **state)
{
	(void)state;
	run_stored("tvm-0.18", "host_call_packed/observe.so", "call_observe", 1);
	run_stored("tvm-0.25.0.post1", "host_call_packed/observe.so", "call_observe", 2);
	run_stored("tvm-0.27.0.post1", "host_call_packed/observe.so", "call_observe", 2);
}

static void a_nested_call_leaves_garbage_in_the_result_and_works(void **state)
{
	(void)state;
	run_stored("tvm-0.25.0.post1", "host_call_packed/nested.so", "call_nested", 1);
	run_stored("tvm-0.27.0.post1", "host_call_packed/nested.so", "call_nested", 1);
}

static void a_missing_function_is_named(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tvms); i++) {
		struct tenon_function *f =
			fixture_function_in(tvms[i], "host_call_packed/missing.so", "call_missing");
		struct tenon_tensor *x = fixture_zeros(16, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
		struct tenon_value args[2] = { tenon_arg_tensor(&x->dl), tenon_arg_tensor(&x->dl) };

		assert_int_not_equal(tenon_function_call(f, args, i ? 2 : 1, &ret), 0);
		fixture_says("fixture.does_not_exist");
		tenon_object_unref(x);
		tenon_object_unref(f);
	}
}

static void an_error_of_the_program_comes_back_through_host_code(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_error *error;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tvms); i++) {
		struct tenon_function *f =
			fixture_function_in(tvms[i], "host_call_packed/scale.so", "call_scale");
		struct tenon_tensor *x = fixture_zeros(15, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));

		assert_int_not_equal(
			tenon_call(f, &ret, tenon_arg_tensor(&x->dl), tenon_arg_tensor(&x->dl)), 0);
		error = tenon_error_take();
		assert_non_null(error);
		assert_true(error->message.size > 0);
		tenon_object_unref(error);
		assert_string_equal(tenon_error_message(), "");
		tenon_object_unref(x);
		tenon_object_unref(f);
	}
}

static void plain_c_finds_a_global_function(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	size_t i;

	(void)state;
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *f =
			fixture_function_in(fixture_ffis[i], "c_plain/lib.so", "call_global");

		fixture_ok(tenon_call(f, &ret, tenon_arg_int(21)), "call_global");
		assert_int_equal(ret.type, TENON_TYPE_INT);
		assert_int_equal(ret.as.integer, 42);
		tenon_object_unref(f);
	}
}

/* ---- tensors that no file describes */

static void refused(const char *suite, int64_t n, void (*spoil)(DLTensor *), const char *words)
{
	struct tenon_function *f = fixture_function_in(suite, "host_vecadd/lib.so", "vecadd");
	struct tenon_tensor *x = fixture_zeros(2 * n, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value ret = tenon_arg_none();
	DLTensor good = x->dl, bad;

	good.shape = &n;
	bad = good;
	spoil(&bad);
	fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&good), tenon_arg_tensor(&good),
			      tenon_arg_tensor(&good)),
		   suite);
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_tensor(&bad), tenon_arg_tensor(&good),
					tenon_arg_tensor(&good)),
			     0);
	fixture_says(words);
	tenon_object_unref(x);
	tenon_object_unref(f);
}

static void refused_by_all(void (*spoil)(DLTensor *), const char *words)
{
	refused("tvm-0.8", 1024, spoil, words);
	refused("tvm-0.18", 1024, spoil, words);
	refused("tvm-0.25.0.post1", 128, spoil, words);
	refused("tvm-0.27.0.post1", 128, spoil, words);
}

static void on_a_device(DLTensor *t)
{
	t->device.device_type = kDLCUDA;
}

static void with_an_offset(DLTensor *t)
{
	t->byte_offset = 64;
}

static void with_gaps(DLTensor *t)
{
	static int64_t two = 2;

	t->strides = &two;
}

static void a_tensor_of_another_device_is_refused(void **state)
{
	(void)state;
	refused_by_all(on_a_device, "device_type");
}

static void a_tensor_with_an_offset_is_refused(void **state)
{
	(void)state;
	refused_by_all(with_an_offset, "byte_offset");
}

static void a_tensor_with_gaps_is_refused(void **state)
{
	(void)state;
	refused_by_all(with_gaps, "strides");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_code_calls_a_function_of_the_program),
		cmocka_unit_test(host_code_reads_what_a_function_of_the_program_returns),
		cmocka_unit_test(a_nested_call_leaves_garbage_in_the_result_and_works),
		cmocka_unit_test(a_missing_function_is_named),
		cmocka_unit_test(an_error_of_the_program_comes_back_through_host_code),
		cmocka_unit_test(plain_c_finds_a_global_function),
		cmocka_unit_test(a_tensor_of_another_device_is_refused),
		cmocka_unit_test(a_tensor_with_an_offset_is_refused),
		cmocka_unit_test(a_tensor_with_gaps_is_refused),
	};

#ifndef __x86_64__
	puts("the modules are for x86-64");
	return 77;
#endif
	return cmocka_run_group_tests(tests, register_fixtures, NULL);
}
