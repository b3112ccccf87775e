/* SPDX-License-Identifier: MIT */
/* tvm-ffi: tensors, strings and dtypes */
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/core/dtype.h"
#include "runtime/library/tvm_table.h"

static size_t alignment(int32_t align)
{
	return align > 0 ? (size_t)align : 0;
}

int abi_ffi_tensor_from_dlpack(DLManagedTensor *from, int32_t align, int32_t contiguous, void **out)
{
	struct tenon_tensor *t;
	int err = tenon_tensor_from_dlpack(from, alignment(align), contiguous, &t);

	*out = t;
	return ffi_result(err);
}

int abi_ffi_tensor_from_dlpack_versioned(DLManagedTensorVersioned *from, int32_t align,
					 int32_t contiguous, void **out)
{
	struct tenon_tensor *t;
	int err = tenon_tensor_from_dlpack_versioned(from, alignment(align), contiguous, &t);

	*out = t;
	return ffi_result(err);
}

int abi_ffi_tensor_to_dlpack(void *tensor, DLManagedTensor **out)
{
	return ffi_result(tenon_tensor_to_dlpack(tensor, out));
}

int abi_ffi_tensor_to_dlpack_versioned(void *tensor, DLManagedTensorVersioned **out)
{
	return ffi_result(tenon_tensor_to_dlpack_versioned(tensor, out));
}

int abi_ffi_tensor_view(void *source, const DLTensor *prototype, void **out)
{
	struct tenon_tensor *t;
	int err;

	*out = NULL;
	if (!prototype->strides && prototype->ndim)
		return ffi_result(tenon_error(-TENON_E_VALUE,
					      "a view of a tensor needs strides, found none"));
	err = tenon_tensor_view(prototype, source, &t);
	*out = t;
	return ffi_result(err);
}

int abi_ffi_string(const struct tenon_slice *text, struct tenon_value *out)
{
	return ffi_result(tenon_string_value(*text, out));
}

int abi_ffi_bytes(const struct tenon_slice *bytes, struct tenon_value *out)
{
	return ffi_result(tenon_bytes_value(*bytes, out));
}

int abi_ffi_dtype_parse(const struct tenon_slice *text, DLDataType *out)
{
	return ffi_result(tenon_dtype_parse(*text, out));
}

int abi_ffi_dtype_name(const DLDataType *dtype, struct tenon_value *out)
{
	char name[TENON_DTYPE_NAME];
	struct tenon_slice text = tenon_slice_of(tenon_dtype_name(*dtype, name));

	/* tvm-ffi reads both words for no type, and writes none */
	if (dtype_is_void(*dtype))
		text.size = 0;
	return ffi_result(tenon_string_value(text, out));
}
