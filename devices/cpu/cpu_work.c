/* SPDX-License-Identifier: MIT */
#include "devices/cpu/cpu.h"
#include "lib/brief_errors.h"

#include <string.h>

static char *at(const struct tenon_range *range)
{
	return (char *)(uintptr_t)(range->memory->address + range->offset);
}

static void fill(char *to, uint64_t size, uint32_t pattern, uint32_t width)
{
	uint16_t two = (uint16_t)pattern;
	uint64_t i;

	if (width == 1)
		memset(to, (int)(pattern & 0xff), (size_t)size);
	for (i = 0; width > 1 && i < size; i += width) {
		if (width == 2)
			memcpy(to + i, &two, 2);
		else
			memcpy(to + i, &pattern, 4);
	}
}

int cpu_work(struct tenon_device *device, const struct tenon_operation *op)
{
	if (__atomic_load_n(&device->lost, __ATOMIC_ACQUIRE))
		return tenon_device_check(device);
	switch (op->kind) {
	case TENON_OP_COPY:
		memcpy(at(&op->as.copy.to), at(&op->as.copy.from), (size_t)op->as.copy.size);
		return 0;
	case TENON_OP_WRITE:
		memcpy(at(&op->as.write.to), op->as.write.host, (size_t)op->as.write.size);
		return 0;
	case TENON_OP_READ:
		memcpy(op->as.read.host, at(&op->as.read.from), (size_t)op->as.read.size);
		return 0;
	case TENON_OP_FILL:
		fill(at(&op->as.fill.to), op->as.fill.size, op->as.fill.pattern, op->as.fill.width);
		return 0;
	case TENON_OP_DISPATCH:
		return cpu_run(op->as.dispatch);
	case TENON_OP_CALL:
		op->as.call.function(op->as.call.context);
		return 0;
	case TENON_OP_TIMESTAMP:
		*op->as.timestamp = tenon_now();
		return 0;
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "cpu does no operation %u", op->kind);
	}
}
