/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_COMPARE_H
#define TOOLS_TENSOR_COMPARE_H

/**
 * DOC: how far apart two tensors are
 *
 * Element by element, |got - want| <= atol + rtol * |want|, as numpy's allclose(). Two NaNs are equal,
 * as are two infinities of one sign; either beside any other number is a difference without bound.
 * Integers are subtracted exactly, whatever their size.
 */

#include <stdio.h>

#include "tools/tensor/element.h"

/* when nothing is said: of real numbers as numpy.isclose(); integers and bools must be equal */
#define COMPARE_RTOL 1e-5
#define COMPARE_ATOL 1e-8

/**
 * struct tolerance - how far apart is still equal
 * @rtol: relative to the expected number
 * @atol: absolute
 * @rtol_given: the user named it; else it is 0 for integers
 * @atol_given: likewise
 */
struct tolerance {
	double rtol, atol;
	bool rtol_given, atol_given;
};

/**
 * struct comparison - what came out
 * @equal: all within the tolerance, and of one type
 * @mismatch: what forbids comparing ("shape 2x3 …"); empty when the elements were compared
 * @elements: elements compared, lanes counted one by one
 * @differing: how many were too far apart
 * @absolute: largest absolute difference, infinite beside NaN and infinity
 * @relative: largest difference relative to the expected number
 * @first: number of the first that was too far apart
 * @got: that element, as text
 * @want: and what was expected
 */
struct comparison {
	bool equal;
	char mismatch[256];
	uint64_t elements;
	uint64_t differing;
	double absolute;
	double relative;
	uint64_t first;
	char got[ELEMENT_TEXT];
	char want[ELEMENT_TEXT];
};

/** compare_tensors - compare two tensors in CPU memory */
void compare_tensors(const DLTensor *got, const DLTensor *want, const struct tolerance *t,
		     struct comparison *out);

/** compare_values - compare a returned value with an expected one: numbers, texts, shapes, None, tensors */
void compare_values(const struct tenon_value *got, const struct tenon_value *want,
		    const struct tolerance *t, struct comparison *out);

/** compare_print - write the outcome as text, without a final newline */
void compare_print(const struct comparison *c, FILE *out);

#endif /* TOOLS_TENSOR_COMPARE_H */
