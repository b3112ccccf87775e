/* SPDX-License-Identifier: MIT */
/* Floating-point formats of 16 bits and fewer. */
#ifndef TOOLS_TENSOR_MINIFLOAT_H
#define TOOLS_TENSOR_MINIFLOAT_H

/*
 * Not every C compiler has types for them, so they are decoded and rounded with integer arithmetic.
 * The result does not depend on the rounding mode, which a compiled function may have changed.
 */

#include <stdbool.h>
#include <tenon/dlpack.h>

struct minifloat;

/**
 * minifloat_of - get the format of a dtype
 * @dtype: any dtype; its lanes are ignored
 *
 * Return: float16, bfloat16, or a format of 8, 6 or 4 bits; NULL for every other dtype.
 */
const struct minifloat *minifloat_of(DLDataType dtype);

/** minifloat_decode - exact value of a code */
double minifloat_decode(const struct minifloat *format, uint32_t code);

/**
 * minifloat_encode - round a number to the nearest code, ties to even
 * @format: format
 * @value: any double
 *
 * A value above the largest number becomes infinity, or NaN if the format has no infinity, or the
 * largest number if it has neither.
 *
 * Return: the code, in the low bits.
 */
uint32_t minifloat_encode(const struct minifloat *format, double value);

/** minifloat_largest - the largest finite number of a format */
double minifloat_largest(const struct minifloat *format);
/** minifloat_has_infinity - test whether the format has infinities */
bool minifloat_has_infinity(const struct minifloat *format);
/** minifloat_has_nan - test whether the format has a NaN */
bool minifloat_has_nan(const struct minifloat *format);

#endif /* TOOLS_TENSOR_MINIFLOAT_H */
