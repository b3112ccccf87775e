/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_MINIFLOAT_H
#define TOOLS_TENSOR_MINIFLOAT_H

/**
 * DOC: floating-point formats of 16 bits and fewer
 *
 * C has no types for them on every system, so they are read and rounded here, by integer arithmetic
 * alone: the result does not depend on the rounding mode that some compiled function left behind.
 */

#include <stdbool.h>
#include <tenon/dlpack.h>

struct minifloat;

/**
 * minifloat_of - the format behind a dtype
 * @dtype: any dtype; its lanes do not matter
 *
 * Return: float16, bfloat16, or a format of 8, 6 or 4 bits; NULL for every other dtype.
 */
const struct minifloat *minifloat_of(DLDataType dtype);

/** minifloat_decode - the number that a code stands for; exact */
double minifloat_decode(const struct minifloat *format, uint32_t code);

/**
 * minifloat_encode - the code nearest to a number, ties to the even code
 * @format: format
 * @value: any double
 *
 * A value above the largest number becomes infinity; if the format has none NaN; if it has neither
 * the largest number.
 *
 * Return: the code, in the low bits.
 */
uint32_t minifloat_encode(const struct minifloat *format, double value);

/** minifloat_largest - the largest finite number of a format */
double minifloat_largest(const struct minifloat *format);
/** minifloat_has_infinity - has the format infinities */
bool minifloat_has_infinity(const struct minifloat *format);
/** minifloat_has_nan - has the format a NaN */
bool minifloat_has_nan(const struct minifloat *format);

#endif /* TOOLS_TENSOR_MINIFLOAT_H */
