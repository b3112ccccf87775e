/* SPDX-License-Identifier: MIT */
/* Numbers that are converted to the scalars of a kernel. */
#include "suite.h"

#include <math.h>

#include "runtime/device/kernel_call.h"

static DLDataType type(const char *name)
{
	DLDataType t;

	assert_int_equal(tenon_dtype_parse(tenon_slice_of(name), &t), 0);
	return t;
}

static uint64_t real(const char *name, double value)
{
	uint64_t slot = UINT64_MAX;

	assert_true(kernel_scalar_real(type(name), value, &slot));
	return slot;
}

static uint64_t integer(const char *name, int64_t value)
{
	uint64_t slot = UINT64_MAX;

	assert_true(kernel_scalar_integer(type(name), value, &slot));
	return slot;
}

/* little-endian or not, the value is in the first bytes and the rest is zero */
#define assert_first(slot, ctype, ...)                                                             \
	do {                                                                                       \
		ctype scalar_want = (ctype)(__VA_ARGS__);                                          \
		uint64_t scalar_slot = (slot), scalar_all = 0;                                     \
		memcpy(&scalar_all, &scalar_want, sizeof(scalar_want));                            \
		assert_int_equal(scalar_slot, scalar_all);                                         \
	} while (0)

static void integers_are_cut_to_their_width(void **state)
{
	(void)state;
	assert_first(integer("int8", -1), int8_t, -1);
	assert_first(integer("uint8", 255), uint8_t, 255);
	assert_first(integer("int8", 0x1234), int8_t, 0x34);
	assert_first(integer("int16", -2), int16_t, -2);
	assert_first(integer("uint16", 0x12345), uint16_t, 0x2345);
	assert_first(integer("int32", INT32_MIN), int32_t, INT32_MIN);
	assert_first(integer("uint32", UINT32_MAX), uint32_t, UINT32_MAX);
	assert_first(integer("int64", INT64_MIN), int64_t, INT64_MIN);
	assert_first(integer("uint64", -1), uint64_t, UINT64_MAX);
}

static void any_number_that_is_not_zero_is_true(void **state)
{
	(void)state;
	assert_first(integer("bool", 0), uint8_t, 0);
	assert_first(integer("bool", 1), uint8_t, 1);
	assert_first(integer("bool", 256), uint8_t, 1);
	assert_first(integer("bool", INT64_MIN), uint8_t, 1);
}

static void reals_are_rounded_to_their_width(void **state)
{
	(void)state;
	assert_first(real("float64", 1.1), double, 1.1);
	assert_first(real("float32", 1.1), float, 1.1f);
	assert_first(real("float32", 1e300), float, INFINITY);
}

static void an_integer_will_do_for_a_real(void **state)
{
	(void)state;
	assert_first(integer("float64", -3), double, -3.0);
	assert_first(integer("float32", 16777217), float, 16777216.0f);
	assert_first(integer("float16", 2), uint16_t, 0x4000);
	assert_first(integer("bfloat16", 1), uint16_t, 0x3f80);
}

static void halves_round_to_the_nearest_even(void **state)
{
	(void)state;
	assert_first(real("float16", 0.0), uint16_t, 0x0000);
	assert_first(real("float16", -0.0), uint16_t, 0x8000);
	assert_first(real("float16", 1.0), uint16_t, 0x3c00);
	assert_first(real("float16", -65504.0), uint16_t, 0xfbff);
	/* halfway between two: to the even one */
	assert_first(real("float16", 1.0 + 1.0 / 2048), uint16_t, 0x3c00);
	assert_first(real("float16", 1.0 + 3.0 / 2048), uint16_t, 0x3c02);
	/* a little more than halfway, which a float on the way would lose */
	assert_first(real("float16", 1.0 + 1.0 / 2048 + 1e-12), uint16_t, 0x3c01);
	/* rounding carries into the exponent, and over the end */
	assert_first(real("float16", 65519.0), uint16_t, 0x7bff);
	assert_first(real("float16", 65520.0), uint16_t, 0x7c00);
	assert_first(real("float16", 1e10), uint16_t, 0x7c00);
	assert_first(real("float16", -INFINITY), uint16_t, 0xfc00);
	assert_first(real("float16", NAN) & 0x7fff, uint16_t, 0x7e00);
}

static void small_halves_keep_what_bits_there_are(void **state)
{
	(void)state;
	assert_first(real("float16", ldexp(1, -14)), uint16_t, 0x0400);
	assert_first(real("float16", ldexp(1, -15)), uint16_t, 0x0200);
	assert_first(real("float16", ldexp(1, -24)), uint16_t, 0x0001);
	assert_first(real("float16", ldexp(3, -25)), uint16_t, 0x0002);
	assert_first(real("float16", ldexp(1, -25)), uint16_t, 0x0000);
	assert_first(real("float16", ldexp(1.0001, -25)), uint16_t, 0x0001);
	assert_first(real("float16", ldexp(1, -26)), uint16_t, 0x0000);
	/* the largest of the small ones rounds up to the least normal one */
	assert_first(real("float16", ldexp(2047.9, -25)), uint16_t, 0x0400);
	assert_first(real("float16", -1e-300), uint16_t, 0x8000);
}

static void bfloats_are_the_upper_half_of_a_float(void **state)
{
	(void)state;
	assert_first(real("bfloat16", 1.0), uint16_t, 0x3f80);
	assert_first(real("bfloat16", -2.0), uint16_t, 0xc000);
	assert_first(real("bfloat16", 1.0 + 1.0 / 256), uint16_t, 0x3f80);
	assert_first(real("bfloat16", 1.0 + 3.0 / 256), uint16_t, 0x3f82);
	assert_first(real("bfloat16", 3.4e38), uint16_t, 0x7f80);
	assert_first(real("bfloat16", INFINITY), uint16_t, 0x7f80);
	assert_first(real("bfloat16", NAN) & 0x7fc0, uint16_t, 0x7fc0);
}

static void types_that_no_kernel_takes_are_refused(void **state)
{
	uint64_t slot;

	(void)state;
	assert_false(kernel_scalar_integer(type("int4"), 1, &slot));
	assert_false(kernel_scalar_integer(tenon_dtype(TENON_DTYPE_INT, 128, 1), 1, &slot));
	assert_false(kernel_scalar_integer(tenon_dtype(TENON_DTYPE_HANDLE, 64, 1), 1, &slot));
	assert_false(kernel_scalar_real(type("int32"), 1.0, &slot));
	assert_false(kernel_scalar_real(tenon_dtype(TENON_DTYPE_FLOAT, 80, 1), 1.0, &slot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_cut_to_their_width),
		cmocka_unit_test(any_number_that_is_not_zero_is_true),
		cmocka_unit_test(reals_are_rounded_to_their_width),
		cmocka_unit_test(an_integer_will_do_for_a_real),
		cmocka_unit_test(halves_round_to_the_nearest_even),
		cmocka_unit_test(small_halves_keep_what_bits_there_are),
		cmocka_unit_test(bfloats_are_the_upper_half_of_a_float),
		cmocka_unit_test(types_that_no_kernel_takes_are_refused),
	};

	return cmocka_run_group_tests_name("scalars of kernels", tests, NULL, NULL);
}
