/* SPDX-License-Identifier: MIT */
/*
 * Structs of the foreign ABIs; layout.c checks every offset. Outside runtime/library only executors
 * use them, to call functions of the older convention directly.
 */
#ifndef RUNTIME_LIBRARY_TVM_TYPES_H
#define RUNTIME_LIBRARY_TVM_TYPES_H

#include <tenon/backend/parallel.h>
#include <tenon/function.h>

#include "runtime/core/type.h"

/* TVMFFICustomAllocator: each block is preceded by the address of its free function. */
struct ffi_allocator {
	void *(*allocate)(size_t size, size_t align, int32_t type, void *context);
	void *context;
};

/* TVMFFITypeAttrColumn; with @begin 0 also the older form, which had one size_t here. */
struct ffi_column {
	const struct tenon_value *data;
	int32_t size;
	int32_t begin;
};

/* DLPackManagedTensorAllocator */
typedef int (*ffi_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **out,
				    void *context,
				    void (*set_error)(void *context, const char *kind,
						      const char *message));

/* TVMValue */
union legacy_value {
	int64_t integer;
	double real;
	void *pointer;
	const char *string;
	DLDataType dtype;
	DLDevice device;
};

/* type codes of union legacy_value */
enum legacy_code {
	LEGACY_INT = 0,
	LEGACY_UINT = 1,
	LEGACY_FLOAT = 2,
	LEGACY_POINTER = 3,
	LEGACY_NULL = 4,
	LEGACY_DTYPE = 5,
	LEGACY_DEVICE = 6,
	LEGACY_DLTENSOR = 7,
	LEGACY_OBJECT = 8,
	LEGACY_MODULE = 9,
	LEGACY_FUNCTION = 10,
	LEGACY_STRING = 11,
	LEGACY_BYTES = 12,
	LEGACY_NDARRAY = 13,
	LEGACY_RVALUE_REF = 14,
	LEGACY_BOOL = 15, /* 0.18 and later */
};

/* a compiled function of 0.8 to 0.20 */
typedef int (*legacy_fn)(union legacy_value *args, int *codes, int count, union legacy_value *ret,
			 int *ret_code, void *resource);

extern const struct tenon_slice abi_no_text;

/* returned for an unregistered index, because foreign code dereferences the result unchecked */
extern const struct type_info abi_unknown_type;

/* Foreign code knows 0 and -1; older C++ headers give -2 a meaning of its own. */
static inline int ffi_result(int err)
{
	return err ? -1 : 0;
}

#endif /* RUNTIME_LIBRARY_TVM_TYPES_H */
