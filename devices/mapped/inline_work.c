/* SPDX-License-Identifier: MIT */
/* Copy, fill and move bytes through mappings. */
#include "devices/mapped/inline_work.h"

#include <string.h>
#include <tenon/backend/backend.h>

#include "lib/brief_errors.h"

static void fill(char *to, uint64_t size, uint32_t pattern, uint32_t width)
{
	uint16_t two = (uint16_t)pattern;
	uint64_t i;

	if (width == 1)
		memset(to, (uint8_t)pattern, (size_t)size);
	for (i = 0; width > 1 && i < size; i += width) {
		if (width == 2)
			memcpy(to + i, &two, 2);
		else
			memcpy(to + i, &pattern, 4);
	}
}

int inline_work(struct tenon_queue *queue, const struct tenon_operation *op, inline_run *run)
{
	if (__atomic_load_n(&queue->device->lost, __ATOMIC_ACQUIRE))
		return tenon_device_check(queue->device);
	switch (op->kind) {
	case TENON_OP_COPY:
		memcpy(inline_address(&op->as.copy.to), inline_address(&op->as.copy.from),
		       (size_t)op->as.copy.size);
		return 0;
	case TENON_OP_WRITE:
		memcpy(inline_address(&op->as.write.to), op->as.write.host,
		       (size_t)op->as.write.size);
		return 0;
	case TENON_OP_READ:
		memcpy(op->as.read.host, inline_address(&op->as.read.from),
		       (size_t)op->as.read.size);
		return 0;
	case TENON_OP_FILL:
		fill(inline_address(&op->as.fill.to), op->as.fill.size, op->as.fill.pattern,
		     op->as.fill.width);
		return 0;
	case TENON_OP_DISPATCH:
		return run(queue, op->as.dispatch);
	case TENON_OP_CALL:
		op->as.call.function(op->as.call.context);
		return 0;
	case TENON_OP_TIMESTAMP:
		*op->as.timestamp = tenon_now();
		return 0;
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "%s does no operation %u",
				   queue->device->backend->name, op->kind);
	}
}
