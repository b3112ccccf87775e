/* SPDX-License-Identifier: MIT */
/* Values: numbers, strings and objects, borrowed, owned and given away. */
#include "tests/unit/suite.h"

#include <stdlib.h>

static void numbers_convert_only_upwards(void **state)
{
	struct tenon_value i = tenon_arg_int(-7), b = tenon_arg_bool(true),
			   f = tenon_arg_float(2.5);
	int64_t n;
	double d;
	bool t;

	(void)state;
	assert_int_equal(tenon_value_int(&i, &n), 0);
	assert_int_equal(n, -7);
	assert_int_equal(tenon_value_int(&b, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(tenon_value_int(&f, &n), -TENON_E_TYPE);
	assert_error("expected int, found float");
	assert_int_equal(tenon_value_float(&i, &d), 0);
	assert_true(d == -7.0);
	assert_int_equal(tenon_value_bool(&i, &t), 0);
	assert_true(t);
	assert_int_equal(tenon_value_bool(&f, &t), -TENON_E_TYPE);
	tenon_error_clear();
}

static void seven_bytes_travel_in_the_value_and_eight_in_an_object(void **state)
{
	struct tenon_value seven, eight;
	struct tenon_slice s;

	(void)state;
	assert_int_equal(tenon_string_value(tenon_slice_of("1234567"), &seven), 0);
	assert_int_equal(seven.type, TENON_TYPE_SMALL_STRING);
	assert_int_equal(seven.small_size, 7);
	assert_int_equal(seven.as.small[7], 0);
	assert_int_equal(tenon_string_value(tenon_slice_of("12345678"), &eight), 0);
	assert_int_equal(eight.type, TENON_TYPE_STRING);
	assert_int_equal(tenon_value_text(&eight, &s), 0);
	assert_slice(s, "12345678");
	assert_int_equal(s.data[8], 0);
	tenon_value_release(&eight);
	assert_int_equal(eight.type, TENON_TYPE_NONE);
}

static void strings_are_equal_in_every_encoding(void **state)
{
	struct tenon_value raw = tenon_arg_string("abc"), small, boxed, bytes;
	struct tenon_slice abc = tenon_slice_of("abc");
	struct tenon_string *wrapped;

	(void)state;
	assert_int_equal(tenon_string_value(abc, &small), 0);
	tenon_bytes_wrap(abc, NULL, &wrapped);
	wrapped->object.type = TENON_TYPE_STRING;
	boxed = tenon_arg_object(wrapped);
	bytes = tenon_arg_bytes(&abc);
	assert_true(tenon_value_equal(&raw, &small));
	assert_true(tenon_value_equal(&boxed, &small));
	assert_false(tenon_value_equal(&raw, &bytes));
	tenon_object_unref(wrapped);
}

static void a_small_string_that_claims_more_than_seven_bytes_is_refused(void **state)
{
	struct tenon_value v = { TENON_TYPE_SMALL_STRING, 8, { 0 } };
	struct tenon_slice s;

	(void)state;
	assert_int_equal(tenon_value_text(&v, &s), -TENON_E_VALUE);
	assert_error("a small string of 8 bytes");
}

static void owning_copies_views_and_counts_objects(void **state)
{
	char text[] = "a longer string";
	struct tenon_value raw = tenon_arg_string(text), owned, again;
	struct tenon_slice s;

	(void)state;
	assert_int_equal(tenon_value_own(&raw, &owned), 0);
	text[0] = '!';
	tenon_value_text(&owned, &s);
	assert_slice(s, "a longer string");
	tenon_value_own(&owned, &again);
	assert_int_equal(strong_count(owned.as.object), 2);
	tenon_value_release(&again);
	tenon_value_release(&owned);
}

/* as a foreign caller may pass them */
static void bytes_at_null_are_refused_or_empty(void **state)
{
	struct tenon_slice few = { NULL, 3 }, many = { NULL, 1000 }, none = { NULL, 0 }, s;
	struct tenon_value v = tenon_arg_bytes(NULL), owned;

	(void)state;
	assert_int_equal(tenon_value_own(&v, &owned), -TENON_E_VALUE);
	assert_error("expected bytes, found NULL");
	v = tenon_arg_bytes(&few);
	assert_int_equal(tenon_value_own(&v, &owned), -TENON_E_VALUE);
	assert_error("3 bytes without data: the pointer is NULL");
	v = tenon_arg_bytes(&many);
	assert_int_equal(tenon_value_own(&v, &owned), -TENON_E_VALUE);
	assert_error("1000 bytes without data: the pointer is NULL");
	assert_int_equal(tenon_string_value(many, &owned), -TENON_E_VALUE);
	v = tenon_arg_bytes(&none);
	assert_int_equal(tenon_value_own(&v, &owned), 0);
	assert_int_equal(tenon_value_text(&owned, &s), 0);
	assert_int_equal(s.size, 0);
	/* a string at NULL is an empty one */
	v = tenon_arg_string(NULL);
	assert_int_equal(tenon_value_own(&v, &owned), 0);
	assert_int_equal(tenon_value_text(&owned, &s), 0);
	assert_int_equal(s.size, 0);
}

static void a_borrowed_tensor_cannot_be_owned(void **state)
{
	DLTensor t = tenon_dltensor(NULL, NULL, 0, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value v = tenon_arg_tensor(&t), owned;

	(void)state;
	assert_int_equal(tenon_value_own(&v, &owned), -TENON_E_TYPE);
	assert_error_has("borrowed DLTensor");
}

static void an_rvalue_reference_gives_its_object_away(void **state)
{
	struct tenon_value string, ref = tenon_arg_none(), owned;
	struct tenon_object *slot;
	struct tenon_slice s;

	(void)state;
	assert_int_equal(tenon_string_value(tenon_slice_of("twelve bytes"), &string), 0);
	slot = string.as.object;
	ref.type = TENON_TYPE_RVALUE_REF;
	ref.as.pointer = &slot;
	assert_int_equal(tenon_value_text(&ref, &s), 0);
	assert_slice(s, "twelve bytes");
	assert_int_equal(tenon_value_own(&ref, &owned), 0);
	assert_null(slot);
	assert_int_equal(strong_count(owned.as.object), 1);
	tenon_value_release(&owned);
}

static void tensors_are_read_borrowed_and_counted(void **state)
{
	int64_t shape[] = { 2, 3 };
	struct tenon_tensor *t;
	struct tenon_value v;
	DLTensor *dl, bare;

	(void)state;
	tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t);
	v = tenon_arg_object(t);
	assert_int_equal(tenon_value_tensor(&v, &dl), 0);
	assert_ptr_equal(dl, &t->dl);
	bare = *dl;
	v = tenon_arg_tensor(&bare);
	assert_int_equal(tenon_value_tensor(&v, &dl), 0);
	assert_ptr_equal(dl, &bare);
	v = tenon_arg_none();
	assert_int_equal(tenon_value_tensor(&v, &dl), -TENON_E_TYPE);
	assert_error("expected tensor, found None");
	tenon_object_unref(t);
}

static void unused_bytes_of_a_value_are_zero(void **state)
{
	struct tenon_value v = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_INT, 8, 4));
	const unsigned char *raw = (const unsigned char *)&v;
	int i;

	(void)state;
	for (i = 12; i < 16; i++)
		assert_int_equal(raw[i], 0);
	v = tenon_arg_bool(7);
	assert_int_equal(v.as.integer, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_convert_only_upwards),
		cmocka_unit_test(seven_bytes_travel_in_the_value_and_eight_in_an_object),
		cmocka_unit_test(strings_are_equal_in_every_encoding),
		cmocka_unit_test(a_small_string_that_claims_more_than_seven_bytes_is_refused),
		cmocka_unit_test(owning_copies_views_and_counts_objects),
		cmocka_unit_test(bytes_at_null_are_refused_or_empty),
		cmocka_unit_test(a_borrowed_tensor_cannot_be_owned),
		cmocka_unit_test(an_rvalue_reference_gives_its_object_away),
		cmocka_unit_test(tensors_are_read_borrowed_and_counted),
		cmocka_unit_test(unused_bytes_of_a_value_are_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
