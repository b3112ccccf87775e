/* SPDX-License-Identifier: MIT */
/* Fixed-point arithmetic of quantised operators. */
#ifndef RUNTIME_TFLITE_FIXED_POINT_H
#define RUNTIME_TFLITE_FIXED_POINT_H

/*
 * Numbers are integers of 32 bits with some integer bits behind the sign, the rest being the fraction. All that is
 * lost is rounded, a half away from zero, as in the reference kernels of TensorFlow Lite: results are equal to
 * theirs, bit for bit.
 */

#include <stdbool.h>
#include <stdint.h>

/**
 * struct fixed_scale - a factor: @multiplier / 2^31 * 2^@shift
 * @multiplier: 2^30 to 2^31 - 1; 0 for a factor that is too small
 * @shift: -31 to 31
 */
struct fixed_scale {
	int32_t multiplier;
	int32_t shift;
};

/** fixed_scale_of - the nearest to a factor; false for one that is negative, not finite, or 2^31 and more */
bool fixed_scale_of(double factor, struct fixed_scale *out);

/** fixed_scale_apply - @x times a factor, rounded twice; @x * 2^shift has 32 bits */
int32_t fixed_scale_apply(int32_t x, const struct fixed_scale *s);

/** fixed_multiply - upper half of the doubled product, saturated: the integer bits of both add up */
int32_t fixed_multiply(int32_t a, int32_t b);

/** fixed_shift_right - @x / 2^@n, 0 to 63 */
int32_t fixed_shift_right(int32_t x, int n);

/** fixed_shift_left - @x * 2^@n, saturated; 0 to 30 */
int32_t fixed_shift_left(int32_t x, int n);

/** fixed_exp - e^@x for @x of 0 or less with @integer_bits; the result has none, and its largest value stands for 1 */
int32_t fixed_exp(int32_t x, int integer_bits);

/** fixed_one_over_one_plus - 1 / (1 + @x) for 0 <= @x < 1; both without integer bits */
int32_t fixed_one_over_one_plus(int32_t x);

/** fixed_input_radius - the largest input that does not saturate when it is shifted left by @shift */
int32_t fixed_input_radius(int integer_bits, int shift);

#endif /* RUNTIME_TFLITE_FIXED_POINT_H */
