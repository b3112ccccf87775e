/* SPDX-License-Identifier: MIT */
/* Allocate, free and import memory behind opaque handles. */
#include "devices/null/null.h"

#include <stdlib.h>

#define ALIGN 128

struct null_memory {
	struct tenon_memory base;
	void *bytes;
	void *own; /* NULL for memory that was imported */
};

static int make(struct tenon_device *device, uint64_t size, uint32_t usage,
		struct null_memory **out)
{
	struct null_memory *m = malloc(sizeof(*m));

	*out = m;
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	tenon_memory_init(&m->base, device, size, usage);
	m->base.flags = device->properties->heaps[0].flags;
	m->own = NULL;
	return 0;
}

static int null_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
		      struct tenon_memory **out)
{
	struct null_memory *m;
	void *bytes;
	int err;

	if (posix_memalign(&bytes, ALIGN, (size_t)request->bytes))
		return tenon_error(-TENON_E_NOMEM, "null: no memory for %llu bytes",
				   (unsigned long long)request->bytes);
	err = make(device, request->bytes, request->usage, &m);
	if (err) {
		free(bytes);
		return err;
	}
	m->bytes = bytes;
	m->own = bytes;
	/* memory with a host pointer is always mapped: map and unmap are not needed */
	m->base.host = bytes;
	*out = &m->base;
	return 0;
}

static void null_free(struct tenon_memory *memory)
{
	struct null_memory *m = (struct null_memory *)memory;

	/* operations are never pending here; other backends use tenon_device_retire() */
	free(m->own);
	free(m);
}

static int null_import(struct tenon_device *device, const struct tenon_memory_import *from,
		       struct tenon_memory **out)
{
	struct null_memory *m;
	int err;

	err = make(device, from->bytes, from->usage, &m);
	if (err)
		return err;
	m->bytes = from->pointer;
	m->base.host = from->pointer;
	*out = &m->base;
	return 0;
}

void *null_address(const struct tenon_range *range)
{
	uint64_t offset = range->offset;
	const struct null_memory *m =
		(const struct null_memory *)tenon_memory_root(range->memory, &offset);

	return (char *)m->bytes + offset;
}

const struct tenon_memory_ops null_memory_ops = {
	.size = sizeof(null_memory_ops),
	.alloc = null_alloc,
	.free = null_free,
	.import_handle = null_import,
};
