/* SPDX-License-Identifier: MIT */
/* Objects as arguments and results of C++ libraries that real tvm-ffi built: who owns what, and for how long. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static int register_fixtures(void **state)
{
	(void)state;
	return tenon_function_register_c("fixture.give", fixture_give, true);
}

static void an_array_comes_back(const char *suite)
{
	struct tenon_function *f = fixture_function_in(suite, "cpp_arrays/lib.so", "count_to");
	struct tenon_value ret = tenon_arg_none();
	const struct tenon_array *array;
	int i;

	fixture_ok(tenon_call(f, &ret, tenon_arg_int(5)), "count_to");
	assert_int_equal(ret.type, TENON_TYPE_ARRAY);
	array = (const struct tenon_array *)ret.as.object;
	assert_int_equal(array->size, 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(array->data[i].as.integer, i);
	tenon_object_unref(f);
	tenon_value_release(&ret); /* the library may be gone from our hands, the array is not */
}

static void an_array_and_a_shape_go_in(const char *suite)
{
	struct tenon_function *sum = fixture_function_in(suite, "cpp_arrays/lib.so", "array_sum");
	struct tenon_function *product =
		fixture_function_in(suite, "cpp_arrays/lib.so", "shape_product");
	struct tenon_value items[3] = { tenon_arg_int(1), tenon_arg_int(20), tenon_arg_int(300) };
	const int64_t extents[3] = { 2, 3, 7 };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_array *array;
	struct tenon_shape *shape;

	fixture_ok(tenon_array_create(items, 3, &array), "array");
	fixture_ok(tenon_shape_create(extents, 3, &shape), "shape");
	fixture_ok(tenon_call(sum, &ret, tenon_arg_object(array)), "array_sum");
	assert_int_equal(ret.as.integer, 321);
	fixture_ok(tenon_call(product, &ret, tenon_arg_object(shape)), "shape_product");
	assert_int_equal(ret.as.integer, 42);
	tenon_object_unref(shape);
	tenon_object_unref(array);
	tenon_object_unref(product);
	tenon_object_unref(sum);
}

static void arrays_cross_the_border(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < FIXTURE_FFIS; i++) {
		an_array_comes_back(fixture_ffis[i]);
		an_array_and_a_shape_go_in(fixture_ffis[i]);
	}
}

static void a_map_made_here_is_read_by_cpp(void **state)
{
	struct tenon_value pairs[4] = { tenon_arg_string("short"), tenon_arg_int(5),
					tenon_arg_string("a longer key"), tenon_arg_int(12) };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_map *map;
	size_t i;

	(void)state;
	fixture_ok(tenon_map_create(pairs, 2, &map), "map");
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *f =
			fixture_function_in(fixture_ffis[i], "cpp_maps/lib.so", "map_value");

		fixture_ok(tenon_call(f, &ret, tenon_arg_object(map), tenon_arg_string("short")),
			   "short");
		assert_int_equal(ret.as.integer, 5);
		fixture_ok(tenon_call(f, &ret, tenon_arg_object(map),
				      tenon_arg_string("a longer key")),
			   "long");
		assert_int_equal(ret.as.integer, 12);
		assert_int_not_equal(
			tenon_call(f, &ret, tenon_arg_object(map), tenon_arg_string("no such key")),
			0);
		assert_string_equal(tenon_error_kind(), "KeyError");
		tenon_error_clear();
		tenon_object_unref(f);
	}
	tenon_object_unref(map);
}

static void functions_cross_the_border(void **state)
{
	struct tenon_value ret = tenon_arg_none(), sum = tenon_arg_none();
	struct tenon_function *give;
	size_t i;

	(void)state;
	fixture_ok(tenon_function_find("fixture.give", &give), "fixture.give");
	assert_non_null(give);
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *call =
			fixture_function_in(fixture_ffis[i], "cpp_functions/lib.so", "call_with");
		struct tenon_function *adder =
			fixture_function_in(fixture_ffis[i], "cpp_functions/lib.so", "adder");

		fixture_ok(tenon_call(call, &ret, tenon_arg_object(give), tenon_arg_int(21)),
			   "call_with");
		assert_int_equal(ret.as.integer, 42);
		fixture_ok(tenon_call(adder, &ret, tenon_arg_int(100)), "adder");
		assert_int_equal(ret.type, TENON_TYPE_FUNCTION);
		tenon_object_unref(adder);
		/* a function that C++ made, called by C, then by C++ */
		fixture_ok(
			tenon_call((struct tenon_function *)ret.as.object, &sum, tenon_arg_int(1)),
			"sum");
		assert_int_equal(sum.as.integer, 101);
		fixture_ok(
			tenon_call(call, &sum, tenon_arg_object(ret.as.object), tenon_arg_int(2)),
			"sum");
		assert_int_equal(sum.as.integer, 102);
		tenon_value_release(&ret);
		tenon_object_unref(call);
	}
	tenon_object_unref(give);
}

static void an_error_passes_through_two_borders(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	size_t i;

	(void)state;
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *call =
			fixture_function_in(fixture_ffis[i], "cpp_functions/lib.so", "call_with");
		struct tenon_function *raise = fixture_function_in(
			fixture_ffis[i], "cpp_scalars/lib.so", "raise_value_error");

		assert_int_not_equal(
			tenon_call(call, &ret, tenon_arg_object(raise), tenon_arg_int(7)), 0);
		assert_string_equal(tenon_error_kind(), "ValueError");
		fixture_says("refused at 7");
		tenon_object_unref(raise);
		tenon_object_unref(call);
	}
}

static void an_error_outlives_its_library(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_error *errors[FIXTURE_FFIS];
	size_t i;

	(void)state;
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *raise = fixture_function_in(
			fixture_ffis[i], "cpp_scalars/lib.so", "raise_index_error");

		assert_int_not_equal(tenon_call(raise, &ret, tenon_arg_string("seven")), 0);
		errors[i] = tenon_error_take();
		assert_non_null(errors[i]);
		tenon_object_unref(raise);
	}
	for (i = 0; i < FIXTURE_FFIS; i++) {
		assert_true(tenon_slice_equal(errors[i]->kind, tenon_slice_of("IndexError")));
		assert_true(tenon_slice_equal(errors[i]->message, tenon_slice_of("no item seven")));
		tenon_object_unref(errors[i]);
	}
}

static void bytes_and_strings_of_every_encoding_are_read(void **state)
{
	const struct tenon_slice raw = { "\x01\x02\xff", 3 };
	struct tenon_value ret = tenon_arg_none(), small, big;
	size_t i;

	(void)state;
	fixture_ok(tenon_string_value(tenon_slice_of("seven77"), &small), "small");
	fixture_ok(tenon_string_value(tenon_slice_of("a long string object"), &big), "big");
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *sum =
			fixture_function_in(fixture_ffis[i], "cpp_strings/lib.so", "bytes_sum");
		struct tenon_function *length =
			fixture_function_in(fixture_ffis[i], "cpp_strings/lib.so", "text_length");

		fixture_ok(tenon_call(sum, &ret, tenon_arg_bytes(&raw)), "bytes_sum");
		assert_int_equal(ret.as.integer, 258);
		fixture_ok(tenon_call(length, &ret, small), "small");
		assert_int_equal(ret.as.integer, 7);
		fixture_ok(tenon_call(length, &ret, big), "big");
		assert_int_equal(ret.as.integer, 20);
		tenon_object_unref(length);
		tenon_object_unref(sum);
	}
	tenon_value_release(&big);
}

static void an_object_passed_through_is_the_same_object(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	size_t i;

	(void)state;
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *same =
			fixture_function_in(fixture_ffis[i], "cpp_tensors/lib.so", "same");
		struct tenon_tensor *x = fixture_zeros(4, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));

		fixture_ok(tenon_call(same, &ret, tenon_arg_object(x)), "same");
		assert_ptr_equal(ret.as.object, x);
		assert_int_equal((uint32_t)x->object.refs, 2);
		tenon_value_release(&ret);
		assert_int_equal((uint32_t)x->object.refs, 1);
		tenon_object_unref(x);
		tenon_object_unref(same);
	}
}

static void a_tensor_made_by_cpp_outlives_its_library(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	DLTensor *dl;
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *ramp =
			fixture_function_in(fixture_ffis[i], "cpp_tensors/lib.so", "ramp");

		fixture_ok(tenon_call(ramp, &ret, tenon_arg_int(3), tenon_arg_int(4)), "ramp");
		tenon_object_unref(ramp);
		fixture_ok(tenon_value_tensor(&ret, &dl), "tensor");
		assert_int_equal(dl->ndim, 2);
		assert_int_equal(dl->shape[0], 3);
		assert_int_equal(dl->shape[1], 4);
		for (k = 0; k < 12; k++)
			assert_true(((const float *)dl->data)[k] == (float)k / 2);
		tenon_value_release(&ret);
	}
}

static void the_environment_allocates_tensors(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	DLTensor *dl;
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < FIXTURE_FFIS; i++) {
		struct tenon_function *f =
			fixture_function_in(fixture_ffis[i], "cpp_env_alloc/lib.so", "doubled");
		struct tenon_tensor *x = fixture_zeros(6, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));

		for (k = 0; k < 6; k++)
			((float *)x->dl.data)[k] = (float)k;
		fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&x->dl)), "doubled");
		fixture_ok(tenon_value_tensor(&ret, &dl), "tensor");
		for (k = 0; k < 6; k++)
			assert_true(((const float *)dl->data)[k] == (float)(2 * k));
		tenon_value_release(&ret);
		tenon_object_unref(x);
		tenon_object_unref(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_cross_the_border),
		cmocka_unit_test(a_map_made_here_is_read_by_cpp),
		cmocka_unit_test(functions_cross_the_border),
		cmocka_unit_test(an_error_passes_through_two_borders),
		cmocka_unit_test(an_error_outlives_its_library),
		cmocka_unit_test(bytes_and_strings_of_every_encoding_are_read),
		cmocka_unit_test(an_object_passed_through_is_the_same_object),
		cmocka_unit_test(a_tensor_made_by_cpp_outlives_its_library),
		cmocka_unit_test(the_environment_allocates_tensors),
	};

#if !defined(__x86_64__) || !defined(__GLIBC__)
	puts("the modules are for x86-64 with glibc's C++ library");
	return 77;
#endif
	return cmocka_run_group_tests(tests, register_fixtures, NULL);
}
