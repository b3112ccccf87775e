/* SPDX-License-Identifier: MIT */
/* Device memory as dma-bufs, of a heap of the kernel or of another driver. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "devices/torq/torq_device.h"
#include "lib/brief_errors.h"

static int finish(struct torq_buffer *m, struct tenon_device *device, uint64_t size, uint32_t usage,
		  struct tenon_memory **out)
{
	int err = dmabuf_map(&m->buffer);

	if (err) {
		dmabuf_close(&m->buffer);
		free(m);
		return err;
	}
	tenon_memory_init(&m->base, device, size, usage);
	m->base.flags = device->properties->heaps[0].flags;
	if (m->is_foreign)
		m->base.flags &= ~(uint32_t)TENON_HEAP_HOST_COHERENT;
	m->base.host = m->buffer.base;
	*out = &m->base;
	return 0;
}

static struct torq_buffer *new_memory(void)
{
	struct torq_buffer *m = calloc(1, sizeof(*m));

	if (!m)
		tenon_error(-TENON_E_NOMEM, "no memory for a piece of memory");
	return m;
}

static int memory_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
			struct tenon_memory **out)
{
	const struct torq_node *node = &torq_device_of(device)->node;
	struct torq_buffer *m = new_memory();
	int err;

	if (!m)
		return -TENON_E_NOMEM;
	err = dmabuf_allocate(node->calls, node->root, TORQ_HEAPS, request->bytes, &m->buffer);
	if (err) {
		free(m);
		return err == -TENON_E_OVERFLOW ? -TENON_E_NOMEM : err;
	}
	return finish(m, device, request->bytes, request->usage, out);
}

/* The caller keeps its descriptor and may close it. */
static int memory_import(struct tenon_device *device, const struct tenon_memory_import *from,
			 struct tenon_memory **out)
{
	const struct torq_node *node = &torq_device_of(device)->node;
	struct torq_buffer *m = new_memory();
	int fd;

	if (!m)
		return -TENON_E_NOMEM;
	fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0) {
		free(m);
		return tenon_error(-TENON_E_IO, TORQ_NODE ": cannot keep a dma-buf");
	}
	dmabuf_adopt(node->calls, fd, from->bytes, &m->buffer);
	m->is_foreign = true;
	return finish(m, device, from->bytes, from->usage, out);
}

static int memory_export(struct tenon_memory *memory, uint32_t type, int *fd)
{
	(void)type;
	*fd = fcntl(((const struct torq_buffer *)memory)->buffer.fd, F_DUPFD_CLOEXEC, 3);
	return *fd < 0 ? tenon_error(-TENON_E_IO, TORQ_NODE ": cannot give a dma-buf away") : 0;
}

/* A descriptor that was duplicated here is no business of the table of system calls. */
static void release(void *item)
{
	struct torq_buffer *m = item;

	if (m->is_foreign) {
		system_unmap(m->buffer.calls, &m->buffer.base, m->buffer.size);
		close(m->buffer.fd);
	} else {
		dmabuf_close(&m->buffer);
	}
	free(m);
}

static void memory_free(struct tenon_memory *memory)
{
	tenon_device_retire(memory->device, release, memory);
}

/* Of dma-bufs of other drivers, which alone are not coherent. */
static int memory_flush(struct tenon_memory *memory, uint64_t offset, uint64_t size)
{
	const struct torq_buffer *m = (const struct torq_buffer *)memory;

	(void)offset;
	(void)size;
	return m->is_foreign ? dmabuf_end(&m->buffer, DMABUF_BOTH) : 0;
}

static int memory_invalidate(struct tenon_memory *memory, uint64_t offset, uint64_t size)
{
	const struct torq_buffer *m = (const struct torq_buffer *)memory;

	(void)offset;
	(void)size;
	return m->is_foreign ? dmabuf_begin(&m->buffer, DMABUF_BOTH) : 0;
}

const struct tenon_memory_ops torq_memory_ops = {
	.size = sizeof(torq_memory_ops),
	.alloc = memory_alloc,
	.free = memory_free,
	.flush = memory_flush,
	.invalidate = memory_invalidate,
	.import_handle = memory_import,
	.export_handle = memory_export,
};
