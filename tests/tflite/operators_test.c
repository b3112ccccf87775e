/* SPDX-License-Identifier: MIT */
/* Arithmetic of quantised operators, by numbers that are computed by hand. */
#include "tests/unit/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/model.h>

#include "runtime/tflite/fixed_point.h"

static void a_half_is_rounded_away_from_zero(void **state)
{
	(void)state;
	assert_int_equal(fixed_shift_right(1, 1), 1);
	assert_int_equal(fixed_shift_right(-1, 1), -1);
	assert_int_equal(fixed_shift_right(3, 1), 2);
	assert_int_equal(fixed_shift_right(-3, 1), -2);
	assert_int_equal(fixed_shift_right(5, 2), 1);
	assert_int_equal(fixed_shift_right(6, 2), 2);
	assert_int_equal(fixed_shift_right(-6, 2), -2);
	assert_int_equal(fixed_shift_right(7, 0), 7);
	assert_int_equal(fixed_shift_right(INT32_MAX, 31), 1);
	assert_int_equal(fixed_shift_right(INT32_MIN, 31), -1);
	assert_int_equal(fixed_shift_right(INT32_MIN, 32), -1);
	assert_int_equal(fixed_shift_right(INT32_MAX, 32), 0);
	assert_int_equal(fixed_shift_right(INT32_MAX, 34), 0);
}

static void what_does_not_fit_is_the_nearest_that_does(void **state)
{
	(void)state;
	assert_int_equal(fixed_shift_left(3, 4), 48);
	assert_int_equal(fixed_shift_left(1 << 29, 2), INT32_MAX);
	assert_int_equal(fixed_shift_left(-(1 << 29), 2), INT32_MIN);
	assert_int_equal(fixed_shift_left(-(1 << 29) - 1, 2), INT32_MIN);
	assert_int_equal(fixed_multiply(INT32_MIN, INT32_MIN), INT32_MAX);
}

/* The product of two halves is a quarter; 2^-31 / 2 is a half of the last digit. */
static void the_upper_half_of_a_product_is_rounded(void **state)
{
	(void)state;
	assert_int_equal(fixed_multiply(1 << 30, 1 << 30), 1 << 29);
	assert_int_equal(fixed_multiply(-(1 << 30), 1 << 30), -(1 << 29));
	assert_int_equal(fixed_multiply(1, 1 << 30), 1);
	assert_int_equal(fixed_multiply(-1, 1 << 30), 0);
	assert_int_equal(fixed_multiply(-3, 1 << 30), -1);
	assert_int_equal(fixed_multiply(3, 1 << 30), 2);
}

static void a_factor_has_31_bits_and_a_shift(void **state)
{
	struct fixed_scale s;

	(void)state;
	assert_true(fixed_scale_of(0.5, &s));
	assert_int_equal(s.multiplier, 1 << 30);
	assert_int_equal(s.shift, 0);
	assert_true(fixed_scale_of(1, &s));
	assert_int_equal(s.multiplier, 1 << 30);
	assert_int_equal(s.shift, 1);
	assert_true(fixed_scale_of(3, &s));
	assert_int_equal(s.multiplier, 3 << 29);
	assert_int_equal(s.shift, 2);
	/* the nearest of 31 bits is a power of two */
	assert_true(fixed_scale_of(1 - ldexp(1, -40), &s));
	assert_int_equal(s.multiplier, 1 << 30);
	assert_int_equal(s.shift, 1);
	assert_true(fixed_scale_of(ldexp(1, -40), &s));
	assert_int_equal(s.multiplier, 0);
	assert_true(fixed_scale_of(0, &s));
	assert_int_equal(s.multiplier, 0);
	assert_false(fixed_scale_of(-1, &s));
	assert_false(fixed_scale_of(ldexp(1, 31), &s));
	assert_false(fixed_scale_of((double)INFINITY, &s));
	assert_false(fixed_scale_of((double)NAN, &s));
}

static void a_factor_is_applied_with_both_roundings(void **state)
{
	struct fixed_scale s;

	(void)state;
	assert_true(fixed_scale_of(0.5, &s));
	assert_int_equal(fixed_scale_apply(3, &s), 2);
	/* what is half of -3 is rounded up by the product, which is cut towards zero behind the nudge */
	assert_int_equal(fixed_scale_apply(-3, &s), -1);
	assert_true(fixed_scale_of(0.25, &s));
	/* 5/4: 2.5 becomes 3 and 1.5 becomes 2, where one rounding would give 1 */
	assert_int_equal(fixed_scale_apply(5, &s), 2);
	assert_true(fixed_scale_of(12, &s));
	assert_int_equal(fixed_scale_apply(-7, &s), -84);
}

static double real(int32_t x)
{
	return ldexp((double)x, -31);
}

static void functions_are_those_of_real_numbers(void **state)
{
	int32_t x;

	(void)state;
	assert_int_equal(fixed_exp(0, 5), INT32_MAX);
	/* -32 to 0, in 64ths */
	for (x = -2047; x < 0; x++)
		assert_true(fabs(real(fixed_exp(x * (1 << 20), 5)) - exp(x / 64.0)) < 1e-6);
	for (x = 0; x < 1024; x++)
		assert_true(fabs(real(fixed_one_over_one_plus(x * (1 << 21))) -
				 1 / (1 + x / 1024.0)) < 1e-7);
}

static void the_radius_is_what_may_be_shifted(void **state)
{
	(void)state;
	/* 31 * 2^26 */
	assert_int_equal(fixed_input_radius(5, 0), 31 << 26);
	assert_int_equal(fixed_input_radius(5, 20), 31 << 6);
	assert_int_equal(fixed_input_radius(5, 31), 0);
	assert_int_equal(fixed_input_radius(4, -5), INT32_MAX);
}

/* ---- numbers for which the reference kernel has no defined result */

static struct tenon_model *open_model(const char *name)
{
	struct tenon_module *module;
	struct tenon_model *model;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/tflite/data/%s",
		 getenv("TENON_SOURCE") ? getenv("TENON_SOURCE") : ".", name);
	assert_int_equal(tenon_module_load(path, &module), 0);
	assert_int_equal(tenon_model_open(module, NULL, &model), 0);
	tenon_object_unref(module);
	return model;
}

static void quantize_saturates_whatever_it_is_given(void **state)
{
	static const float given[] = { 1e30F, -1e30F, INFINITY, -INFINITY, NAN, 63.75F, -64.25F };
	static const int8_t want[] = { 127, -128, 127, -128, -7, 121, -128 };
	struct tenon_model *model = open_model("quantize.tflite");
	struct tenon_tensor *tensor;
	struct tenon_value value;
	const int64_t shape = 600;
	DLTensor *t;
	size_t i;

	(void)state;
	assert_int_equal(
		tenon_tensor_create(&shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &tensor), 0);
	memcpy(tensor->dl.data, given, sizeof(given));
	assert_int_equal(tenon_model_bind_input(model, 0, tensor), 0);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 0, &value), 0);
	assert_int_equal(tenon_value_tensor(&value, &t), 0);
	for (i = 0; i < sizeof(want); i++)
		assert_int_equal(((int8_t *)t->data)[i], want[i]);
	tenon_value_release(&value);
	tenon_object_unref(tensor);
	tenon_model_close(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_half_is_rounded_away_from_zero),
		cmocka_unit_test(what_does_not_fit_is_the_nearest_that_does),
		cmocka_unit_test(the_upper_half_of_a_product_is_rounded),
		cmocka_unit_test(a_factor_has_31_bits_and_a_shift),
		cmocka_unit_test(a_factor_is_applied_with_both_roundings),
		cmocka_unit_test(functions_are_those_of_real_numbers),
		cmocka_unit_test(the_radius_is_what_may_be_shifted),
		cmocka_unit_test(quantize_saturates_whatever_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
