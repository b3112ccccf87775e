/* SPDX-License-Identifier: MIT */
/* Test whether an element type is valid, for readers of foreign bytes. */
#ifndef RUNTIME_CORE_DTYPE_H
#define RUNTIME_CORE_DTYPE_H

/*
 * A dtype is four bytes, and files and foreign code may put any value there. dtype_is_known() tests
 * whether it can be an element type. tenon_tensor_bytes() refuses all others, so no tensor has one.
 * "void", {3,0,0}, means "no dtype" in calls and is not an element type.
 */

#include <tenon/tensor.h>

#include "lib/plugin_api.h"

/**
 * dtype_is_known - can a tensor have elements of a dtype
 * @d: any four bytes
 *
 * Integers have 1, 2, 4, 8, 16, 32 or 64 bits, all other kinds the widths that DLPack defines for
 * them. A vector has 1 to 32767 lanes: TVM stores the count as int16, and negative counts mean
 * scalable vectors, whose size depends on the machine.
 */
bool dtype_is_known(DLDataType d) TO_PLUGINS(dtype_is_known);

/**
 * dtype_check - refuse a dtype that dtype_is_known() does not accept
 *
 * Return: 0; -TENON_E_VALUE, with the dtype's name in the message.
 */
int dtype_check(DLDataType d) TO_PLUGINS(dtype_check);

/** dtype_is_void - test for the void dtype, which means "any dtype" in calls */
static inline bool dtype_is_void(DLDataType d)
{
	return d.code == TENON_DTYPE_HANDLE && !d.bits && !d.lanes;
}

/** dtype_stored - dtype in memory: bool of TVM up to 0.22, {1,1}, takes one byte a lane */
static inline DLDataType dtype_stored(DLDataType d)
{
	if (d.code == TENON_DTYPE_UINT && d.bits == 1)
		return tenon_dtype(TENON_DTYPE_BOOL, 8, d.lanes);
	return d;
}

/** dtype_bytes - bytes of one element that starts at a whole byte, as TVM's executors store it */
static inline uint32_t dtype_bytes(DLDataType d)
{
	return ((uint32_t)dtype_stored(d).bits * d.lanes + 7) / 8;
}

#endif /* RUNTIME_CORE_DTYPE_H */
