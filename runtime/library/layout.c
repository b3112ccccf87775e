/* SPDX-License-Identifier: MIT */
/* Compile-time checks of every offset that the ABIs fix. */
#include <assert.h>
#include <stddef.h>
#include <tenon/array.h>
#include <tenon/backend/parallel.h>
#include <tenon/module.h>
#include <tenon/tensor.h>

#include "runtime/library/tvm_types.h"

#define AT(type, member, offset)                                                                   \
	static_assert(offsetof(type, member) == (offset), #type "." #member " lies at " #offset)
#define SIZE(type, size) static_assert(sizeof(type) == (size), #type " has " #size " bytes")

/* Only the sizes of pointers and lengths depend on the machine. */
#define P sizeof(void *)

/* values and objects */
SIZE(struct tenon_value, 16);
static_assert(_Alignof(struct tenon_value) == 8 || P == 4, "struct tenon_value is aligned to 8");
AT(struct tenon_value, type, 0);
AT(struct tenon_value, small_size, 4);
AT(struct tenon_value, as, 8);
SIZE(struct tenon_slice, 2 * P);
AT(struct tenon_slice, data, 0);
AT(struct tenon_slice, size, P);
SIZE(struct tenon_object, 24);
AT(struct tenon_object, refs, 0);
AT(struct tenon_object, type, 8);
AT(struct tenon_object, reserved, 12);
AT(struct tenon_object, deleter, 16);

/* cells after the object header */
SIZE(struct tenon_string, 24 + 2 * P);
AT(struct tenon_string, data, 24);
AT(struct tenon_string, size, 24 + P);
SIZE(struct tenon_shape, 24 + 2 * P);
AT(struct tenon_shape, data, 24);
AT(struct tenon_shape, size, 24 + P);
SIZE(struct tenon_function, 24 + 2 * P);
AT(struct tenon_function, call, 24);
AT(struct tenon_function, cpp_call, 24 + P);
AT(struct tenon_tensor, dl, 24);
AT(struct tenon_error, kind, 24);
AT(struct tenon_error, message, 24 + 2 * P);
AT(struct tenon_error, backtrace, 24 + 4 * P);
AT(struct tenon_error, update_backtrace, 24 + 6 * P);
AT(struct tenon_error, cause, 24 + 7 * P);
AT(struct tenon_error, extra, 24 + 8 * P);
AT(struct tenon_array, data, 24);
AT(struct tenon_map, data, 24);

/* type indices */
static_assert(TENON_TYPE_NONE == 0 && TENON_TYPE_INT == 1 && TENON_TYPE_BOOL == 2 &&
		      TENON_TYPE_FLOAT == 3 && TENON_TYPE_POINTER == 4 && TENON_TYPE_DTYPE == 5 &&
		      TENON_TYPE_DEVICE == 6 && TENON_TYPE_DLTENSOR == 7 &&
		      TENON_TYPE_RAW_STRING == 8 && TENON_TYPE_RAW_BYTES == 9 &&
		      TENON_TYPE_RVALUE_REF == 10 && TENON_TYPE_SMALL_STRING == 11 &&
		      TENON_TYPE_SMALL_BYTES == 12,
	      "indices of values");
static_assert(TENON_TYPE_OBJECT == 64 && TENON_TYPE_STRING == 65 && TENON_TYPE_BYTES == 66 &&
		      TENON_TYPE_ERROR == 67 && TENON_TYPE_FUNCTION == 68 &&
		      TENON_TYPE_SHAPE == 69 && TENON_TYPE_TENSOR == 70 && TENON_TYPE_ARRAY == 71 &&
		      TENON_TYPE_MAP == 72 && TENON_TYPE_MODULE == 73 &&
		      TENON_TYPE_OPAQUE_PYTHON == 74 && TENON_TYPE_LIST == 75 &&
		      TENON_TYPE_DICT == 76 && TENON_TYPE_VISIT_INTERRUPT == 77 &&
		      TENON_TYPE_DYNAMIC == 128,
	      "indices of objects");

/* DLPack */
SIZE(DLDevice, 8);
AT(DLDevice, device_type, 0);
AT(DLDevice, device_id, 4);
SIZE(DLDataType, 4);
AT(DLDataType, code, 0);
AT(DLDataType, bits, 1);
AT(DLDataType, lanes, 2);
AT(DLTensor, data, 0);
AT(DLTensor, device, P);
AT(DLTensor, ndim, P + 8);
AT(DLTensor, dtype, P + 12);
AT(DLTensor, shape, P + 16);
AT(DLTensor, strides, 2 * P + 16);
AT(DLManagedTensor, dl_tensor, 0);
AT(DLManagedTensor, manager_ctx, sizeof(DLTensor));
AT(DLManagedTensor, deleter, sizeof(DLTensor) + P);
AT(DLManagedTensorVersioned, version, 0);
AT(DLManagedTensorVersioned, manager_ctx, 8);
AT(DLManagedTensorVersioned, deleter, 8 + P);
AT(DLManagedTensorVersioned, flags, 8 + 2 * P);
AT(DLManagedTensorVersioned, dl_tensor, 16 + 2 * P);

/* parallel loops and the older ABI */
AT(struct tenon_parallel_env, sync, 0);
AT(struct tenon_parallel_env, tasks, P);
SIZE(union legacy_value, 8);

#if UINTPTR_MAX == UINT64_MAX
SIZE(struct tenon_error, 96);
SIZE(struct tenon_array, 56);
AT(struct tenon_array, size, 32);
AT(struct tenon_array, capacity, 40);
AT(struct tenon_array, data_deleter, 48);
SIZE(struct tenon_map, 56);
AT(struct tenon_map, size, 32);
AT(struct tenon_map, slots, 40);
AT(struct tenon_map, data_deleter, 48);
SIZE(DLTensor, 48);
AT(DLTensor, byte_offset, 40);
SIZE(DLManagedTensor, 64);
SIZE(DLManagedTensorVersioned, 80);

SIZE(struct type_info, 72);
AT(struct type_info, index, 0);
AT(struct type_info, depth, 4);
AT(struct type_info, key, 8);
AT(struct type_info, ancestors, 24);
AT(struct type_info, key_hash, 32);
AT(struct type_info, field_count, 40);
AT(struct type_info, method_count, 44);
AT(struct type_info, fields, 48);
AT(struct type_info, methods, 56);
AT(struct type_info, metadata, 64);
AT(struct type_record, info, 0);

SIZE(struct type_field, 120);
AT(struct type_field, name, 0);
AT(struct type_field, doc, 16);
AT(struct type_field, metadata, 32);
AT(struct type_field, flags, 48);
AT(struct type_field, size, 56);
AT(struct type_field, alignment, 64);
AT(struct type_field, offset, 72);
AT(struct type_field, getter, 80);
AT(struct type_field, setter, 88);
AT(struct type_field, default_value, 96);
AT(struct type_field, static_type, 112);

SIZE(struct type_method, 72);
AT(struct type_method, name, 0);
AT(struct type_method, doc, 16);
AT(struct type_method, metadata, 32);
AT(struct type_method, flags, 48);
AT(struct type_method, method, 56);

SIZE(struct type_metadata, 32);
AT(struct type_metadata, doc, 0);
AT(struct type_metadata, creator, 16);
AT(struct type_metadata, total_size, 24);
AT(struct type_metadata, structural_kind, 28);

SIZE(struct ffi_column, 16);
AT(struct ffi_column, data, 0);
AT(struct ffi_column, size, 8);
AT(struct ffi_column, begin, 12);
SIZE(struct ffi_allocator, 16);
AT(struct ffi_allocator, allocate, 0);
AT(struct ffi_allocator, context, 8);
#endif
