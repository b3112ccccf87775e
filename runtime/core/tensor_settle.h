/* SPDX-License-Identifier: MIT */
/* Move the byte offset of a tensor into its pointer, for compiled code that refuses offsets. */
#ifndef RUNTIME_CORE_TENSOR_SETTLE_H
#define RUNTIME_CORE_TENSOR_SETTLE_H

#include <stdbool.h>
#include <tenon/tensor.h>

/* Compiled code reads tensor data with instructions that need this alignment. */
#define TENSOR_CODE_ALIGN 64

/**
 * tensor_settle - let the data of a tensor point to its first element
 * @t: may have a byte_offset
 * @addresses: the data is an address of the host or the device, not a handle
 *
 * Compiled code refuses tensors with a byte_offset. A first element that is not aligned as the code
 * needs it stays behind a byte_offset: the refusal is better than a fault.
 */
static inline void tensor_settle(DLTensor *t, bool addresses)
{
	uintptr_t first = (uintptr_t)t->data + (uintptr_t)t->byte_offset;

	if (!t->byte_offset || !addresses || first % TENSOR_CODE_ALIGN)
		return;
	t->data = (char *)t->data + t->byte_offset;
	t->byte_offset = 0;
}

#endif /* RUNTIME_CORE_TENSOR_SETTLE_H */
