/* SPDX-License-Identifier: MIT */
/* Bytes in JSON: base64, as tvm-ffi writes it. */
#ifndef RUNTIME_FFI_BASE64_H
#define RUNTIME_FFI_BASE64_H

#include "runtime/ffi/ffi.h"

/* Encode bytes as a string. Return: 0; -1 with an error raised. */
int ffi_base64_encode(struct tenon_slice bytes, struct tenon_value *out);

/* Decode a string to bytes. Return: 0; -1 with an error raised. */
int ffi_base64_decode(struct tenon_slice text, struct tenon_value *out);

#endif /* RUNTIME_FFI_BASE64_H */
