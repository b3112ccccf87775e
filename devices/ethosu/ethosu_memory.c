/* SPDX-License-Identifier: MIT */
/* Memory of the process. It is always mapped: tenon_memory.host is set. */
#include <stdlib.h>

#include "devices/ethosu/ethosu_device.h"
#include "lib/brief_errors.h"

#define ALIGN 128

struct process_memory {
	struct tenon_memory base;
	void *own; /* NULL for memory that was imported */
};

/* Takes over @own, also on failure. */
static int make(struct tenon_device *device, uint64_t size, uint32_t usage, void *host, void *own,
		struct tenon_memory **out)
{
	struct process_memory *m = malloc(sizeof(*m));

	if (!m) {
		free(own);
		return tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	}
	tenon_memory_init(&m->base, device, size, usage);
	m->base.flags = device->properties->heaps[0].flags;
	m->base.host = host;
	m->own = own;
	*out = &m->base;
	return 0;
}

static int memory_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
			struct tenon_memory **out)
{
	void *bytes;

	if (posix_memalign(&bytes, ALIGN, (size_t)request->size))
		return tenon_error(-TENON_E_NOMEM, "no memory for %llu bytes",
				   (unsigned long long)request->size);
	return make(device, request->size, request->usage, bytes, bytes, out);
}

static int memory_import(struct tenon_device *device, const struct tenon_memory_import *from,
			 struct tenon_memory **out)
{
	return make(device, from->size, from->usage, from->pointer, NULL, out);
}

/* Nothing is pending on an inline queue, so memory goes at once. */
static void memory_free(struct tenon_memory *memory)
{
	free(((struct process_memory *)memory)->own);
	free(memory);
}

const struct tenon_memory_ops ethosu_memory_ops = {
	.size = sizeof(ethosu_memory_ops),
	.alloc = memory_alloc,
	.free = memory_free,
	.import_handle = memory_import,
};
