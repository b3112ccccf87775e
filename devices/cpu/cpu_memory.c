/* SPDX-License-Identifier: MIT */
#include "devices/cpu/cpu.h"
#include "lib/brief_errors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALIGN 128

/* origin of memory */
enum source {
	SOURCE_HEAP,
	SOURCE_MAPPED, /* memfd, which other processes may map */
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

	if (fd < 0 || ftruncate(fd, (off_t)request->size)) {
		err = nomem(request->size);
	} else {
		err = map_fd(device, fd, request->size, request->usage, out);
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

	if (request->size > INT64_MAX || request->size > SIZE_MAX / 2)
		return nomem(request->size);
	if (request->usage & TENON_MEMORY_EXPORT)
		return alloc_to_export(device, request, out);
	if (posix_memalign(&bytes, ALIGN, (size_t)request->size))
		return nomem(request->size);
	err = make(device, request->size, request->usage, SOURCE_HEAP, bytes, out);
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

static int import_fd(struct tenon_device *device, const struct tenon_memory_import *from,
		     struct tenon_memory **out)
{
	struct stat st;
	int err, fd;

	if (fstat(from->fd, &st) || (uint64_t)st.st_size < from->size)
		return tenon_error(-TENON_E_VALUE, "cpu: the fd has fewer than %llu bytes",
				   (unsigned long long)from->size);
	fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return tenon_error(-TENON_E_IO, "cpu: %s", strerror(errno));
	err = map_fd(device, fd, from->size, from->usage, out);
	if (err)
		close(fd);
	return err;
}

static int cpu_import(struct tenon_device *device, const struct tenon_memory_import *from,
		      struct tenon_memory **out)
{
	if (from->type == TENON_HANDLE_OPAQUE_FD)
		return import_fd(device, from, out);
	return make(device, from->size, from->usage, SOURCE_FOREIGN, from->pointer, out);
}

static int cpu_export(struct tenon_memory *memory, uint32_t type, int *fd)
{
	const struct cpu_memory *m = (const struct cpu_memory *)memory;

	(void)type;
	*fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 3);
	return *fd < 0 ? tenon_error(-TENON_E_IO, "cpu: %s", strerror(errno)) : 0;
}

const struct tenon_memory_ops cpu_memory_ops = {
	.size = sizeof(cpu_memory_ops),
	.alloc = cpu_alloc,
	.free = cpu_free,
	.import_handle = cpu_import,
	.export_handle = cpu_export,
};
