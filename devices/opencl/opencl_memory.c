/* SPDX-License-Identifier: MIT */
/* Allocate, map, divide and import buffers. */
#include <inttypes.h>
#include <stdlib.h>

#include "devices/opencl/opencl_device.h"

static struct opencl_memory *memory_of(struct tenon_memory *memory)
{
	return (struct opencl_memory *)memory;
}

/* Takes ownership of @mem, also on failure. */
static int memory_new(struct opencl_device *d, ocl_mem mem, uint64_t size, uint32_t usage,
		      struct tenon_memory **out)
{
	struct opencl_memory *m = calloc(1, sizeof(*m));

	if (!m) {
		ocl.ReleaseMemObject(mem);
		return opencl_nomem("a piece of device memory");
	}
	tenon_memory_init(&m->base, &d->base, size, usage);
	m->base.flags = d->base.properties->heaps[0].flags;
	m->mem = mem;
	m->identity = __atomic_add_fetch(&d->made, 1, __ATOMIC_RELAXED);
	*out = &m->base;
	return 0;
}

static int buffer_new(struct opencl_device *d, uint64_t flags, void *host, uint64_t size,
		      uint32_t usage, struct tenon_memory **out)
{
	int status = OCL_INVALID_BUFFER_SIZE;
	ocl_mem mem = NULL;

	if (size <= SIZE_MAX)
		mem = ocl.CreateBuffer(d->context, OCL_MEM_READ_WRITE | flags, (size_t)size, host,
				       &status);
	if (mem)
		return memory_new(d, mem, size, usage, out);
	if (status == OCL_INVALID_BUFFER_SIZE)
		status = OCL_MEM_OBJECT_ALLOCATION_FAILURE;
	return opencl_failed(d, status,
			     "allocating %" PRIu64 " bytes (at most %" PRIu64 " in one piece)",
			     size, d->base.properties->max_allocation);
}

static int opencl_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
			struct tenon_memory **out)
{
	struct opencl_device *d = opencl_device_of(device);
	ocl_mem mem = NULL;
	void *host;
	int err;

	if (d->shares_memory && request->bytes <= SIZE_MAX)
		mem = opencl_svm_buffer(d, (size_t)request->bytes, &host);
	if (mem) {
		err = memory_new(d, mem, request->bytes, request->usage, out);
		if (!err)
			(*out)->host = host;
		return err;
	}
	return buffer_new(d, request->usage & TENON_MEMORY_MAP ? OCL_MEM_ALLOC_HOST_PTR : 0, NULL,
			  request->bytes, request->usage, out);
}

/* Enqueued commands retain the memory, so it can be released at once. */
static void memory_release(void *item)
{
	struct opencl_memory *m = item;
	struct opencl_device *d = opencl_device_of(m->base.device);

	ocl.ReleaseMemObject(m->mem);
	/* count before freeing: the address may be reused afterwards */
	__atomic_add_fetch(&d->freed, 1, __ATOMIC_RELEASE);
	free(m);
}

static void opencl_free(struct tenon_memory *memory)
{
	if (memory_of(memory)->recorded)
		tenon_device_retire(memory->device, memory_release, memory);
	else
		memory_release(memory);
}

/* Wait for an operation of the service queue, if @status is 0. Takes ownership of @event. */
static int finish(struct opencl_device *d, int status, ocl_event event)
{
	if (status)
		return status;
	ocl.Flush(d->service);
	status = opencl_event_wait(d, event, false, TENON_FOREVER);
	ocl.ReleaseEvent(event);
	return status;
}

static int opencl_map(struct tenon_memory *memory, uint32_t mode, uint64_t offset, uint64_t size,
		      void **out)
{
	struct opencl_device *d = opencl_device_of(memory->device);
	uint64_t flags = OCL_MAP_READ;
	ocl_event event = NULL;
	int status = 0;

	if (mode & TENON_MAP_WRITE)
		flags |= OCL_MAP_WRITE;
	if (mode & TENON_MAP_DISCARD)
		flags = d->version >= 120 ? OCL_MAP_WRITE_INVALIDATE_REGION : OCL_MAP_WRITE;
	*out = ocl.EnqueueMapBuffer(d->service, memory_of(memory)->mem, 0, flags, (size_t)offset,
				    (size_t)size, 0, NULL, &event, &status);
	status = finish(d, status, event);
	return status ? opencl_failed(d, status, "mapping %" PRIu64 " bytes", size) : 0;
}

static void opencl_unmap(struct tenon_memory *memory, void *mapped, uint32_t mode, uint64_t offset,
			 uint64_t size)
{
	struct opencl_device *d = opencl_device_of(memory->device);
	ocl_event event = NULL;
	int status;

	status = ocl.EnqueueUnmapMemObject(d->service, memory_of(memory)->mem, mapped, 0, NULL,
					   &event);
	/* other queues must see the write; no caller could handle an error here */
	status = finish(d, status, event);
	if (status)
		tenon_device_lose(&d->base,
				  opencl_failed(d, status, "unmapping %" PRIu64 " bytes", size));
}

static int opencl_subrange(struct tenon_memory *parent, uint64_t offset, uint64_t size,
			   struct tenon_memory **out)
{
	struct opencl_device *d = opencl_device_of(parent->device);
	const struct ocl_region region = { (size_t)offset, (size_t)size };
	int status = 0;
	ocl_mem mem;
	int err;

	if (d->version < 110 || !ocl.CreateSubBuffer)
		return opencl_error(d, -TENON_E_UNSUPPORTED, "parts of memory need OpenCL 1.1");
	mem = ocl.CreateSubBuffer(memory_of(parent)->mem, OCL_MEM_READ_WRITE,
				  OCL_BUFFER_CREATE_TYPE_REGION, &region, &status);
	if (mem) {
		err = memory_new(d, mem, size, parent->usage, out);
		if (!err && parent->host)
			(*out)->host = (char *)parent->host + offset;
		return err;
	}
	return opencl_failed(d, status, "taking %" PRIu64 " bytes at %" PRIu64 " of %" PRIu64, size,
			     offset, parent->size);
}

/* The driver keeps a reference to the dma-buf, not the descriptor. */
static int import_dma_buf(struct opencl_device *d, const struct tenon_memory_import *from,
			  struct tenon_memory **out)
{
	const uint64_t properties[] = { OCL_EXTERNAL_MEMORY_DMA_BUF, (uint64_t)from->fd, 0 };
	int (*acquire)(ocl_queue, uint32_t, const ocl_mem *, uint32_t, const ocl_event *,
		       ocl_event *);
	ocl_event event = NULL;
	int status = 0;
	ocl_mem mem;

	*(void **)&acquire = ocl.GetExtensionFunctionAddressForPlatform(
		d->platform, "clEnqueueAcquireExternalMemObjectsKHR");
	mem = ocl.CreateBufferWithProperties(d->context, properties, OCL_MEM_READ_WRITE,
					     (size_t)from->bytes, NULL, &status);
	if (mem && acquire) {
		status = acquire(d->service, 1, &mem, 0, NULL, &event);
		status = finish(d, status, event);
	}
	if (mem && !status)
		return memory_new(d, mem, from->bytes, from->usage, out);
	if (mem)
		ocl.ReleaseMemObject(mem);
	return opencl_failed(d, status, "importing %" PRIu64 " bytes", from->bytes);
}

static int opencl_import(struct tenon_device *device, const struct tenon_memory_import *from,
			 struct tenon_memory **out)
{
	struct opencl_device *d = opencl_device_of(device);

	if (from->type != TENON_HANDLE_HOST_POINTER)
		return import_dma_buf(d, from, out);
	/* a driver silently copies memory that it cannot use in place */
	if ((uintptr_t)from->pointer % device->properties->alignment)
		return opencl_error(d, -TENON_E_VALUE,
				    "host memory at %p: want a multiple of %" PRIu64, from->pointer,
				    device->properties->alignment);
	return buffer_new(d, OCL_MEM_USE_HOST_PTR, from->pointer, from->bytes, from->usage, out);
}

const struct tenon_memory_ops opencl_memory_ops = {
	.size = sizeof(struct tenon_memory_ops),
	.alloc = opencl_alloc,
	.free = opencl_free,
	.map = opencl_map,
	.unmap = opencl_unmap,
	.subrange = opencl_subrange,
	.import_handle = opencl_import,
};
