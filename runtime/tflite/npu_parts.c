/* SPDX-License-Identifier: MIT */
/* An operator of an NPU as its parts, one after the other: what a device's backend reads. */
#include "runtime/tflite/npu_parts.h"

#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <tenon/uapi/ethosu_parts.h>

#define DIMENSIONS 6

/* All extents, then all sizes of an element, all regions, all offsets */
static void put_tensors(struct tenon_buffer *out, const struct npu_tensor *t, size_t count)
{
	size_t i;
	int k;

	tenon_buffer_u64(out, count);
	for (i = 0; i < count; i++) {
		for (k = 1; k < DIMENSIONS; k++)
			tenon_buffer_u64(out, 1);
		tenon_buffer_u64(out, t[i].bytes);
	}
	for (i = 0; i < count; i++)
		tenon_buffer_u64(out, 1);
	for (i = 0; i < count; i++)
		tenon_buffer_u64(out, t[i].region);
	for (i = 0; i < count; i++)
		tenon_buffer_u64(out, t[i].offset);
}

size_t npu_parts_size(const struct npu_operator *op)
{
	const size_t tensors = op->input_count + op->output_count;

	/* the magic, seven numbers, and what lists and tensors have: see below */
	return sizeof(TENON_ETHOSU_PARTS) + 9 * sizeof(uint64_t) +
	       tensors * (DIMENSIONS + 3) * sizeof(uint64_t) + op->payload.size;
}

int npu_parts(const struct npu_operator *op, struct tenon_buffer *out)
{
	tenon_buffer_append(out, op->is_given ? TENON_ETHOSU_PARTS_GIVEN : TENON_ETHOSU_PARTS,
			    sizeof(TENON_ETHOSU_PARTS) - 1);
	tenon_buffer_u64(out, NPU_CONSTANTS);
	tenon_buffer_u64(out, NPU_ARENA);
	tenon_buffer_u64(out, op->arena);
	tenon_buffer_u64(out, op->fast ? NPU_FAST : 0);
	tenon_buffer_u64(out, op->fast);
	put_tensors(out, op->tensors, op->input_count);
	put_tensors(out, op->tensors + op->input_count, op->output_count);
	tenon_buffer_u64(out, op->payload.size);
	tenon_buffer_slice(out, op->payload);
	return tenon_buffer_u64(out, op->constants.size);
}
