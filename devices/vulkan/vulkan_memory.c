/* SPDX-License-Identifier: MIT */
/*
 * Memory: a buffer with its own allocation. Host-visible memory is always mapped. The core's pools
 * combine small requests.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "devices/vulkan/vulkan_device.h"
#include "lib/brief_errors.h"

#define VISIBLE (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

static uint64_t largest_local_heap(const VkPhysicalDeviceMemoryProperties *m)
{
	uint64_t largest = 0;
	uint32_t i;

	for (i = 0; i < m->memoryHeapCount; i++) {
		if ((m->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
		    m->memoryHeaps[i].size > largest)
			largest = m->memoryHeaps[i].size;
	}
	return largest;
}

int vulkan_memory_type(const struct vulkan_facts *facts, uint32_t types, uint32_t usage)
{
	const VkPhysicalDeviceMemoryProperties *m = &facts->memory;
	uint64_t largest = largest_local_heap(m);
	int best = -1, best_score = -1, score;
	VkMemoryPropertyFlags flags;
	uint32_t i;
	bool visible, local;

	types &= facts->usable_types;
	for (i = 0; i < m->memoryTypeCount; i++) {
		flags = m->memoryTypes[i].propertyFlags;
		visible = (flags & VISIBLE) == VISIBLE;
		local = flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
		if (!(types & (1u << i)) || ((usage & TENON_MEMORY_MAP) && !visible))
			continue;
		score = local ? 4 : 0;
		if (usage & TENON_MEMORY_HOST_READ)
			score += flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT ? 8 : 0;
		/*
		 * use a small host-visible window only on request, but resizable BAR for all memory
		 */
		else if (visible && m->memoryHeaps[m->memoryTypes[i].heapIndex].size >= largest / 2)
			score += flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT ? 3 : 2;
		else if (visible && !(usage & TENON_MEMORY_MAP))
			score -= local ? 2 : 0;
		if (score > best_score) {
			best = (int)i;
			best_score = score;
		}
	}
	return best;
}

static int no_memory(struct vulkan_device *d, VkResult r, const char *call, uint64_t size,
		     uint32_t type)
{
	const VkPhysicalDeviceMemoryProperties *m = &d->facts.memory;
	uint32_t heap = m->memoryTypes[type].heapIndex;

	return tenon_error_in(vulkan_check(d, r, call),
			      "%" PRIu64 " bytes of heap %u (%" PRIu64 " MiB)", size, heap,
			      (uint64_t)m->memoryHeaps[heap].size >> 20);
}

static int make_buffer(struct vulkan_device *d, uint64_t size,
		       VkExternalMemoryHandleTypeFlags handles, struct vulkan_memory *m)
{
	VkExternalMemoryBufferCreateInfo external = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
		.handleTypes = handles,
	};
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.pNext = handles ? &external : NULL,
		/* fills write whole words */
		.size = (size + 3) & ~(uint64_t)3,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
			 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
		.sharingMode = VK_SHARING_MODE_EXCLUSIVE,
	};
	VkResult r = d->api.CreateBuffer(d->handle, &info, NULL, &m->buffer);

	return vulkan_check(d, r, "CreateBuffer");
}

/* Reduce @types to the memory types that allow the import. */
static int handle_types(struct vulkan_device *d, const struct tenon_memory_import *from,
			uint32_t *types)
{
	VkMemoryHostPointerPropertiesEXT pointer = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT
	};
	VkMemoryFdPropertiesKHR fd = { .sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR };
	VkExternalMemoryHandleTypeFlagBits type =
		(VkExternalMemoryHandleTypeFlagBits)vulkan_handle_type(from->type);
	VkResult r = VK_SUCCESS;

	if (from->type == TENON_HANDLE_HOST_POINTER) {
		r = d->api.GetMemoryHostPointerPropertiesEXT(d->handle, type, from->pointer,
							     &pointer);
		*types &= pointer.memoryTypeBits;
	} else if (from->type == TENON_HANDLE_DMA_BUF) {
		r = d->api.GetMemoryFdPropertiesKHR(d->handle, type, from->fd, &fd);
		*types &= fd.memoryTypeBits;
	}
	return vulkan_check(d, r, "GetMemory…Properties");
}

struct allocation {
	VkMemoryAllocateInfo info;
	VkMemoryDedicatedAllocateInfo dedicated;
	VkExportMemoryAllocateInfo export;
	VkImportMemoryFdInfoKHR fd;
	VkImportMemoryHostPointerInfoEXT pointer;
};

static int allocate(struct vulkan_device *d, struct allocation *a, uint32_t handles,
		    const struct tenon_memory_import *from, struct vulkan_memory *m)
{
	VkExternalMemoryHandleTypeFlagBits type = 0;
	VkResult r;

	if (from)
		type = (VkExternalMemoryHandleTypeFlagBits)vulkan_handle_type(from->type);
	if (handles & d->facts.dedicated) {
		a->dedicated.buffer = m->buffer;
		vulkan_chain(&a->info, &a->dedicated,
			     VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
	}
	if (handles && !from) {
		a->export.handleTypes = handles;
		vulkan_chain(&a->info, &a->export, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
	} else if (from && from->type == TENON_HANDLE_HOST_POINTER) {
		a->pointer.handleType = type;
		a->pointer.pHostPointer = from->pointer;
		vulkan_chain(&a->info, &a->pointer,
			     VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
	} else if (from) {
		a->fd.handleType = type;
		a->fd.fd = from->fd;
		vulkan_chain(&a->info, &a->fd, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
	}
	a->info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
	r = d->api.AllocateMemory(d->handle, &a->info, NULL, &m->memory);
	if (r)
		return no_memory(d, r, "AllocateMemory", a->info.allocationSize,
				 a->info.memoryTypeIndex);
	r = d->api.BindBufferMemory(d->handle, m->buffer, m->memory, 0);
	return vulkan_check(d, r, "BindBufferMemory");
}

static int map(struct vulkan_device *d, struct vulkan_memory *m, uint32_t usage)
{
	VkMemoryPropertyFlags flags = d->facts.memory.memoryTypes[m->type].propertyFlags;
	VkResult r;

	if (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
		m->base.flags |= TENON_HEAP_DEVICE_LOCAL;
	if ((flags & VISIBLE) != VISIBLE || (d->staging && !(usage & TENON_MEMORY_MAP)))
		return 0;
	m->base.flags |= TENON_HEAP_HOST_VISIBLE | TENON_HEAP_HOST_COHERENT;
	if (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
		m->base.flags |= TENON_HEAP_HOST_CACHED;
	r = d->api.MapMemory(d->handle, m->memory, 0, VK_WHOLE_SIZE, 0, &m->base.host);
	return vulkan_check(d, r, "MapMemory");
}

static int choose_type(struct vulkan_device *d, uint32_t types, uint32_t usage, int32_t heap,
		       struct vulkan_memory *m)
{
	int type;

	if (heap >= 0)
		types &= 1u << d->facts.heap_types[heap];
	type = vulkan_memory_type(&d->facts, types, usage);
	if (type < 0)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: no memory type for the request (usage %#x, heap %d)",
				   d->base.properties->name, usage, (int)heap);
	m->type = (uint32_t)type;
	return 0;
}

int vulkan_buffer_make(struct vulkan_device *d, uint64_t size, uint32_t usage, int32_t heap,
		       const struct tenon_memory_import *from, struct vulkan_memory *m)
{
	uint32_t handles = 0;
	VkMemoryRequirements needs;
	struct allocation a;
	int err;

	memset(&a, 0, sizeof(a));
	if (from)
		handles = vulkan_handle_type(from->type);
	/* an opaque fd must be imported with the handle types that it was exported with */
	if (from ? from->type == TENON_HANDLE_OPAQUE_FD : !!(usage & TENON_MEMORY_EXPORT))
		handles |= d->facts.exports;
	m->id = vulkan_new_id(d);
	err = make_buffer(d, size, handles, m);
	if (err)
		return err;
	d->api.GetBufferMemoryRequirements(d->handle, m->buffer, &needs);
	if (from)
		err = handle_types(d, from, &needs.memoryTypeBits);
	if (!err)
		err = choose_type(d, needs.memoryTypeBits, usage, heap, m);
	if (err)
		goto free_it;
	a.info.allocationSize = needs.size;
	/* the size of imported host memory must not be rounded up */
	if (from && from->type == TENON_HANDLE_HOST_POINTER)
		a.info.allocationSize = size;
	a.info.memoryTypeIndex = m->type;
	m->allocated = a.info.allocationSize;
	err = allocate(d, &a, handles, from, m);
	if (!err)
		err = map(d, m, usage);
	if (!err)
		return 0;
free_it:
	vulkan_buffer_free(d, m);
	return err;
}

void vulkan_buffer_free(struct vulkan_device *d, struct vulkan_memory *m)
{
	d->api.DestroyBuffer(d->handle, m->buffer, NULL);
	d->api.FreeMemory(d->handle, m->memory, NULL);
}

int vulkan_memory_finish(struct vulkan_device *d, struct vulkan_memory *made,
			 struct tenon_memory **out)
{
	struct vulkan_memory *m = malloc(sizeof(*m));

	if (!m) {
		vulkan_buffer_free(d, made);
		return tenon_error(-TENON_E_NOMEM, "no memory for a buffer");
	}
	*m = *made;
	tenon_memory_init(&m->base, &d->base, made->base.size, made->base.usage);
	m->base.flags = made->base.flags;
	m->base.host = made->base.host;
	*out = &m->base;
	return 0;
}

static int vulkan_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
			struct tenon_memory **out)
{
	struct vulkan_device *d = vulkan_device_of(device);
	struct vulkan_memory made = { .base = { .size = request->bytes, .usage = request->usage } };
	int err;

	if ((request->usage & TENON_MEMORY_EXPORT) && !d->facts.exports)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s exports no memory",
				   device->properties->name);
	err = vulkan_buffer_make(d, request->bytes, request->usage, request->heap, NULL, &made);
	return err ? err : vulkan_memory_finish(d, &made, out);
}

static void release(void *item)
{
	struct vulkan_memory *m = item;

	vulkan_buffer_free(vulkan_device_of(m->base.device), m);
	free(m);
}

static void vulkan_free(struct tenon_memory *memory)
{
	tenon_device_retire(memory->device, release, memory);
}

const struct tenon_memory_ops vulkan_memory_ops = {
	.size = sizeof(struct tenon_memory_ops),
	.alloc = vulkan_alloc,
	.free = vulkan_free,
	.import_handle = vulkan_import,
	.export_handle = vulkan_export,
};
