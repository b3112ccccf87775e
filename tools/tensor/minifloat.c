/* SPDX-License-Identifier: MIT */
/* Decode and encode small floating-point formats by integer arithmetic. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tools/tensor/minifloat.h"

enum specials {
	IEEE,	       /* exponent of all ones: infinity or NaN */
	ONE_NAN,       /* all bits one is NaN; no infinity */
	UNSIGNED_ZERO, /* the code of -0 is NaN; no infinity */
	FINITE,	       /* every code is a number */
	EXPONENT_ONLY, /* no sign, mantissa or zero; all ones is NaN */
};

struct minifloat {
	uint8_t code, bits;
	uint8_t exponent, mantissa; /* bits of each */
	int8_t bias;
	enum specials specials;
};

static const struct minifloat formats[] = {
	{ TENON_DTYPE_FLOAT, 16, 5, 10, 15, IEEE },
	{ TENON_DTYPE_BFLOAT, 16, 8, 7, 127, IEEE },
	{ TENON_DTYPE_FLOAT8_E3M4, 8, 3, 4, 3, IEEE },
	{ TENON_DTYPE_FLOAT8_E4M3, 8, 4, 3, 7, IEEE },
	{ TENON_DTYPE_FLOAT8_E4M3B11FNUZ, 8, 4, 3, 11, UNSIGNED_ZERO },
	{ TENON_DTYPE_FLOAT8_E4M3FN, 8, 4, 3, 7, ONE_NAN },
	{ TENON_DTYPE_FLOAT8_E4M3FNUZ, 8, 4, 3, 8, UNSIGNED_ZERO },
	{ TENON_DTYPE_FLOAT8_E5M2, 8, 5, 2, 15, IEEE },
	{ TENON_DTYPE_FLOAT8_E5M2FNUZ, 8, 5, 2, 16, UNSIGNED_ZERO },
	{ TENON_DTYPE_FLOAT8_E8M0FNU, 8, 8, 0, 127, EXPONENT_ONLY },
	{ TENON_DTYPE_FLOAT6_E2M3FN, 6, 2, 3, 1, FINITE },
	{ TENON_DTYPE_FLOAT6_E3M2FN, 6, 3, 2, 3, FINITE },
	{ TENON_DTYPE_FLOAT4_E2M1FN, 4, 2, 1, 1, FINITE },
};

const struct minifloat *minifloat_of(DLDataType dtype)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].code == dtype.code && formats[i].bits == dtype.bits)
			return &formats[i];
	}
	return NULL;
}

static uint32_t sign_of(const struct minifloat *f)
{
	return f->specials == EXPONENT_ONLY ? 0 : 1u << (f->exponent + f->mantissa);
}

static uint32_t all_ones(const struct minifloat *f)
{
	return (1u << (f->exponent + f->mantissa)) - 1;
}

static uint32_t infinity_of(const struct minifloat *f)
{
	return ((1u << f->exponent) - 1) << f->mantissa;
}

static uint32_t largest_of(const struct minifloat *f)
{
	switch (f->specials) {
	case IEEE:
		return infinity_of(f) - 1;
	case ONE_NAN:
	case EXPONENT_ONLY:
		return all_ones(f) - 1;
	default:
		return all_ones(f);
	}
}

static bool is_nan(const struct minifloat *f, uint32_t code)
{
	uint32_t magnitude = code & all_ones(f);

	switch (f->specials) {
	case IEEE:
		return magnitude > infinity_of(f);
	case ONE_NAN:
	case EXPONENT_ONLY:
		return magnitude == all_ones(f);
	case UNSIGNED_ZERO:
		return code == sign_of(f);
	default:
		return false;
	}
}

static double magnitude_of(const struct minifloat *f, uint32_t magnitude)
{
	uint32_t fraction = magnitude & ((1u << f->mantissa) - 1);
	int exponent = (int)(magnitude >> f->mantissa);

	if (f->specials == EXPONENT_ONLY)
		return ldexp(1.0, exponent - f->bias);
	if (!exponent)
		return ldexp(fraction, 1 - f->bias - f->mantissa);
	return ldexp(fraction + (1u << f->mantissa), exponent - f->bias - f->mantissa);
}

double minifloat_decode(const struct minifloat *f, uint32_t code)
{
	uint32_t magnitude = code & all_ones(f);
	double value;

	if (is_nan(f, code))
		return NAN;
	if (f->specials == IEEE && magnitude == infinity_of(f))
		value = INFINITY;
	else
		value = magnitude_of(f, magnitude);
	return code & sign_of(f) ? -value : value;
}

static uint32_t nan_of(const struct minifloat *f, uint32_t sign)
{
	switch (f->specials) {
	case IEEE:
		return sign | infinity_of(f) | 1u << (f->mantissa - 1);
	case ONE_NAN:
		return sign | all_ones(f);
	case EXPONENT_ONLY:
		return all_ones(f);
	default:
		return sign_of(f);
	}
}

static uint32_t beyond(const struct minifloat *f, uint32_t sign)
{
	if (f->specials == IEEE)
		return sign | infinity_of(f);
	if (f->specials == FINITE)
		return sign | largest_of(f);
	return nan_of(f, sign);
}

/* Compute m * 2^-shift, rounded to nearest, ties to even. */
static uint64_t shift_rounded(uint64_t m, int shift)
{
	uint64_t q, rest, half;

	if (shift > 60)
		return 0;
	q = m >> shift;
	half = UINT64_C(1) << (shift - 1);
	rest = m & (2 * half - 1);
	return q + (rest > half || (rest == half && (q & 1)));
}

static uint32_t encode_exponent(const struct minifloat *f, double value)
{
	int exponent;
	double fraction = frexp(value, &exponent); /* [0.5, 1) */
	int code = exponent - 1 + f->bias;

	if (!(value > 0))
		return all_ones(f);
	/* Half way between two powers round up, as other implementations of this format do. */
	if (fraction >= 0.75)
		code++;
	if (code < 0)
		return 0;
	return (uint32_t)code < all_ones(f) ? (uint32_t)code : all_ones(f);
}

uint32_t minifloat_encode(const struct minifloat *f, double value)
{
	uint64_t bits, mantissa, code;
	int power, lowest = 1 - f->bias, steps;
	uint32_t sign;

	memcpy(&bits, &value, sizeof(bits));
	sign = bits >> 63 ? sign_of(f) : 0;
	if (isnan(value))
		return nan_of(f, sign);
	if (isinf(value))
		return beyond(f, sign);
	if (f->specials == EXPONENT_ONLY)
		return encode_exponent(f, value);

	/* value = mantissa * 2^(power - 52); subnormal doubles are 0 in all formats */
	power = (int)(bits >> 52 & 0x7ff) - 1023;
	mantissa = power == -1023 ? 0 : (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	steps = power < lowest ? 0 : power - lowest;
	code = ((uint64_t)steps << f->mantissa) +
	       shift_rounded(mantissa, lowest + steps - power + 52 - f->mantissa);
	if (code > largest_of(f))
		return beyond(f, sign);
	if (!code && f->specials == UNSIGNED_ZERO)
		return 0;
	return sign | (uint32_t)code;
}

double minifloat_largest(const struct minifloat *f)
{
	return magnitude_of(f, largest_of(f));
}

bool minifloat_has_infinity(const struct minifloat *f)
{
	return f->specials == IEEE;
}

bool minifloat_has_nan(const struct minifloat *f)
{
	return f->specials != FINITE;
}
