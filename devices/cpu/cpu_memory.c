/* SPDX-License-Identifier: MIT */
/* Host memory as device memory, and its exchange as memfds and dma-bufs. */
#include "devices/cpu/cpu.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "lib/brief_errors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALIGN 128

/* origin of memory */
enum source {
	SOURCE_HEAP,
	SOURCE_MAPPED, /* memfd or dma-buf, which others may map too */
	SOURCE_FOREIGN,
};

struct cpu_memory {
	struct tenon_memory base;
	enum source source;
	int fd;
};

static int make(struct tenon_device *device, uint64_t size, uint32_t usage, enum source source,
		void *bytes, struct tenon_memory **out)
{
	struct cpu_memory *m = malloc(sizeof(*m));

	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	tenon_memory_init(&m->base, device, size, usage);
	m->base.flags = device->properties->heaps[0].flags;
	m->base.address = (uintptr_t)bytes;
	m->base.host = bytes;
	m->source = source;
	m->fd = -1;
	*out = &m->base;
	return 0;
}

static int nomem(uint64_t size)
{
	return tenon_error(-TENON_E_NOMEM, "cpu: no memory for %llu bytes",
			   (unsigned long long)size);
}

static int map_fd(struct tenon_device *device, int fd, uint64_t size, uint32_t usage,
		  struct tenon_memory **out)
{
	void *bytes = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int err;

	if (bytes == MAP_FAILED)
		return tenon_error(-TENON_E_VALUE, "cpu: the fd cannot be mapped: %s",
				   strerror(errno));
	err = make(device, size, usage, SOURCE_MAPPED, bytes, out);
	if (err) {
		munmap(bytes, (size_t)size);
		return err;
	}
	((struct cpu_memory *)*out)->fd = fd;
	return 0;
}

static int alloc_to_export(struct tenon_device *device, const struct tenon_memory_request *request,
			   struct tenon_memory **out)
{
	int err, fd = memfd_create("tenon", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)request->bytes)) {
		err = nomem(request->bytes);
	} else {
		err = map_fd(device, fd, request->bytes, request->usage, out);
	}
	if (err && fd >= 0)
		close(fd);
	return err;
}

static int cpu_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
		     struct tenon_memory **out)
{
	void *bytes;
	int err;

	if (request->bytes > INT64_MAX || request->bytes > SIZE_MAX / 2)
		return nomem(request->bytes);
	if (request->usage & TENON_MEMORY_EXPORT)
		return alloc_to_export(device, request, out);
	if (posix_memalign(&bytes, ALIGN, (size_t)request->bytes))
		return nomem(request->bytes);
	err = make(device, request->bytes, request->usage, SOURCE_HEAP, bytes, out);
	if (err)
		free(bytes);
	return err;
}

static void release(void *item)
{
	struct cpu_memory *m = item;

	if (m->source == SOURCE_HEAP)
		free(m->base.host);
	if (m->source == SOURCE_MAPPED)
		munmap(m->base.host, (size_t)m->base.size);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

static void cpu_free(struct tenon_memory *memory)
{
	tenon_device_retire(memory->device, release, memory);
}

/* Bracket accesses of the CPU to a dma-buf; they wait for no device. */
static int sync_dmabuf(int fd, uint64_t flags)
{
	struct dmabuf_uapi_sync sync = { flags };
	int failed;

	do
		failed = ioctl(fd, DMABUF_UAPI_SYNC, &sync);
	while (failed && (errno == EINTR || errno == EAGAIN));
	return failed ? tenon_error(-TENON_E_IO, "cpu: cannot synchronise a dma-buf: %s",
				    strerror(errno))
		      : 0;
}

static int check_dmabuf(int fd)
{
	int err = sync_dmabuf(fd, DMABUF_UAPI_BOTH);

	if (!err)
		err = sync_dmabuf(fd, DMABUF_UAPI_BOTH | DMABUF_UAPI_END);
	return err ? tenon_error(-TENON_E_VALUE, "cpu: descriptor %d is not a dma-buf", fd) : 0;
}

static uint64_t size_of(const struct tenon_memory_import *from)
{
	struct stat st;
	off_t end;

	/* lseek() gives the size of a dma-buf on all kernels, fstat() only on newer ones */
	if (from->type == TENON_HANDLE_DMA_BUF) {
		end = lseek(from->fd, 0, SEEK_END);
		return end < 0 ? 0 : (uint64_t)end;
	}
	return fstat(from->fd, &st) || st.st_size < 0 ? 0 : (uint64_t)st.st_size;
}

static int import_fd(struct tenon_device *device, const struct tenon_memory_import *from,
		     struct tenon_memory **out)
{
	int err, fd;

	err = from->type == TENON_HANDLE_DMA_BUF ? check_dmabuf(from->fd) : 0;
	if (err)
		return err;
	if (size_of(from) < from->bytes)
		return tenon_error(-TENON_E_VALUE, "cpu: the fd has fewer than %llu bytes",
				   (unsigned long long)from->bytes);
	fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return tenon_error(-TENON_E_IO, "cpu: %s", strerror(errno));
	err = map_fd(device, fd, from->bytes, from->usage, out);
	if (err)
		close(fd);
	/* caches need not be coherent with the device that has the memory */
	else if (from->type == TENON_HANDLE_DMA_BUF)
		(*out)->flags &= ~(uint32_t)TENON_HEAP_HOST_COHERENT;
	return err;
}

static int cpu_import(struct tenon_device *device, const struct tenon_memory_import *from,
		      struct tenon_memory **out)
{
	if (from->type != TENON_HANDLE_HOST_POINTER)
		return import_fd(device, from, out);
	return make(device, from->bytes, from->usage, SOURCE_FOREIGN, from->pointer, out);
}

static int cpu_export(struct tenon_memory *memory, uint32_t type, int *fd)
{
	const struct cpu_memory *m = (const struct cpu_memory *)memory;

	*fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 3);
	return *fd < 0 ? tenon_error(-TENON_E_IO, "cpu: %s", strerror(errno)) : 0;
}

/*
 * Begin or end CPU accesses of a dma-buf, the only memory here that is not coherent. The kernel
 * takes no ranges.
 */
static int cpu_flush(struct tenon_memory *memory, uint64_t offset, uint64_t size)
{
	return sync_dmabuf(((const struct cpu_memory *)memory)->fd,
			   DMABUF_UAPI_BOTH | DMABUF_UAPI_END);
}

static int cpu_invalidate(struct tenon_memory *memory, uint64_t offset, uint64_t size)
{
	return sync_dmabuf(((const struct cpu_memory *)memory)->fd, DMABUF_UAPI_BOTH);
}

const struct tenon_memory_ops cpu_memory_ops = {
	.size = sizeof(cpu_memory_ops),
	.alloc = cpu_alloc,
	.free = cpu_free,
	.flush = cpu_flush,
	.invalidate = cpu_invalidate,
	.import_handle = cpu_import,
	.export_handle = cpu_export,
};
