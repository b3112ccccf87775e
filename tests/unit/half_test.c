/* SPDX-License-Identifier: MIT */
/* Conversions between float16 and float32 are exact, or rounded to nearest even. */
#include "suite.h"

float __gnu_h2f_ieee(uint16_t half);
uint16_t __gnu_f2h_ieee(float value);

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static void every_half_survives_the_way_there_and_back(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 65536; i++) {
		if ((i & 0x7c00) == 0x7c00 && (i & 0x3ff))
			continue;
		assert_int_equal(__gnu_f2h_ieee(__gnu_h2f_ieee((uint16_t)i)), i);
	}
}

static void known_halves_have_their_values(void **state)
{
	(void)state;
	assert_true(__gnu_h2f_ieee(0x3c00) == 1.0f);
	assert_true(__gnu_h2f_ieee(0xc000) == -2.0f);
	assert_true(__gnu_h2f_ieee(0x7bff) == 65504.0f);
	assert_true(__gnu_h2f_ieee(0x0001) == 0x1p-24f);
	assert_true(__gnu_h2f_ieee(0x03ff) == 0x1.ff8p-15f);
	assert_int_equal(bits_of(__gnu_h2f_ieee(0x8000)), 0x80000000);
	assert_int_equal(bits_of(__gnu_h2f_ieee(0xfc00)), 0xff800000);
}

static void rounding_is_to_nearest_and_ties_go_to_even(void **state)
{
	(void)state;
	assert_int_equal(__gnu_f2h_ieee(0x1.002p0f), 0x3c00);	   /* half way: down to even */
	assert_int_equal(__gnu_f2h_ieee(0x1.006p0f), 0x3c02);	   /* half way: up to even */
	assert_int_equal(__gnu_f2h_ieee(0x1.00200001p0f), 0x3c00); /* not representable: the tie */
	assert_int_equal(__gnu_f2h_ieee(0x1.002002p0f), 0x3c01);
	assert_int_equal(__gnu_f2h_ieee(65519.0f), 0x7bff);
	assert_int_equal(__gnu_f2h_ieee(65520.0f), 0x7c00);
	assert_int_equal(__gnu_f2h_ieee(1e10f), 0x7c00);
	assert_int_equal(__gnu_f2h_ieee(-1e10f), 0xfc00);
	assert_int_equal(__gnu_f2h_ieee(0x1p-25f), 0);
	assert_int_equal(__gnu_f2h_ieee(0x1.000002p-25f), 1);
	assert_int_equal(__gnu_f2h_ieee(-0x1p-26f), 0x8000);
	assert_int_equal(__gnu_f2h_ieee(0x1.ffffp-15f), 0x0400); /* into the normal numbers */
}

static void what_is_no_number_stays_none(void **state)
{
	uint16_t h = __gnu_f2h_ieee(float_of(0x7f800001));
	float f = __gnu_h2f_ieee(0x7c01);

	(void)state;
	assert_true((h & 0x7c00) == 0x7c00 && (h & 0x3ff));
	assert_true(f != f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_half_survives_the_way_there_and_back),
		cmocka_unit_test(known_halves_have_their_values),
		cmocka_unit_test(rounding_is_to_nearest_and_ties_go_to_even),
		cmocka_unit_test(what_is_no_number_stays_none),
	};

	return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
