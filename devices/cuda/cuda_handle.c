/* SPDX-License-Identifier: MIT */
/* Import and export memory by descriptors, and register host memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "devices/cuda/cuda_device.h"

static struct cu_allocation allocation_of(const struct cuda_device *d)
{
	const struct cu_allocation a = { .type = CU_ALLOCATION_PINNED,
					 .handles = CU_HANDLE_POSIX_FD,
					 .location = { CU_LOCATION_DEVICE, d->context->device } };

	return a;
}

void cuda_mapping_end(struct cuda_device *d, struct cuda_memory *m)
{
	d->cu->MemUnmap(m->base.address, (size_t)m->mapped);
	d->cu->MemAddressFree(m->base.address, (size_t)m->mapped);
	d->cu->MemRelease(m->handle);
}

/* Map the memory of a handle. Takes ownership of the handle, also on failure. */
static int map_handle(struct cuda_device *d, struct cuda_memory *m)
{
	struct cu_access access = { allocation_of(d).location, CU_ACCESS_READ_WRITE };
	size_t size = (size_t)m->mapped;
	cu_address at = 0;
	int status;

	status = d->cu->MemAddressReserve(&at, size, 0, 0, 0);
	if (status)
		goto release;
	status = d->cu->MemMap(at, size, 0, m->handle, 0);
	if (status)
		goto free_address;
	status = d->cu->MemSetAccess(at, size, &access, 1);
	if (status)
		goto unmap;
	m->base.address = at;
	return 0;

unmap:
	d->cu->MemUnmap(at, size);
free_address:
	d->cu->MemAddressFree(at, size);
release:
	d->cu->MemRelease(m->handle);
	return status;
}

static int round_up(struct cuda_device *d, uint64_t size, uint64_t *out)
{
	struct cu_allocation a = allocation_of(d);
	size_t step = 0;
	int status = d->cu->MemGetAllocationGranularity(&step, &a, 0);

	if (!status && (!step || size > UINT64_MAX - step))
		status = CU_INVALID_VALUE;
	if (!status)
		*out = (size + step - 1) / step * step;
	return status;
}

int cuda_exportable_alloc(struct cuda_device *d, const struct tenon_memory_request *request,
			  struct tenon_memory **out)
{
	struct cu_allocation a = allocation_of(d);
	struct cuda_memory *m;
	int status;

	if (!d->base.properties->exports || request->usage & TENON_MEMORY_MAP || request->heap == 1)
		return cuda_error(d, -TENON_E_UNSUPPORTED,
				  "memory that is exported has to be the device's own, and the "
				  "device to support it");
	m = cuda_memory_new(d, request->bytes, request->usage, CUDA_MEMORY_MAPPED);
	if (!m)
		return -TENON_E_NOMEM;
	status = round_up(d, request->bytes, &m->mapped);
	if (!status)
		status = d->cu->MemCreate(&m->handle, (size_t)m->mapped, &a, 0);
	if (!status)
		status = map_handle(d, m);
	if (status) {
		free(m);
		return cuda_failed(d, status, "allocating %" PRIu64 " bytes that can be exported",
				   request->bytes);
	}
	*out = cuda_memory_finish(d, m, d->base.properties->heaps[0].flags);
	return 0;
}

/* Import memory that CUDA exported, in this or another process. */
static int import_mapped(struct cuda_device *d, struct cuda_memory *m, int fd)
{
	int status;

	m->kind = CUDA_MEMORY_MAPPED;
	status = round_up(d, m->base.size, &m->mapped);
	if (!status)
		status = d->cu->MemImport(&m->handle, (void *)(intptr_t)fd, CU_HANDLE_POSIX_FD);
	return status ? status : map_handle(d, m);
}

/* Import memory that Vulkan exported. */
static int import_external(struct cuda_device *d, struct cuda_memory *m, int fd)
{
	struct cu_external_memory from = { .type = CU_EXTERNAL_OPAQUE_FD, .size = m->base.size };
	const struct cu_external_buffer all = { .size = m->base.size };
	int status;

	if (!d->cu->ImportExternalMemory || !d->cu->ExternalMemoryGetMappedBuffer ||
	    !d->cu->DestroyExternalMemory)
		return CU_NOT_SUPPORTED;
	m->kind = CUDA_MEMORY_EXTERNAL;
	/* the driver owns the descriptor after a successful import */
	from.handle.fd = dup(fd);
	if (from.handle.fd < 0)
		return CU_OPERATING_SYSTEM;
	status = d->cu->ImportExternalMemory(&m->external, &from);
	if (status) {
		close(from.handle.fd);
		return status;
	}
	status = d->cu->ExternalMemoryGetMappedBuffer(&m->base.address, m->external, &all);
	if (status)
		d->cu->DestroyExternalMemory(m->external);
	return status;
}

static int import_host(struct cuda_device *d, struct cuda_memory *m, void *host)
{
	int status;

	m->kind = CUDA_MEMORY_REGISTERED;
	m->base.host = host;
	status = d->cu->MemHostRegister(host, (size_t)m->base.size,
					CU_HOST_PORTABLE | CU_HOST_DEVICE_MAP);
	if (status == CU_HOST_MEMORY_ALREADY_REGISTERED) {
		m->kind = CUDA_MEMORY_BORROWED;
		status = 0;
	}
	if (status)
		return status;
	status = d->cu->MemHostGetDevicePointer(&m->base.address, host, 0);
	if (status && m->kind == CUDA_MEMORY_REGISTERED)
		d->cu->MemHostUnregister(host);
	return status;
}

int cuda_import(struct tenon_device *device, const struct tenon_memory_import *from,
		struct tenon_memory **out)
{
	struct cuda_device *d = cuda_device_of(device);
	bool host = from->type == TENON_HANDLE_HOST_POINTER;
	struct cuda_memory *m;
	int status, first;

	if (from->type > TENON_HANDLE_OPAQUE_FD)
		return cuda_error(d, -TENON_E_UNSUPPORTED,
				  "memory of handle type %u cannot be imported", from->type);
	m = cuda_memory_new(d, from->bytes, from->usage, CUDA_MEMORY_REGISTERED);
	if (!m)
		return -TENON_E_NOMEM;
	status = cuda_enter(d);
	if (!status && host) {
		status = import_host(d, m, from->pointer);
	} else if (!status) {
		first = import_mapped(d, m, from->fd);
		status = first ? import_external(d, m, from->fd) : 0;
		if (status == CU_NOT_SUPPORTED)
			status = first;
	}
	if (status) {
		free(m);
		return cuda_failed(d, status, "importing %" PRIu64 " bytes of %s", from->bytes,
				   host ? "host memory" : "an opaque fd");
	}
	*out = cuda_memory_finish(d, m, device->properties->heaps[host].flags);
	return 0;
}

int cuda_export(struct tenon_memory *memory, uint32_t type, int *fd)
{
	struct cuda_device *d = cuda_device_of(memory->device);
	struct cuda_memory *m = (struct cuda_memory *)memory;
	int status;

	status = cuda_enter(d);
	if (status)
		return cuda_failed(d, status, "exporting memory");
	if (m->kind != CUDA_MEMORY_MAPPED)
		return cuda_error(d, -TENON_E_VALUE, "memory of another API is not exported again");
	if (type == TENON_HANDLE_DMA_BUF)
		status = d->cu->MemGetHandleForAddressRange(fd, memory->address, (size_t)m->mapped,
							    CU_RANGE_DMA_BUF_FD, 0);
	else
		status = d->cu->MemExport(fd, m->handle, CU_HANDLE_POSIX_FD, 0);
	if (!status)
		return 0;
	*fd = -1;
	return cuda_failed(d, status, "exporting %" PRIu64 " bytes", memory->size);
}
