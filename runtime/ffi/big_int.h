/* SPDX-License-Identifier: MIT */
/* Integers of more than 64 bits: words in two's complement, the least significant first. */
#ifndef RUNTIME_FFI_BIG_INT_H
#define RUNTIME_FFI_BIG_INT_H

#include "runtime/ffi/ffi.h"

struct big_int {
	struct tenon_object object;
	size_t size; /* number of words; at least 2, and no more than the number needs */
	int64_t word[];
};

/* Compare two integers of either kind. Return: negative, 0, positive. */
int big_int_compare(const struct tenon_value *a, const struct tenon_value *b);

/* Write an integer's decimal digits. Return: text for free(); NULL if out of memory. */
char *big_int_text(const struct tenon_value *v);

/* Read decimal digits, with a sign if any. Return: 0; -1 with an error raised. */
int big_int_parse(struct tenon_slice text, struct tenon_value *out);

#endif /* RUNTIME_FFI_BIG_INT_H */
