/* SPDX-License-Identifier: MIT */
/* Compare results with expected ones. */
#ifndef TOOLS_TENSOR_COMPARE_H
#define TOOLS_TENSOR_COMPARE_H

/*
 * Elements are equal if |got - want| <= atol + rtol * |want|, as in numpy's allclose(). Two NaNs
 * are equal, as are two infinities of one sign; NaN or infinity differs infinitely from other
 * numbers. Integers are subtracted exactly, whatever their size.
 */

#include <stdio.h>

#include "tools/tensor/element.h"

/* defaults: for real numbers those of numpy.isclose(); integers and bools must be equal */
#define COMPARE_RTOL 1e-5
#define COMPARE_ATOL 1e-8

/**
 * struct tolerance - largest difference that counts as equal
 * @rtol: relative to the expected number
 * @atol: absolute
 * @rtol_given: set by the user; otherwise 0 for integers
 * @atol_given: set by the user; otherwise 0 for integers
 */
struct tolerance {
	double rtol, atol;
	bool rtol_given, atol_given;
};

/**
 * struct comparison - result of a comparison
 * @equal: all within the tolerance, and of one type
 * @mismatch: why elements were not compared ("shape 2x3 …"); empty when the elements were compared
 * @elements: number of elements compared, counting lanes
 * @differing: number of elements beyond the tolerance
 * @absolute: largest absolute difference, infinite for NaN and infinity
 * @relative: largest difference relative to the expected number
 * @first: index of the first element beyond the tolerance
 * @got: that element, as text
 * @want: the expected element, as text
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

/** compare_values - compare a returned value of any type with an expected one */
void compare_values(const struct tenon_value *got, const struct tenon_value *want,
		    const struct tolerance *t, struct comparison *out);

/** compare_print - write the result as text, without a final newline */
void compare_print(const struct comparison *c, FILE *out);

#endif /* TOOLS_TENSOR_COMPARE_H */
