/* SPDX-License-Identifier: MIT */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

/**
 * DOC: tensors and dtypes
 *
 * A tensor object is a header followed by a DLTensor of DLPack. Functions also accept a bare
 * DLTensor, borrowed for the call: tenon_value_tensor() reads both.
 *
 * Sizes are in bytes of packed elements: n elements of b bits and l lanes take (n*b*l+7)/8.
 */

#include <string.h>
#include <tenon/error.h>
#include <tenon/export.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* alignment of tensor data: TVM 0.8 and 0.9 require 128 bytes, later versions 64 */
#define TENON_TENSOR_ALIGN 128

/**
 * struct tenon_tensor - a counted tensor
 * @object: header; type TENON_TYPE_TENSOR
 * @dl: the tensor. Its strides are set unless it has no dimensions.
 */
struct tenon_tensor {
	struct tenon_object object;
	DLTensor dl;
};

/**
 * tenon_tensor_create - create a tensor in CPU memory
 * @shape: @ndim extents, each 0 or more
 * @ndim: number of dimensions, at most 64
 * @dtype: element type
 * @out: receives the tensor with one reference; its data is zeroed and aligned to
 *	TENON_TENSOR_ALIGN
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_OVERFLOW; -TENON_E_VALUE for a negative extent, or a dtype
 *	that tenon_tensor_bytes() rejects.
 */
TENON_API int tenon_tensor_create(const int64_t *shape, int32_t ndim, DLDataType dtype,
				  struct tenon_tensor **out);

/**
 * tenon_tensor_view - create a tensor object for existing memory
 * @dl: data, device, shape, dtype, strides (may be NULL) and offset; shape and strides are copied
 * @keep: object that keeps the data alive, referenced until the tensor is destroyed; may be NULL
 * @out: receives the tensor with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_OVERFLOW; -TENON_E_VALUE.
 */
TENON_API int tenon_tensor_view(const DLTensor *dl, struct tenon_object *keep,
				struct tenon_tensor **out);

/**
 * tenon_tensor_from_dlpack - take ownership of a DLPack tensor
 * @managed: the tensor; its deleter is called when the object is destroyed, and until then its shape
 *	and strides, which are not copied, must not change. On failure the caller still owns it.
 * @align: required alignment of the data in bytes; 0 for any
 * @contiguous: reject strides other than compact ones
 * @out: receives the tensor with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_VALUE.
 */
TENON_API int tenon_tensor_from_dlpack(DLManagedTensor *managed, size_t align, bool contiguous,
				       struct tenon_tensor **out);

/**
 * tenon_tensor_from_dlpack_versioned - tenon_tensor_from_dlpack() for the 1.x struct
 * @managed: the tensor; its major version must be 1. Its shape and strides are not copied, as above.
 * @align: required alignment of the data in bytes; 0 for any
 * @contiguous: reject strides other than compact ones
 * @out: receives the tensor with one reference
 *
 * A read-only tensor stays read-only when it is exported as the 1.x struct again. Padded sub-byte
 * elements are rejected.
 *
 * Return: as tenon_tensor_from_dlpack().
 */
TENON_API int tenon_tensor_from_dlpack_versioned(DLManagedTensorVersioned *managed, size_t align,
						 bool contiguous, struct tenon_tensor **out);

/**
 * tenon_tensor_to_dlpack - export a tensor as a DLPack tensor
 * @tensor: the tensor; referenced until the deleter of @out is called
 * @out: receives the managed tensor; the receiver calls its deleter
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_tensor_to_dlpack(struct tenon_tensor *tensor, DLManagedTensor **out);

/** tenon_tensor_to_dlpack_versioned - tenon_tensor_to_dlpack() for the 1.x struct, version 1.0 */
TENON_API int tenon_tensor_to_dlpack_versioned(struct tenon_tensor *tensor,
					       DLManagedTensorVersioned **out);

/**
 * tenon_dltensor - describe memory as a compact CPU tensor
 * @data: first element
 * @shape: @ndim extents; must outlive the tensor
 * @ndim: number of dimensions
 * @dtype: element type
 *
 * Return: a DLTensor without strides or offset.
 */
static inline DLTensor tenon_dltensor(void *data, int64_t *shape, int32_t ndim, DLDataType dtype)
{
	DLTensor t;

	memset(&t, 0, sizeof(t));
	t.data = data;
	t.device.device_type = kDLCPU;
	t.ndim = ndim;
	t.dtype = dtype;
	t.shape = shape;
	return t;
}

/**
 * tenon_tensor_elements - number of elements of a tensor
 * @dl: the tensor
 * @out: receives the product of its extents; 1 for a scalar
 *
 * Return: 0; -TENON_E_OVERFLOW; -TENON_E_VALUE for a negative extent.
 */
TENON_API int tenon_tensor_elements(const DLTensor *dl, uint64_t *out);

/**
 * tenon_tensor_bytes - size of a compact tensor's data in bytes
 * @dl: the tensor
 * @out: receives the size
 *
 * Sub-byte elements are packed as in DLPack, except uint1: that is the bool of TVM up to 0.22,
 * which uses one byte per element.
 *
 * Return: 0; -TENON_E_OVERFLOW; -TENON_E_VALUE for a negative extent or an invalid dtype. Integers
 *	have 1, 2, 4, … 64 bits, other kinds the widths that DLPack defines, vectors 1 to 32767
 *	lanes.
 */
TENON_API int tenon_tensor_bytes(const DLTensor *dl, size_t *out);

/** tenon_tensor_compact - test whether the elements are in row-major order without gaps */
TENON_API bool tenon_tensor_compact(const DLTensor *dl);

/** tenon_dtype - make a dtype: tenon_dtype(TENON_DTYPE_FLOAT, 32, 1) */
static inline DLDataType tenon_dtype(unsigned int code, unsigned int bits, unsigned int lanes)
{
	DLDataType d;

	d.code = (uint8_t)code;
	d.bits = (uint8_t)bits;
	d.lanes = (uint16_t)lanes;
	return d;
}

/** tenon_dtype_equal - test whether two dtypes are equal */
static inline bool tenon_dtype_equal(DLDataType a, DLDataType b)
{
	return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/* size of a buffer for any dtype's name, including the NUL */
#define TENON_DTYPE_NAME 40

/**
 * tenon_dtype_name - format a dtype as text
 * @dtype: the dtype
 * @name: receives "float32", "int4x8", "bool", "bfloat16", "float8_e4m3fn", "handle", "void", …
 *
 * {1,1} (TVM up to 0.22) and {6,8} (later) are both "bool".
 *
 * Return: @name.
 */
TENON_API const char *tenon_dtype_name(DLDataType dtype, char name[TENON_DTYPE_NAME]);

/**
 * tenon_dtype_parse - parse the name of a dtype
 * @text: as written by tenon_dtype_name(); "bool" gives {6,8}, "" gives void. Any width is
 *	accepted; tenon_tensor_bytes() checks whether a tensor can have it.
 * @out: receives the dtype
 *
 * Return: 0; -TENON_E_VALUE, with the text in the message.
 */
TENON_API int tenon_dtype_parse(struct tenon_slice text, DLDataType *out);

/**
 * tenon_device_name - get the name of a DLPack device type
 * @type: device type
 *
 * Return: "cpu", "cuda", "opencl", "vulkan", …; "device" for an unknown type.
 */
TENON_API const char *tenon_device_name(int32_t type);

/**
 * tenon_device_parse - parse the name of a device
 * @text: "cpu", "cuda:1", "opencl:0"
 * @out: receives type and id; the default id is 0
 *
 * Return: 0; -TENON_E_VALUE.
 */
TENON_API int tenon_device_parse(struct tenon_slice text, DLDevice *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_TENSOR_H */
