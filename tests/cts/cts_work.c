/* SPDX-License-Identifier: MIT */
/* What cases do all the time: take memory, fill and read it, launch a kernel. */
#include <stdlib.h>

#include <tenon/backend/memory.h>

#include "tests/cts/cts.h"

uint64_t cts_soon(void)
{
	return tenon_deadline(UINT64_C(60000000000));
}

uint8_t cts_byte(uint64_t i, uint8_t seed)
{
	return (uint8_t)(i * 7 + seed);
}

struct tenon_memory *cts_memory(struct cts *cts, uint64_t size, uint32_t usage)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.bytes = size,
						.heap = -1 };
	struct tenon_memory *memory = NULL;

	request.usage = usage ? usage : TENON_MEMORY_DEFAULT;
	ok(tenon_memory_alloc(cts->device, &request, &memory));
	assert_non_null(memory);
	return memory;
}

void cts_set(struct cts *cts, struct tenon_memory *memory, uint64_t offset, const void *from,
	     uint64_t size)
{
	ok(tenon_queue_write(cts->queue, memory, offset, from, size, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
}

void cts_get(struct cts *cts, struct tenon_memory *memory, uint64_t offset, void *to, uint64_t size)
{
	ok(tenon_queue_read(cts->queue, to, memory, offset, size, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
}

void cts_put(struct cts *cts, struct tenon_memory *memory, uint8_t seed)
{
	uint8_t *bytes = malloc((size_t)memory->size);
	uint64_t i;

	assert_non_null(bytes);
	for (i = 0; i < memory->size; i++)
		bytes[i] = cts_byte(i, seed);
	cts_set(cts, memory, 0, bytes, memory->size);
	free(bytes);
}

struct tenon_kernel *cts_kernel(struct cts *cts, const char *name)
{
	struct tenon_kernel *kernel = NULL;
	size_t i;

	if (!cts->executable)
		cts_skip("the device runs no kernels");
	for (i = 0; i < cts->program->kernel_count; i++)
		if (tenon_slice_equal(cts->program->kernels[i].name, tenon_slice_of(name)))
			break;
	if (cts_backend.no_kernels && i == cts->program->kernel_count)
		cts_skip("unsupported: %s", cts_backend.no_kernels);
	assert_true(i < cts->program->kernel_count);
	if (!cts_backend.code && !cts->program->kernels[i].code.size)
		cts_skip("the suite has no kernel %s for this device", name);
	if (cts_backend.no_kernels) {
		fails(tenon_executable_kernel(cts->executable, i, &kernel), -TENON_E_UNSUPPORTED);
		cts_skip("unsupported: %s", cts_backend.no_kernels);
	}
	ok(tenon_executable_kernel(cts->executable, i, &kernel));
	return kernel;
}

struct tenon_dispatch cts_dispatch(struct tenon_kernel *kernel, const uint64_t *arguments)
{
	struct tenon_dispatch d = { .kernel = kernel,
				    .arguments = arguments,
				    .grid = { 1, 1, 1 },
				    .block = { 1, 1, 1 },
				    .cluster = { 1, 1, 1 },
				    .preferred_cluster = { 1, 1, 1 } };

	return d;
}

uint64_t cts_argument(struct tenon_memory *memory)
{
	return (uintptr_t)tenon_memory_data(memory);
}

uint64_t cts_int(int64_t value, unsigned int bits)
{
	uint64_t slot = 0;
	uint8_t one = (uint8_t)value;
	uint16_t two = (uint16_t)value;
	uint32_t four = (uint32_t)value;

	switch (bits) {
	case 8:
		memcpy(&slot, &one, 1);
		break;
	case 16:
		memcpy(&slot, &two, 2);
		break;
	case 32:
		memcpy(&slot, &four, 4);
		break;
	default:
		memcpy(&slot, &value, 8);
	}
	return slot;
}
