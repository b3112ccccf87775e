/* SPDX-License-Identifier: MIT */
/* Device memory as buffers of the node. */
#include "devices/rocket/rocket_device.h"

#include <stdlib.h>

#include "lib/brief_errors.h"

static int memory_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
			struct tenon_memory **out)
{
	struct rocket_memory *m = malloc(sizeof(*m));
	int err;

	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	err = rocket_buffer_open(rocket_accel_of(device), request->bytes, &m->buffer);
	if (err) {
		free(m);
		return err == -TENON_E_OVERFLOW ? -TENON_E_NOMEM : err;
	}
	tenon_memory_init(&m->base, device, request->bytes, request->usage);
	m->base.flags = device->properties->heaps[0].flags;
	/* memory with a host pointer is always mapped: map and unmap are not needed */
	m->base.host = m->buffer.drm.base;
	*out = &m->base;
	return 0;
}

static void release(void *item)
{
	struct rocket_memory *m = item;

	rocket_buffer_close(rocket_accel_of(m->base.device), &m->buffer);
	free(m);
}

static void memory_free(struct tenon_memory *memory)
{
	tenon_device_retire(memory->device, release, memory);
}

struct rocket_memory *rocket_memory_of(const struct tenon_range *range, uint64_t *offset)
{
	*offset += range->offset;
	return (struct rocket_memory *)tenon_memory_root(range->memory, offset);
}

const struct tenon_memory_ops rocket_memory_ops = {
	.size = sizeof(rocket_memory_ops),
	.alloc = memory_alloc,
	.free = memory_free,
};
