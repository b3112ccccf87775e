/* SPDX-License-Identifier: MIT */
/* JSON as values: arrays, and maps with strings as keys. Numbers may be NaN, Infinity and -Infinity. */
#ifndef RUNTIME_FFI_JSON_H
#define RUNTIME_FFI_JSON_H

#include "runtime/ffi/ffi.h"

/* Read JSON. Return: 0; -1 with an error raised that says where the text is wrong. */
int ffi_json_parse(struct tenon_slice text, struct tenon_value *out);

/*
 * Write a value as JSON.
 * @indent: spaces for each level; 0 for one line
 *
 * Return: 0; -1 with an error raised.
 */
int ffi_json_write(const struct tenon_value *v, int indent, struct tenon_value *out);

#endif /* RUNTIME_FFI_JSON_H */
