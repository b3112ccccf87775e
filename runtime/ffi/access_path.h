/* SPDX-License-Identifier: MIT */
/* Paths of accesses, which say where in nested objects two values differ. */
#ifndef RUNTIME_FFI_ACCESS_PATH_H
#define RUNTIME_FFI_ACCESS_PATH_H

#include "runtime/ffi/ffi.h"

enum ffi_access {
	ACCESS_ATTR = 0,
	ACCESS_ITEM = 1,
	ACCESS_MAP_ITEM = 2,
	ACCESS_ATTR_MISSING = 3,
	ACCESS_ITEM_MISSING = 4,
	ACCESS_MAP_ITEM_MISSING = 5,
};

/* Make the path to a value itself. Return: the path; NULL with an error raised. */
struct tenon_object *ffi_access_root(void);

/* Make a path with one step more; @path keeps its reference. Return: the path; NULL with an error raised. */
struct tenon_object *ffi_access_extend(struct tenon_object *path, enum ffi_access kind,
				       const struct tenon_value *key);

#endif /* RUNTIME_FFI_ACCESS_PATH_H */
