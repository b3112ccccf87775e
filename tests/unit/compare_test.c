/* SPDX-License-Identifier: MIT */
/* Tensors that are compared: the largest differences, and the bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/tensor/argument.h"
#include "tools/tensor/compare.h"
#include "tools/tensor/print.h"

static const struct tolerance usual = { COMPARE_RTOL, COMPARE_ATOL, false, false };

static struct argument made(const char *text)
{
	struct argument a = { 0 };

	if (spec_parse(SPEC_INPUT, text, &a.spec) || argument_make(&a))
		fail_msg("%s: %s", text, tenon_error_message());
	return a;
}

static struct comparison compared(const char *got, const char *want, const struct tolerance *t)
{
	struct argument a = made(got), b = made(want);
	struct comparison c;

	compare_values(&a.value, &b.value, t, &c);
	argument_release(&a);
	argument_release(&b);
	return c;
}

static void assert_says(const char *got, const char *want, const char *text)
{
	struct comparison c = compared(got, want, &usual);
	char *printed;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	compare_print(&c, out);
	fclose(out);
	assert_string_equal(printed, text);
	free(printed);
}

static void equal_tensors_have_no_difference(void **state)
{
	(void)state;
	assert_says("2x2xfloat32=1,2,3,4", "2x2xfloat32=1,2,3,4",
		    "equal (largest difference 0 absolute, 0 relative)");
	assert_says(
		"0xfloat32=", "0xfloat32=", "equal (largest difference 0 absolute, 0 relative)");
	assert_says("8xint4=arange", "8xint4=arange",
		    "equal (largest difference 0 absolute, 0 relative)");
}

static void the_largest_differences_and_the_first_are_told(void **state)
{
	(void)state;
	assert_says("3xfloat32=1,2.5,110", "3xfloat32=1,2,100",
		    "differs in 2 of 3 elements (largest difference 10 absolute, 0.25 relative; "
		    "first at 1: 2.5, expected 2)");
	assert_says("float32=1", "float32=0",
		    "differs in 1 of 1 element (largest difference 1 absolute, inf relative; "
		    "first at 0: 1, expected 0)");
}

static void the_bound_is_that_of_numpy(void **state)
{
	/* |got - want| <= atol + rtol * |want|, relative to what is expected, bound included */
	const struct tolerance t = { 0.25, 0.5, true, true };
	const struct tolerance none = { 0, 0, true, true };

	(void)state;
	assert_true(compared("float64=5.5", "float64=4", &t).equal);
	assert_false(compared("float64=5.500000000001", "float64=4", &t).equal);
	assert_true(compared("float64=2.5", "float64=4", &t).equal);
	assert_false(compared("float64=2.499999999999", "float64=4", &t).equal);
	assert_false(compared("float64=4", "float64=5.5", &none).equal);
	assert_true(compared("float32=1.000009", "float32=1", &usual).equal);
	assert_false(compared("float32=1.00002", "float32=1", &usual).equal);
}

static void nan_equals_nan_and_infinity_its_like(void **state)
{
	struct comparison c;

	(void)state;
	assert_true(compared("2xfloat32=nan,inf", "2xfloat32=nan,inf", &usual).equal);
	c = compared("2xfloat16=nan,1", "2xfloat16=1,1", &usual);
	assert_int_equal(c.differing, 1);
	assert_true(isinf(c.absolute) && isinf(c.relative));
	assert_string_equal(c.got, "nan");
	assert_false(compared("float32=inf", "float32=-inf", &usual).equal);
	assert_false(compared("float32=1", "float32=nan", &usual).equal);
	/* a bound that grows with an infinite expectation must not hide the difference */
	c = compared("float32=1", "float32=inf", &usual);
	assert_false(c.equal);
	assert_true(isinf(c.relative));
}

static void integers_are_equal_or_not_unless_a_bound_is_given(void **state)
{
	const struct tolerance one = { COMPARE_RTOL, 1, false, true };
	const struct tolerance none = { COMPARE_RTOL, 0, false, true };
	const struct tolerance tenth = { 0.1, COMPARE_ATOL, true, false };
	struct comparison c;

	(void)state;
	assert_false(compared("int32=1000001", "int32=1000000", &usual).equal);
	assert_true(compared("int32=1000001", "int32=1000000", &one).equal);
	/* what was not given is nothing, rather than the bound of real numbers */
	assert_false(compared("int32=1000001", "int32=1000000", &none).equal);
	assert_false(compared("int32=1000002", "int32=1000000", &one).equal);
	assert_true(compared("int32=11", "int32=10", &tenth).equal);
	assert_false(compared("int32=12", "int32=10", &tenth).equal);
	/* neighbours that a double cannot tell apart */
	c = compared("int64=9007199254740993", "int64=9007199254740992", &usual);
	assert_false(c.equal);
	assert_true(c.absolute == 1);
	c = compared("int64=9223372036854775807", "int64=-9223372036854775808", &usual);
	assert_true(c.absolute == 0x1p64);
	c = compared("uint64=0", "uint64=18446744073709551615", &usual);
	assert_true(c.absolute == 0x1p64);
	assert_false(compared("2xbool=1,0", "2xbool=1,1", &usual).equal);
	assert_false(compared("3xint4=-8,0,1", "3xint4=-8,0,2", &usual).equal);
}

static void low_precision_is_compared_by_value(void **state)
{
	struct comparison c = compared("2xbfloat16=1,3.140625", "2xbfloat16=1,3.125", &usual);

	(void)state;
	assert_true(c.absolute == 0.015625);
	assert_true(fabs(c.relative - 0.005) < 1e-12);
	c = compared("2xfloat8_e4m3fn=448,1", "2xfloat8_e4m3fn=416,1", &usual);
	assert_true(c.absolute == 32);
	assert_true(compared("float16=-0", "float16=0", &usual).equal);
	c = compared("complex64=3+4j", "complex64=0", &usual);
	assert_true(c.absolute == 5);
}

static void shapes_and_types_that_differ_are_explained(void **state)
{
	(void)state;
	assert_says("2x3xfloat32=zeros", "3x2xfloat32=zeros",
		    "differs: the shape is that of 2x3xfloat32, expected 3x2xfloat32");
	assert_says("3xfloat32=zeros", "3xfloat64=zeros",
		    "differs: the type is 3xfloat32, expected 3xfloat64");
	assert_says("3xbfloat16=zeros", "3xuint16=zeros",
		    "differs: the type is 3xbfloat16, expected 3xuint16; put the type in front of "
		    "the file to read it as such");
	assert_says("3xfloat32=zeros", "3", "differs: this is a ffi.Tensor, expected int");
	assert_says("null", "3", "differs: this is a None, expected int");
}

static void both_spellings_of_bool_are_one(void **state)
{
	uint8_t data[2] = { 1, 0 };
	int64_t shape[1] = { 2 };
	DLTensor old = tenon_dltensor(data, shape, 1, tenon_dtype(TENON_DTYPE_UINT, 1, 1));
	DLTensor new = tenon_dltensor(data, shape, 1, tenon_dtype(TENON_DTYPE_BOOL, 8, 1));
	struct comparison c;

	(void)state;
	compare_tensors(&old, &new, &usual, &c);
	assert_true(c.equal);
	assert_int_equal(c.elements, 2);
}

static void returned_scalars_and_texts_are_compared(void **state)
{
	(void)state;
	assert_true(compared("3", "3", &usual).equal);
	assert_false(compared("4", "3", &usual).equal);
	assert_true(compared("3", "3.0", &usual).equal);
	assert_true(compared("true", "1", &usual).equal);
	assert_true(compared("0.1", "0.10000000001", &usual).equal);
	assert_true(compared("null", "null", &usual).equal);
	assert_true(compared("str:a longer text", "str:a longer text", &usual).equal);
	assert_says("str:a", "str:b",
		    "differs in 1 of 1 element (largest difference inf absolute, inf relative; "
		    "first at 0: \"a\", expected \"b\")");
	assert_says("4", "3",
		    "differs in 1 of 1 element (largest difference 1 absolute, 0.333 relative; "
		    "first at 0: 4, expected 3)");
}

/* ---- how values are printed */

static void assert_printed(const char *spec, const char *text)
{
	struct argument a = made(spec);
	char *printed;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	print_value(&a.value, out);
	fclose(out);
	assert_string_equal(printed, text);
	free(printed);
	argument_release(&a);
}

static void small_tensors_are_printed_whole_and_exactly(void **state)
{
	(void)state;
	assert_printed("2x3xfloat32=1,2,3,4,5,6.25", "2x3xfloat32 = [[1 2 3] [4 5 6.25]]");
	assert_printed("float32=1.5", "float32 = 1.5");
	assert_printed("0xfloat32=", "0xfloat32 = []");
	assert_printed("2xfloat32=0.1,100000", "2xfloat32 = [0.1 100000]");
	assert_printed("1x1x2xint8=-1,2", "1x1x2xint8 = [[[-1 2]]]");
	assert_printed("2xfloat32x2=1,2,3,4", "2xfloat32x2 = [[1 2] [3 4]]");
	assert_printed("4xfloat4_e2m1fn=-6,0.5,0,3", "4xfloat4_e2m1fn = [-6 0.5 0 3]");
	assert_printed("2xbool=1,0", "2xbool = [true false]");
	assert_printed("2xfloat16=nan,-inf", "2xfloat16 = [nan -inf]");
	assert_printed("complex64=1-2j", "complex64 = 1-2j");
}

static void large_tensors_are_shortened(void **state)
{
	(void)state;
	assert_printed("16xint8=arange", "16xint8 = [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]");
	assert_printed("17xint8=arange", "17xint8 = [0 1 2 … 16]");
	assert_printed("1000x1000xfloat32=arange", "1000x1000xfloat32 = [0 1 2 … 999999]");
}

static void values_are_printed_as_they_are_written(void **state)
{
	(void)state;
	assert_printed("3", "3");
	assert_printed("-2.5", "-2.5");
	assert_printed("100.0", "100");
	assert_printed("true", "true");
	assert_printed("null", "null");
	assert_printed("str:say \"hi\"\n", "\"say \\\"hi\\\"\\n\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_tensors_have_no_difference),
		cmocka_unit_test(the_largest_differences_and_the_first_are_told),
		cmocka_unit_test(the_bound_is_that_of_numpy),
		cmocka_unit_test(nan_equals_nan_and_infinity_its_like),
		cmocka_unit_test(integers_are_equal_or_not_unless_a_bound_is_given),
		cmocka_unit_test(low_precision_is_compared_by_value),
		cmocka_unit_test(shapes_and_types_that_differ_are_explained),
		cmocka_unit_test(both_spellings_of_bool_are_one),
		cmocka_unit_test(returned_scalars_and_texts_are_compared),
		cmocka_unit_test(small_tensors_are_printed_whole_and_exactly),
		cmocka_unit_test(large_tensors_are_shortened),
		cmocka_unit_test(values_are_printed_as_they_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
