/* SPDX-License-Identifier: MIT */
/* tvm-ffi: tensors, strings and dtypes. */
#include <stdio.h>
#include <string.h>
#include <tenon/string.h>
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
	return ffi_result(tenon_tensor_from_dlpack(from, alignment(align), contiguous,
						   (struct tenon_tensor **)out));
}

int abi_ffi_tensor_from_dlpack_versioned(DLManagedTensorVersioned *from, int32_t align,
					 int32_t contiguous, void **out)
{
	return ffi_result(tenon_tensor_from_dlpack_versioned(from, alignment(align), contiguous,
							     (struct tenon_tensor **)out));
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

/* Names that tvm-ffi reads, and Tenon elsewhere does not */
static const struct {
	const char *name;
	DLDataType dtype;
} more_dtypes[] = {
	{ "int", { TENON_DTYPE_INT, 32, 1 } },
	{ "uint", { TENON_DTYPE_UINT, 32, 1 } },
	{ "float", { TENON_DTYPE_FLOAT, 32, 1 } },
	{ "bfloat", { TENON_DTYPE_BFLOAT, 16, 1 } },
	{ "handle32", { TENON_DTYPE_HANDLE, 32, 1 } },
	{ "handle64", { TENON_DTYPE_HANDLE, 64, 1 } },
};

/* Vectors of a length that the processor decides have a negative number of lanes. */
#define SCALABLE "xvscalex"

/* Parse the type of such vectors. Return false for others. */
static bool parse_scalable(struct tenon_slice text, DLDataType *out)
{
	const char *at = memmem(text.data, text.size, SCALABLE, strlen(SCALABLE)), *digit;
	const char *end = text.data + text.size;
	unsigned int lanes = 0;

	if (!at)
		return false;
	for (digit = at + strlen(SCALABLE); digit < end && lanes <= INT16_MAX; digit++) {
		if (*digit < '0' || *digit > '9')
			return false;
		lanes = lanes * 10 + (unsigned int)(*digit - '0');
	}
	text.size = (size_t)(at - text.data);
	if (!lanes || lanes > INT16_MAX || tenon_dtype_parse(text, out) || out->lanes != 1)
		return false;
	out->lanes = (uint16_t)-lanes;
	return true;
}

int abi_ffi_dtype_parse(const struct tenon_slice *text, DLDataType *out)
{
	size_t i;

	for (i = 0; i < sizeof(more_dtypes) / sizeof(more_dtypes[0]); i++) {
		if (tenon_slice_equal(*text, tenon_slice_of(more_dtypes[i].name))) {
			*out = more_dtypes[i].dtype;
			return 0;
		}
	}
	if (text->size && parse_scalable(*text, out))
		return 0;
	return ffi_result(tenon_dtype_parse(*text, out));
}

int abi_ffi_dtype_name(const DLDataType *dtype, struct tenon_value *out)
{
	char name[TENON_DTYPE_NAME + sizeof(SCALABLE)];
	DLDataType one = *dtype;

	/* tvm-ffi reads both words for no type, and writes none */
	if (dtype_is_void(one))
		return ffi_result(tenon_string_value(tenon_slice_of(""), out));
	if (one.lanes > INT16_MAX)
		one.lanes = 1;
	tenon_dtype_name(one, name);
	if (one.lanes != dtype->lanes)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), SCALABLE "%d",
			 (uint16_t)-dtype->lanes);
	return ffi_result(tenon_string_value(tenon_slice_of(name), out));
}
