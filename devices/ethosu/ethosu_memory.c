/* SPDX-License-Identifier: MIT */
/* Memory of the process, or of a transport. It is always mapped: tenon_memory.host is set. */
#include <stdlib.h>

#include "devices/ethosu/ethosu_device.h"
#include "lib/brief_errors.h"
#include "lib/heap.h"

#define ALIGN 128

static struct ethosu_device *device_of(struct tenon_device *device)
{
	return (struct ethosu_device *)device;
}

static struct ethosu_store *new_store(void)
{
	struct ethosu_store *m = heap_zeroed(1, sizeof(*m), "memory of the NPU");

	if (!m)
		tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	return m;
}

/* tenon_memory_init() clears what a transport has set. */
static void init(struct ethosu_store *m, struct tenon_device *device, uint64_t size, uint32_t usage,
		 void *host)
{
	tenon_memory_init(&m->base, device, size, usage);
	m->base.flags =
		device->properties->heaps[m->own ? ETHOSU_HEAP_OWN : ETHOSU_HEAP_PROCESS].flags;
	m->base.host = host;
}

static int allocate_bytes(uint64_t size, struct ethosu_store *m)
{
	if (posix_memalign(&m->bytes, ALIGN, (size_t)size))
		return tenon_error(-TENON_E_NOMEM, "no memory for %llu bytes",
				   (unsigned long long)size);
	m->base.host = m->bytes;
	return 0;
}

/* What is given away must be the transport's. */
static bool is_for_transport(const struct ethosu_device *d,
			     const struct tenon_memory_request *request)
{
	if (!d->transport->memory || request->heap == ETHOSU_HEAP_PROCESS)
		return false;
	return request->heap == ETHOSU_HEAP_OWN || d->own_memory ||
	       request->usage & TENON_MEMORY_EXPORT;
}

static int memory_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
			struct tenon_memory **out)
{
	struct ethosu_device *d = device_of(device);
	struct ethosu_store *m;
	int err;

	if (request->usage & TENON_MEMORY_EXPORT && request->heap == ETHOSU_HEAP_PROCESS)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "memory of the process is not given away: ask for heap %d",
				   ETHOSU_HEAP_OWN);
	m = new_store();
	if (!m)
		return -TENON_E_NOMEM;
	err = is_for_transport(d, request) ? d->transport->memory->allocate(d, request->bytes, m)
					   : allocate_bytes(request->bytes, m);
	if (err) {
		heap_free(m);
		return err;
	}
	init(m, device, request->bytes, request->usage, m->base.host);
	*out = &m->base;
	return 0;
}

static int memory_import(struct tenon_device *device, const struct tenon_memory_import *from,
			 struct tenon_memory **out)
{
	struct ethosu_device *d = device_of(device);
	struct ethosu_store *m = new_store();
	int err = 0;

	if (!m)
		return -TENON_E_NOMEM;
	m->base.host = from->pointer;
	m->base.usage = from->usage;
	if (from->type == TENON_HANDLE_DMA_BUF)
		err = d->transport->memory->adopt(d, from->fd, from->bytes, m);
	if (err) {
		heap_free(m);
		return err;
	}
	init(m, device, from->bytes, from->usage, m->base.host);
	if (from->type == TENON_HANDLE_DMA_BUF)
		m->base.flags &= ~(uint32_t)TENON_HEAP_HOST_COHERENT;
	*out = &m->base;
	return 0;
}

static int memory_export(struct tenon_memory *memory, uint32_t type, int *fd)
{
	struct ethosu_device *d = device_of(memory->device);

	return d->transport->memory->share(d, (const struct ethosu_store *)memory, fd);
}

static void release(void *item)
{
	struct ethosu_store *m = item;
	struct ethosu_device *d = device_of(m->base.device);

	if (m->own)
		d->transport->memory->release(d, m);
	free(m->bytes);
	heap_free(m);
}

static void memory_free(struct tenon_memory *memory)
{
	tenon_device_retire(memory->device, release, memory);
}

/* Of dma-bufs, which alone are not coherent. */
static int memory_flush(struct tenon_memory *memory, uint64_t offset, uint64_t size)
{
	const struct ethosu_store *m = (const struct ethosu_store *)memory;

	return m->own ? device_of(memory->device)->transport->memory->end(m) : 0;
}

static int memory_invalidate(struct tenon_memory *memory, uint64_t offset, uint64_t size)
{
	const struct ethosu_store *m = (const struct ethosu_store *)memory;

	return m->own ? device_of(memory->device)->transport->memory->begin(m) : 0;
}

const struct tenon_memory_ops ethosu_memory_ops = {
	.size = sizeof(ethosu_memory_ops),
	.alloc = memory_alloc,
	.free = memory_free,
	.flush = memory_flush,
	.invalidate = memory_invalidate,
	.import_handle = memory_import,
	.export_handle = memory_export,
};
