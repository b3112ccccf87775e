/* SPDX-License-Identifier: MIT */
/* Tensors in the shared window, and memory of others that has an offset in it. */
#include "devices/mortise/mortise_device.h"

#include <stdlib.h>
#include <tenon/error.h>

static int mortise_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
			 struct tenon_memory **out)
{
	struct mortise_device *d = mortise_device_of(device);
	uint64_t size = request->bytes, align = MORTISE_HEAP_GRAIN;
	struct mortise_memory *m;
	int err;

	m = malloc(sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	/* no other memory in the pages that are given away */
	if (request->usage & TENON_MEMORY_EXPORT) {
		align = mortise_page();
		size = size > d->heap.memory.size ? size : (size + align - 1) & ~(align - 1);
	}
	err = mortise_heap_take(&d->heap, size, align, &m->block);
	if (err) {
		free(m);
		return tenon_error_in(err, "%s", device->properties->name);
	}
	m->offset = m->block->offset;
	tenon_memory_init(&m->base, device, request->bytes, request->usage);
	m->base.flags = device->properties->heaps[0].flags;
	m->base.host = d->window + m->offset;
	*out = &m->base;
	return 0;
}

/* The core reaches the window alone, so host memory is used in place only if it lies there. */
static int mortise_import(struct tenon_device *device, const struct tenon_memory_import *from,
			  struct tenon_memory **out)
{
	struct mortise_device *d = mortise_device_of(device);
	uintptr_t pointer = (uintptr_t)from->pointer;
	uintptr_t begin = (uintptr_t)d->window + d->heap.memory.begin;
	struct mortise_memory *m;

	if (pointer < begin || pointer - begin > d->heap.memory.size ||
	    from->bytes > d->heap.memory.size - (pointer - begin))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s uses host memory in place only where it shares it",
				   device->properties->name);
	m = malloc(sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	m->block = NULL;
	m->offset = pointer - (uintptr_t)d->window;
	tenon_memory_init(&m->base, device, from->bytes, from->usage);
	m->base.flags = device->properties->heaps[0].flags;
	m->base.host = from->pointer;
	*out = &m->base;
	return 0;
}

static void release(void *item)
{
	struct mortise_memory *m = item;

	if (m->block)
		mortise_heap_give(&mortise_device_of(m->base.device)->heap, m->block);
	free(m);
}

static void mortise_free(struct tenon_memory *memory)
{
	tenon_device_retire(memory->device, release, memory);
}

uint64_t mortise_offset(const struct tenon_range *range)
{
	uint64_t offset = range->offset;
	const struct mortise_memory *m =
		(const struct mortise_memory *)tenon_memory_root(range->memory, &offset);

	return m->offset + offset;
}

const struct tenon_memory_ops mortise_memory_ops = {
	.size = sizeof(mortise_memory_ops),
	.alloc = mortise_alloc,
	.free = mortise_free,
	.import_handle = mortise_import,
	.export_handle = mortise_export,
};
