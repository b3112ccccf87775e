/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_PRINT_H
#define TOOLS_TENSOR_PRINT_H

/** DOC: tensors and values, printed for people */

#include <stdio.h>
#include <tenon/dlpack.h>
#include <tenon/value.h>

/* a tensor of so many numbers is printed whole, a larger one by its first three and its last */
#define PRINT_WHOLE 16

/**
 * print_tensor - write "2x3xfloat32 = [[1 2 3] [4 5 6]]", without a newline
 * @dl: any tensor; one that is not in CPU memory is named only
 * @out: where to
 *
 * Numbers printed whole are unmistakable; those of a shortened tensor have three digits.
 */
void print_tensor(const DLTensor *dl, FILE *out);

/* as many as print_top() lists at most */
#define PRINT_TOP_MOST 64

/**
 * print_top - list the largest elements of a tensor, one a line, with their places in it
 * @dl: a tensor in CPU memory; numbers without an order (NaN, complex) are passed over
 * @most: how many; the first of equal ones come first
 * @out: where to
 */
void print_top(const DLTensor *dl, size_t most, FILE *out);

/**
 * print_value - write any value on one line, without a newline
 * @value: None, a number, a text, bytes, tensor, shape, array, map, module, function, any object
 * @out: where to
 */
void print_value(const struct tenon_value *value, FILE *out);

#endif /* TOOLS_TENSOR_PRINT_H */
