/* SPDX-License-Identifier: MIT */
#ifndef TENON_DLPACK_H
#define TENON_DLPACK_H

/**
 * DOC: DLPack, old and new
 *
 * Tensors are exchanged as DLPack's DLTensor. Distributions ship headers from 0.6 (Debian 12) to
 * 1.x, and small systems ship none; the layouts agree. This header includes the system's header if
 * there is one and declares what it lacks: the versioned managed tensor of DLPack 1.x and its
 * flags.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __has_include
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

typedef enum {
	kDLCPU = 1,
	kDLCUDA = 2,
	kDLCUDAHost = 3,
	kDLOpenCL = 4,
	kDLVulkan = 7,
	kDLMetal = 8,
	kDLROCM = 10,
	kDLExtDev = 12,
} DLDeviceType;

typedef struct {
	int32_t device_type;
	int32_t device_id;
} DLDevice;

typedef enum {
	kDLInt = 0U,
	kDLUInt = 1U,
	kDLFloat = 2U,
	kDLOpaqueHandle = 3U,
	kDLBfloat = 4U,
	kDLComplex = 5U,
} DLDataTypeCode;

typedef struct {
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
} DLDataType;

typedef struct {
	void *data;
	DLDevice device;
	int32_t ndim;
	DLDataType dtype;
	int64_t *shape;
	int64_t *strides;
	uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
	DLTensor dl_tensor;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#endif /* DLPACK_DLPACK_H_ */

/* DLPACK_MAJOR_VERSION and the versioned struct were added together, in 1.0. */
#ifndef DLPACK_MAJOR_VERSION
typedef struct {
	uint32_t major;
	uint32_t minor;
} DLPackVersion;

typedef struct DLManagedTensorVersioned {
	DLPackVersion version;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensorVersioned *self);
	uint64_t flags;
	DLTensor dl_tensor;
} DLManagedTensorVersioned;

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
#endif

/* added in 1.1 */
#ifndef DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)
#endif

/* dtype codes, including those added after DLPack 0.6, under names that clash with no header */
enum tenon_dtype_code {
	TENON_DTYPE_INT = 0,
	TENON_DTYPE_UINT = 1,
	TENON_DTYPE_FLOAT = 2,
	TENON_DTYPE_HANDLE = 3,
	TENON_DTYPE_BFLOAT = 4,
	TENON_DTYPE_COMPLEX = 5,
	TENON_DTYPE_BOOL = 6,
	TENON_DTYPE_FLOAT8_E3M4 = 7,
	TENON_DTYPE_FLOAT8_E4M3 = 8,
	TENON_DTYPE_FLOAT8_E4M3B11FNUZ = 9,
	TENON_DTYPE_FLOAT8_E4M3FN = 10,
	TENON_DTYPE_FLOAT8_E4M3FNUZ = 11,
	TENON_DTYPE_FLOAT8_E5M2 = 12,
	TENON_DTYPE_FLOAT8_E5M2FNUZ = 13,
	TENON_DTYPE_FLOAT8_E8M0FNU = 14,
	TENON_DTYPE_FLOAT6_E2M3FN = 15,
	TENON_DTYPE_FLOAT6_E3M2FN = 16,
	TENON_DTYPE_FLOAT4_E2M1FN = 17,
};

#endif /* TENON_DLPACK_H */
