/* SPDX-License-Identifier: MIT */
/* Type codes of sequences. Those of the ffi generation are enum tenon_type_index. */
#ifndef RPC_WIRE_WIRE_CODES_H
#define RPC_WIRE_WIRE_CODES_H

/** enum legacy_code - type codes of TVM 0.8 to 0.20 */
enum legacy_code {
	LEGACY_INT = 0,
	LEGACY_UINT = 1,
	LEGACY_FLOAT = 2,
	LEGACY_HANDLE = 3,
	LEGACY_NULL = 4,
	LEGACY_DTYPE = 5,
	LEGACY_DEVICE = 6,
	LEGACY_TENSOR = 7,
	LEGACY_OBJECT = 8,
	LEGACY_MODULE = 9,
	LEGACY_FUNCTION = 10,
	LEGACY_STRING = 11,
	LEGACY_BYTES = 12,
	LEGACY_NDARRAY = 13, /* as the type of a result and in FreeHandle */
	LEGACY_BOOL = 15,    /* since 0.18 */
};

/* type indices of a reference to a remote object */
#define LEGACY_REMOTE_OBJECT 9
#define FFI_REMOTE_OBJECT    115

#endif /* RPC_WIRE_WIRE_CODES_H */
