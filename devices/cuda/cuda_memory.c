/* SPDX-License-Identifier: MIT */
/* Allocate device and pinned host memory, in the order of a stream where CUDA can. */
#include <inttypes.h>
#include <stdlib.h>

#include "devices/cuda/cuda_device.h"
#include "lib/brief_errors.h"

static void give_back(struct cuda_device *d, struct cuda_memory *m)
{
	switch (m->kind) {
	case CUDA_MEMORY_PLAIN:
		d->cu->MemFree(m->base.address);
		return;
	case CUDA_MEMORY_ORDERED:
		d->cu->MemFreeAsync(m->base.address, m->stream->handle);
		return;
	case CUDA_MEMORY_HOST:
		d->cu->MemFreeHost(m->base.host);
		return;
	case CUDA_MEMORY_REGISTERED:
		d->cu->MemHostUnregister(m->base.host);
		return;
	case CUDA_MEMORY_MAPPED:
		cuda_mapping_end(d, m);
		return;
	case CUDA_MEMORY_EXTERNAL:
		d->cu->MemFree(m->base.address);
		d->cu->DestroyExternalMemory(m->external);
		return;
	default:
		return;
	}
}

static void memory_release(struct cuda_late *late, bool alive)
{
	struct cuda_memory *m =
		(struct cuda_memory *)((char *)late - offsetof(struct cuda_memory, late));

	if (alive)
		give_back(late->device, m);
	if (m->stream)
		cuda_stream_drop(m->stream);
	free(m);
}

/* Test whether the queue of its stream is the only queue, so that no other can use the memory. */
static bool is_in_order(const struct cuda_memory *m)
{
	uint32_t queues;

	if (m->kind != CUDA_MEMORY_ORDERED || cuda_in_function())
		return false;
	/*
	 * read in this order: a destroyed queue clears stream->queues before it decrements the
	 * count
	 */
	queues = __atomic_load_n(&m->late.device->queues, __ATOMIC_ACQUIRE);
	return queues == __atomic_load_n(&m->stream->queues, __ATOMIC_RELAXED);
}

static void cuda_free(struct tenon_memory *memory)
{
	struct cuda_memory *m = (struct cuda_memory *)memory;

	/* with a single queue the stream orders the free */
	if (is_in_order(m))
		cuda_release(&m->late);
	else
		cuda_retire(&m->late);
}

struct cuda_memory *cuda_memory_new(struct cuda_device *d, uint64_t size, uint32_t usage,
				    uint32_t kind)
{
	struct cuda_memory *m = calloc(1, sizeof(*m));

	if (!m) {
		tenon_error(-TENON_E_NOMEM, "no memory for memory");
		return NULL;
	}
	cuda_late_init(&m->late, &d->base, memory_release);
	m->base.size = size;
	m->base.usage = usage;
	m->kind = kind;
	return m;
}

struct tenon_memory *cuda_memory_finish(struct cuda_device *d, struct cuda_memory *m,
					uint32_t flags)
{
	cu_address address = m->base.address;
	void *host = m->base.host;

	tenon_memory_init(&m->base, &d->base, m->base.size, m->base.usage);
	m->base.address = address;
	m->base.host = host;
	m->base.flags = flags;
	return &m->base;
}

static int host_alloc(struct cuda_device *d, struct cuda_memory *m)
{
	int status;

	m->kind = CUDA_MEMORY_HOST;
	status = d->cu->MemHostAlloc(&m->base.host, (size_t)m->base.size,
				     CU_HOST_PORTABLE | CU_HOST_DEVICE_MAP);
	if (status)
		return status;
	status = d->cu->MemHostGetDevicePointer(&m->base.address, m->base.host, 0);
	if (status)
		d->cu->MemFreeHost(m->base.host);
	return status;
}

static int ordered_alloc(struct cuda_device *d, struct cuda_memory *m, struct tenon_queue *queue)
{
	struct cuda_stream *stream = ((struct cuda_queue *)queue)->stream;
	int status;

	m->kind = CUDA_MEMORY_ORDERED;
	status = d->cu->MemAllocAsync(&m->base.address, (size_t)m->base.size, stream->handle);
	if (status)
		return status;
	__atomic_add_fetch(&stream->references, 1, __ATOMIC_RELAXED);
	m->stream = stream;
	cuda_queue_submitted((struct cuda_queue *)queue);
	return 0;
}

static int cuda_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
		      struct tenon_memory **out)
{
	struct cuda_device *d = cuda_device_of(device);
	bool host = request->usage & TENON_MEMORY_MAP || request->heap == 1;
	struct cuda_memory *m;
	int status;

	if (request->usage & TENON_MEMORY_MAP && request->heap == 0)
		return cuda_error(d, -TENON_E_UNSUPPORTED,
				  "memory of heap 0 cannot be mapped; ask for heap 1 or -1");
	status = cuda_enter(d);
	if (status)
		return cuda_failed(d, status, "allocating");
	cuda_retire_put_off(d);
	if (request->usage & TENON_MEMORY_EXPORT)
		return cuda_exportable_alloc(d, request, out);
	m = cuda_memory_new(d, request->bytes, request->usage, CUDA_MEMORY_PLAIN);
	if (!m)
		return -TENON_E_NOMEM;
	if (host)
		status = host_alloc(d, m);
	else if (request->queue && d->pools)
		status = ordered_alloc(d, m, request->queue);
	else
		status = d->cu->MemAlloc(&m->base.address, (size_t)request->bytes);
	if (status) {
		free(m);
		return cuda_failed(d, status, "allocating %" PRIu64 " bytes of heap %d",
				   request->bytes, host);
	}
	*out = cuda_memory_finish(d, m, device->properties->heaps[host].flags);
	return 0;
}

const struct tenon_memory_ops cuda_memory_ops = {
	.size = sizeof(struct tenon_memory_ops),
	.alloc = cuda_alloc,
	.free = cuda_free,
	.import_handle = cuda_import,
	.export_handle = cuda_export,
};
