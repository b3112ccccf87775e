/* SPDX-License-Identifier: MIT */
/* Arithmetic that the int8 kernels share. */
#ifndef FIRMWARE_KERNELS_INT8_H
#define FIRMWARE_KERNELS_INT8_H

#include <stdint.h>

/**
 * struct int8_scale - how sums become int8; lies in memory, as an argument
 * @multiplier: 1 to 2^31 - 1
 * @shift: 1 to 62
 * @zero: zero point of the result
 * @least: results below become this
 * @most: results above become this
 */
struct int8_scale {
	int32_t multiplier;
	int32_t shift;
	int32_t zero;
	int32_t least;
	int32_t most;
};

/* zero + sum * multiplier / 2^shift, rounded half up: the arithmetic of struct mortise_gemm */
static inline int8_t int8_scaled(const struct int8_scale *s, int32_t sum)
{
	int64_t scaled = (int64_t)sum * s->multiplier;

	scaled = ((scaled + ((int64_t)1 << (s->shift - 1))) >> s->shift) + s->zero;
	if (scaled < s->least)
		return (int8_t)s->least;
	return (int8_t)(scaled > s->most ? s->most : scaled);
}

#endif /* FIRMWARE_KERNELS_INT8_H */
