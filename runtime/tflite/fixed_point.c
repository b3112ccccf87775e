/* SPDX-License-Identifier: MIT */
/* Multiply, shift and exponentiate in fixed point, rounded as the reference does. */
#include "runtime/tflite/fixed_point.h"

#include <math.h>

/* 1.0 and 0.125 as numbers without integer bits: the largest number stands for 1.0 */
#define ONE    INT32_MAX
#define EIGHTH (INT32_C(1) << 28)

/* powers of two of factors */
#define SHIFT_LEAST (-31)
#define SHIFT_MOST  31

/* Sums of numbers that are in range do not overflow; those of hostile files may wrap around. */
static int32_t add(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t subtract(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a - (uint32_t)b);
}

int32_t fixed_multiply(int32_t a, int32_t b)
{
	const int64_t product = (int64_t)a * b;
	const int64_t nudge = product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);

	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	/* the quotient is cut towards zero */
	return (int32_t)((product + nudge) / (INT64_C(1) << 31));
}

int32_t fixed_shift_right(int32_t x, int n)
{
	const int64_t half = n ? INT64_C(1) << (n - 1) : 0;
	const int64_t size = x < 0 ? -(int64_t)x : x;
	const int64_t shifted = (size + half) >> n;

	return (int32_t)(x < 0 ? -shifted : shifted);
}

int32_t fixed_shift_left(int32_t x, int n)
{
	const int64_t shifted = (int64_t)x * (INT64_C(1) << n);

	if (shifted > INT32_MAX)
		return INT32_MAX;
	return shifted < INT32_MIN ? INT32_MIN : (int32_t)shifted;
}

/* ---- factors */

bool fixed_scale_of(double factor, struct fixed_scale *out)
{
	int64_t multiplier;
	int shift;

	*out = (struct fixed_scale){ 0, 0 };
	if (!isfinite(factor) || factor < 0)
		return false;
	multiplier = (int64_t)round(frexp(factor, &shift) * (double)(INT64_C(1) << 31));
	if (multiplier == INT64_C(1) << 31) {
		multiplier /= 2;
		shift++;
	}
	if (shift > SHIFT_MOST)
		return false;
	if (shift >= SHIFT_LEAST)
		*out = (struct fixed_scale){ (int32_t)multiplier, shift };
	return true;
}

int32_t fixed_scale_apply(int32_t x, const struct fixed_scale *s)
{
	const int left = s->shift > 0 ? s->shift : 0;
	const uint32_t shifted = (uint32_t)x << left;

	return fixed_shift_right(fixed_multiply((int32_t)shifted, s->multiplier), left - s->shift);
}

/* ---- functions */

/* e^@x for -1/4 <= @x < 0, without integer bits: four terms of Taylor's series around -1/8 */
static int32_t exp_of_part(int32_t x)
{
	const int32_t at_centre = 1895147668, third = 715827883;
	const int32_t x1 = add(x, EIGHTH);
	const int32_t x2 = fixed_multiply(x1, x1);
	const int32_t x3 = fixed_multiply(x2, x1);
	const int32_t x4_over_4 = fixed_shift_right(fixed_multiply(x2, x2), 2);
	const int32_t upper = add(fixed_multiply(add(x4_over_4, x3), third), x2);

	return add(at_centre, fixed_multiply(at_centre, add(x1, fixed_shift_right(upper, 1))));
}

int32_t fixed_exp(int32_t x, int integer_bits)
{
	/* e^-1/4, e^-1/2, e^-1 … e^-16 */
	static const int32_t factors[] = { 1672461947, 1302514674, 790015084, 290630308,
					   39332535,   720401,	   242 };
	const int fraction = 31 - integer_bits;
	const int32_t quarter = INT32_C(1) << (fraction - 2);
	int32_t part, rest, result;
	int i;

	if (!x)
		return ONE;
	/* @x is a part of less than a quarter, and a whole number of quarters */
	part = (x & (quarter - 1)) - quarter;
	rest = subtract(part, x);
	result = exp_of_part(fixed_shift_left(part, integer_bits));
	for (i = 0; i < 7 && i - 2 < integer_bits; i++)
		if (rest & INT32_C(1) << (fraction + i - 2))
			result = fixed_multiply(result, factors[i]);
	return result;
}

/* Newton's method, for half of 1 + @x; numbers are of 2 integer bits. */
int32_t fixed_one_over_one_plus(int32_t x)
{
	const int32_t forty_eight_17ths = 1515870810, minus_thirty_two_17ths = -1010580540;
	const int32_t half = (int32_t)(((int64_t)x + ONE + 1) / 2);
	int32_t y = add(forty_eight_17ths, fixed_multiply(half, minus_thirty_two_17ths));
	int32_t rest;
	int i;

	for (i = 0; i < 3; i++) {
		rest = subtract(INT32_C(1) << 29, fixed_multiply(half, y));
		y = add(y, fixed_shift_left(fixed_multiply(y, rest), 2));
	}
	/* half of @y, without integer bits */
	return fixed_shift_left(y, 1);
}

int32_t fixed_input_radius(int integer_bits, int shift)
{
	const double largest = (double)((INT64_C(1) << integer_bits) - 1) *
			       (double)(INT64_C(1) << (31 - integer_bits));

	const double radius = floor(ldexp(largest, -shift));

	return radius < (double)INT32_MAX ? (int32_t)radius : INT32_MAX;
}
