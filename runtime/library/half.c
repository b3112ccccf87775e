/* SPDX-License-Identifier: MIT */
/*
 * Conversions between float16 and float32, which LLVM calls on machines without such instructions.
 * libgcc lacks these names there. Round to nearest, ties to even; NaN stays NaN.
 */
#include <stdint.h>
#include <string.h>

#include "lib/half.h"

#define EXPORT __attribute__((visibility("default"), weak))

EXPORT float __gnu_h2f_ieee(uint16_t half);
EXPORT uint16_t __gnu_f2h_ieee(float value);

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

float __gnu_h2f_ieee(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ff;
	int shift;

	if (exponent == 31)
		return float_of(sign | 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0));
	if (exponent)
		return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
	if (!mantissa)
		return float_of(sign);
	shift = __builtin_clz(mantissa) - 21;
	return float_of(sign | (uint32_t)(113 - shift) << 23 | (mantissa << shift & 0x3ff) << 13);
}

uint16_t __gnu_f2h_ieee(float value)
{
	return half_of(value);
}
