/* SPDX-License-Identifier: MIT */
/* Printing tensors and values. */
#ifndef TOOLS_TENSOR_PRINT_H
#define TOOLS_TENSOR_PRINT_H

#include <stdio.h>
#include <tenon/buffer.h>
#include <tenon/dlpack.h>
#include <tenon/value.h>

/*
 * A tensor of up to this many numbers is printed in full, a larger one by its first three and last.
 */
#define PRINT_WHOLE 16

/**
 * print_tensor - write "2x3xfloat32 = [[1 2 3] [4 5 6]]", without a newline
 * @dl: any tensor; outside CPU memory only its type is printed
 * @out: output stream
 *
 * Numbers of a tensor printed in full are exact; those of a shortened one have three digits.
 */
void print_tensor(const DLTensor *dl, FILE *out);

/* limit on the elements that print_top() lists */
#define PRINT_TOP_MOST 64

/**
 * print_top - list the largest elements of a tensor, one per line, with their indices
 * @dl: a tensor in CPU memory; unordered numbers (NaN, complex) are skipped
 * @most: number of elements; equal ones are listed by index
 * @names: names of the places along the last dimension, one a line; empty for none
 * @out: output stream
 */
void print_top(const DLTensor *dl, size_t most, struct tenon_slice names, FILE *out);

/** print_top_names - how many names a tensor has places for: the extent of its last dimension */
uint64_t print_top_names(const DLTensor *dl);

/**
 * print_value - write any value on one line, without a newline
 * @value: None, a number, a text, bytes, tensor, shape, array, map, module, function, any object
 * @out: output stream
 */
void print_value(const struct tenon_value *value, FILE *out);

#endif /* TOOLS_TENSOR_PRINT_H */
