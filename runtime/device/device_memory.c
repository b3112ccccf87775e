/* SPDX-License-Identifier: MIT */
/* Allocate, divide, map, import and export the memory of devices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/options.h"
#include "runtime/device/device_trace.h"

/* in tenon_memory.flags: the memory is part of the device's count */
#define COUNTED (UINT32_C(1) << 31)

/* Free a part that the core made, for backends without ops->subrange. */
static void part_free(struct tenon_memory *m)
{
	heap_free(m);
}

static void memory_delete(void *self, int flags)
{
	struct tenon_memory *m = self, *parent = m->parent;
	struct tenon_device *device = m->device;

	if (!(flags & TENON_DELETE_MEMORY) || device_is_parents(device))
		return;
	if (!parent && m->flags & COUNTED)
		trace_count_memory(device, -m->size);
	if (parent && !device->ops->memory->subrange)
		part_free(m);
	else
		device->ops->memory->free(m);
	tenon_object_unref(parent);
	tenon_object_unref(device);
}

void tenon_memory_init(struct tenon_memory *m, struct tenon_device *device, uint64_t size,
		       uint32_t usage)
{
	tenon_object_init(&m->object, device_object_type(DEVICE_OBJECT_MEMORY), memory_delete);
	tenon_object_ref(device);
	m->device = device;
	m->size = size;
	m->usage = usage;
	m->flags = 0;
	m->address = 0;
	m->host = NULL;
	m->parent = NULL;
	m->offset = 0;
}

#define USAGES                                                                                     \
	(TENON_MEMORY_TRANSFER | TENON_MEMORY_STORAGE | TENON_MEMORY_MAP |                         \
	 TENON_MEMORY_HOST_READ | TENON_MEMORY_EXPORT)

/* Reject unknown flags, and requests that would fail later. */
static int check_usage(struct tenon_device *device, uint32_t usage)
{
	char label[DEVICE_LABEL];

	if (!usage || usage & ~(uint32_t)USAGES)
		return tenon_error(-TENON_E_VALUE, "memory for the uses 0x%x: want some of 0x%x",
				   usage, USAGES);
	if (usage & TENON_MEMORY_EXPORT && !device->properties->exports)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s gives no memory away",
				   device_label(device, label));
	return 0;
}

static void count(struct tenon_memory *m)
{
	m->flags |= COUNTED;
	trace_count_memory(m->device, m->size);
}

int tenon_memory_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
		       struct tenon_memory **out)
{
	const struct tenon_device_properties *p = device->properties;
	struct tenon_memory_request r;
	char label[DEVICE_LABEL];
	uint64_t begin;
	int err;

	*out = NULL;
	err = tenon_device_check(device);
	if (!err)
		err = options_read(request, &r, sizeof(r));
	if (!err)
		err = check_usage(device, r.usage);
	if (err)
		return err;
	if (!r.bytes || r.heap >= (int32_t)p->heap_count || r.heap < -1)
		return tenon_error(-TENON_E_VALUE,
				   "%s: %" PRIu64
				   " bytes of heap %d: want at least one byte, and a "
				   "heap of 0 to %u or -1",
				   device_label(device, label), r.bytes, r.heap,
				   p->heap_count ? p->heap_count - 1 : 0);
	if (p->max_allocation && r.bytes > p->max_allocation)
		return tenon_error(-TENON_E_NOMEM,
				   "%s: %" PRIu64 " bytes in one piece; the most is %" PRIu64,
				   device_label(device, label), r.bytes, p->max_allocation);
	device_reap(device);
	begin = trace_begin();
	err = device->ops->memory->alloc(device, &r, out);
	trace_add("memory", tenon_slice_of("allocate"), r.bytes, begin);
	if (!err)
		count(*out);
	return err;
}

static int check_within(const struct tenon_memory *m, uint64_t offset, uint64_t size)
{
	if (offset <= m->size && size <= m->size - offset)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%" PRIu64 " bytes at %" PRIu64 " of memory of %" PRIu64 " bytes", size,
			   offset, m->size);
}

int tenon_memory_subrange(struct tenon_memory *memory, uint64_t offset, uint64_t size,
			  struct tenon_memory **out)
{
	uint64_t align = memory->device->properties->alignment, from = offset;
	struct tenon_memory *root, *m;
	int err;

	*out = NULL;
	err = check_within(memory, offset, size);
	if (err)
		return err;
	root = tenon_memory_root(memory, &from);
	if (!size || (align > 1 && from % align))
		return tenon_error(-TENON_E_VALUE,
				   "a part of %" PRIu64 " bytes at %" PRIu64
				   ": want at least one byte, at a multiple of %" PRIu64,
				   size, from, align);
	if (memory->device->ops->memory->subrange) {
		err = memory->device->ops->memory->subrange(root, from, size, &m);
		if (err)
			return err;
	} else {
		m = heap_alloc(sizeof(*m), "part of memory");
		if (!m)
			return tenon_error(-TENON_E_NOMEM, "no memory for a part");
		tenon_memory_init(m, root->device, size, root->usage);
		m->flags = root->flags & ~COUNTED;
		m->address = root->address ? root->address + from : 0;
		m->host = root->host ? (char *)root->host + from : NULL;
	}
	tenon_object_ref(root);
	m->parent = root;
	m->offset = from;
	*out = m;
	return 0;
}

static bool coherent(const struct tenon_memory *m)
{
	return m->flags & TENON_HEAP_HOST_COHERENT;
}

/* Backends without ops->subrange do not know parts: pass the whole memory. */
static struct tenon_memory *for_backend(struct tenon_memory *m, uint64_t *offset)
{
	return m->device->ops->memory->subrange ? m : tenon_memory_root(m, offset);
}

int tenon_memory_flush(struct tenon_memory *m, uint64_t offset, uint64_t size)
{
	const struct tenon_memory_ops *ops = m->device->ops->memory;
	int err = check_within(m, offset, size);

	if (err || coherent(m) || !ops->flush)
		return err;
	m = for_backend(m, &offset);
	return ops->flush(m, offset, size);
}

int tenon_memory_invalidate(struct tenon_memory *m, uint64_t offset, uint64_t size)
{
	const struct tenon_memory_ops *ops = m->device->ops->memory;
	int err = check_within(m, offset, size);

	if (err || coherent(m) || !ops->invalidate)
		return err;
	m = for_backend(m, &offset);
	return ops->invalidate(m, offset, size);
}

int tenon_memory_map(struct tenon_memory *m, uint32_t mode, uint64_t offset, uint64_t size,
		     void **out)
{
	const struct tenon_memory_ops *ops = m->device->ops->memory;
	char label[DEVICE_LABEL];
	int err;

	*out = NULL;
	err = tenon_device_check(m->device);
	if (!err)
		err = check_within(m, offset, size);
	if (err)
		return err;
	if (!(mode & (TENON_MAP_READ | TENON_MAP_WRITE)))
		return tenon_error(-TENON_E_VALUE, "a mapping is for reading, writing, or both");
	if (m->host) {
		if (mode & TENON_MAP_READ)
			err = tenon_memory_invalidate(m, offset, size);
		if (!err)
			*out = (char *)m->host + offset;
		return err;
	}
	if (!ops->map || !(m->flags & TENON_HEAP_HOST_VISIBLE))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "memory of %s that the host cannot see: ask for "
				   "TENON_MEMORY_MAP, or read and write it through a queue",
				   device_label(m->device, label));
	m = for_backend(m, &offset);
	return ops->map(m, mode, offset, size, out);
}

int tenon_memory_unmap(struct tenon_memory *m, void *mapped, uint32_t mode, uint64_t offset,
		       uint64_t size)
{
	int err;

	if (m->host)
		return mode & TENON_MAP_WRITE ? tenon_memory_flush(m, offset, size) : 0;
	err = check_within(m, offset, size);
	if (err)
		return err;
	m = for_backend(m, &offset);
	if (m->device->ops->memory->unmap)
		m->device->ops->memory->unmap(m, mapped, mode, offset, size);
	return 0;
}

static const char *handle_name(uint32_t type)
{
	static const char *const names[] = { "a host pointer", "an opaque fd", "a dma-buf" };

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "an unknown handle";
}

int tenon_memory_import(struct tenon_device *device, const struct tenon_memory_import *from,
			struct tenon_memory **out)
{
	struct tenon_memory_import m;
	char label[DEVICE_LABEL];
	int err;

	*out = NULL;
	err = tenon_device_check(device);
	if (!err)
		err = options_read(from, &m, sizeof(m));
	if (err)
		return err;
	if (m.type > TENON_HANDLE_DMA_BUF || !device->ops->memory->import_handle ||
	    !(device->properties->imports & 1u << m.type))
		return tenon_error(-TENON_E_UNSUPPORTED, "%s cannot use %s as its memory",
				   device_label(device, label), handle_name(m.type));
	if (!m.bytes || (m.type == TENON_HANDLE_HOST_POINTER ? !m.pointer : m.fd < 0))
		return tenon_error(-TENON_E_VALUE, "%s of %" PRIu64 " bytes is no memory",
				   handle_name(m.type), m.bytes);
	if (m.heap > device->properties->heap_count)
		return tenon_error(-TENON_E_VALUE, "%s of heap %u: there are %u",
				   handle_name(m.type), m.heap - 1, device->properties->heap_count);
	err = device->ops->memory->import_handle(device, &m, out);
	if (!err)
		count(*out);
	return err;
}

int tenon_memory_export(struct tenon_memory *m, uint32_t type, int *fd)
{
	const struct tenon_memory_ops *ops = m->device->ops->memory;
	char label[DEVICE_LABEL];
	int err;

	*fd = -1;
	err = tenon_device_check(m->device);
	if (err)
		return err;
	if (type == TENON_HANDLE_HOST_POINTER || type > TENON_HANDLE_DMA_BUF ||
	    !ops->export_handle || !(m->device->properties->exports & 1u << type))
		return tenon_error(-TENON_E_UNSUPPORTED, "%s cannot give its memory away as %s",
				   device_label(m->device, label), handle_name(type));
	if (m->parent || !(m->usage & TENON_MEMORY_EXPORT))
		return tenon_error(-TENON_E_VALUE,
				   "only whole memory made with TENON_MEMORY_EXPORT is given away");
	return ops->export_handle(m, type, fd);
}

int tenon_memory_of_data(struct tenon_device *device, void *data, struct tenon_memory *room,
			 struct tenon_memory **out)
{
	char label[DEVICE_LABEL];
	struct tenon_memory *m = data;

	*out = NULL;
	if (!data)
		return tenon_error(-TENON_E_VALUE, "NULL is no memory of %s",
				   device_label(device, label));
	if (device->properties->flags & TENON_DEVICE_ADDRESSES) {
		memset(room, 0, sizeof(*room));
		room->device = device;
		room->size = UINT64_MAX;
		room->address = (uintptr_t)data;
		if (device->properties->flags & TENON_DEVICE_HOST_MEMORY)
			room->host = data;
		*out = room;
		return 0;
	}
	if (m->object.type != device_object_type(DEVICE_OBJECT_MEMORY) || m->device != device)
		return tenon_error(-TENON_E_VALUE, "%p is no memory of %s", data,
				   device_label(device, label));
	*out = m;
	return 0;
}

uint64_t tenon_memory_size(const struct tenon_memory *memory)
{
	return memory->size;
}

void *tenon_memory_data(struct tenon_memory *memory)
{
	if (memory->device->properties->flags & TENON_DEVICE_ADDRESSES)
		return (void *)(uintptr_t)memory->address;
	return memory;
}
