/* SPDX-License-Identifier: MIT */
/* Convert numbers to float16 and back, by integer arithmetic. */
#ifndef LIB_HALF_H
#define LIB_HALF_H

#include <stdint.h>
#include <string.h>

/**
 * half_of - the float16 nearest to a number, ties to even, by integer arithmetic alone
 * @value: any double; NaN stays NaN, with the upper bits of its payload
 *
 * Inline, since the compatibility library, which does not link libtenon, exports it to LLVM's code.
 *
 * Context: any thread; does not depend on the rounding mode.
 * Return: the bits of the float16.
 */
static inline uint16_t half_of(double value)
{
	uint64_t bits, mantissa, kept, rest, middle;
	uint16_t sign;
	int exponent, shift;

	memcpy(&bits, &value, sizeof(bits));
	sign = (uint16_t)(bits >> 48 & 0x8000);
	exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	mantissa = bits & ((UINT64_C(1) << 52) - 1);
	if (exponent == 1024)
		return (uint16_t)(sign | 0x7c00 | mantissa >> 42 | (mantissa ? 0x200 : 0));
	if (exponent < -25)
		return sign;
	mantissa |= UINT64_C(1) << 52;
	/* subnormal halves keep fewer bits */
	shift = exponent < -14 ? 42 + (-14 - exponent) : 42;
	kept = mantissa >> shift;
	rest = mantissa & ((UINT64_C(1) << shift) - 1);
	middle = UINT64_C(1) << (shift - 1);
	if (rest > middle || (rest == middle && (kept & 1)))
		kept++;
	/* the leading one of a normal number, and a carry of rounding, go into the exponent */
	if (exponent >= -14)
		kept += (uint64_t)(exponent + 14) << 10;
	return (uint16_t)(sign | (kept >= 0x7c00 ? 0x7c00 : kept));
}

/** half_to_float - the number that a float16 is; a NaN keeps its payload */
static inline float half_to_float(uint16_t half)
{
	const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ff, bits;
	float value;

	if (exponent == 31) {
		exponent = 255;
	} else if (exponent) {
		exponent += 127 - 15;
	} else if (mantissa) {
		/* subnormal: shift until the leading one is in front of the mantissa */
		exponent = 127 - 14;
		for (; !(mantissa & 0x400); mantissa <<= 1)
			exponent--;
		mantissa &= 0x3ff;
	}
	bits = sign | exponent << 23 | mantissa << 13;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif /* LIB_HALF_H */
