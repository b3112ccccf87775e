/* SPDX-License-Identifier: MIT */
/* Make and change arrays and lists of tvm-ffi. C++ code changes lists in place, so their items are always a block of their own. */
#ifndef RUNTIME_FFI_SEQUENCE_H
#define RUNTIME_FFI_SEQUENCE_H

#include "runtime/ffi/ffi.h"

/*
 * Make an array or a list of copies of values, views or owned.
 *
 * Return: the sequence with one reference; NULL with an error raised.
 */
struct tenon_array *ffi_sequence_create(int32_t type, const struct tenon_value *items,
					int64_t count);

/* Make room for @count items in all. Return: 0; -1. */
int ffi_sequence_reserve(struct tenon_array *s, int64_t count);

/* Append a copy of a value. Return: 0; -1. */
int ffi_sequence_append(struct tenon_array *s, const struct tenon_value *item);

void ffi_sequence_reverse(struct tenon_array *s);

/* Replace items [@from, @to) by copies of @count values. Return: 0; -1. */
int ffi_sequence_replace(struct tenon_array *s, int64_t from, int64_t to,
			 const struct tenon_value *items, int64_t count);

#endif /* RUNTIME_FFI_SEQUENCE_H */
