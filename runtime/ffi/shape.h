/* SPDX-License-Identifier: MIT */
/* Shapes: integers in a row that never change. */
#ifndef RUNTIME_FFI_SHAPE_H
#define RUNTIME_FFI_SHAPE_H

#include "runtime/ffi/ffi.h"

/* Make a shape of values, which must be integers. Return: 0; -1 with an error raised. */
int ffi_shape_create(const struct tenon_value *items, size_t count, struct tenon_value *out);

uint64_t ffi_shape_hash(const struct tenon_shape *s);

#endif /* RUNTIME_FFI_SHAPE_H */
