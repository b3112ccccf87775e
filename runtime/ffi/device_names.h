/* SPDX-License-Identifier: MIT */
/* Names of device types, as tvm-ffi prints them. */
#ifndef RUNTIME_FFI_DEVICE_NAMES_H
#define RUNTIME_FFI_DEVICE_NAMES_H

/* Name of a type of device, such as "cuda"; "unknown" for others. */
const char *ffi_device_name(int type);

#endif /* RUNTIME_FFI_DEVICE_NAMES_H */
