/* SPDX-License-Identifier: MIT */
/* Import and export of memory. */
#include <inttypes.h>
#include <unistd.h>

#include "devices/vulkan/vulkan_device.h"
#include "lib/brief_errors.h"

VkExternalMemoryHandleTypeFlags vulkan_handle_type(uint32_t type)
{
	switch (type) {
	case TENON_HANDLE_HOST_POINTER:
		return VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
	case TENON_HANDLE_OPAQUE_FD:
		return VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
	case TENON_HANDLE_DMA_BUF:
		return VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
	default:
		return 0;
	}
}

static int check_pointer(struct vulkan_device *d, const struct tenon_memory_import *from)
{
	uint64_t step = d->facts.pointer_alignment;

	if (((uintptr_t)from->pointer | from->bytes) & (step - 1))
		return tenon_error(-TENON_E_VALUE,
				   "%" PRIu64
				   " bytes at %p: the device takes memory of the process "
				   "that begins and ends at multiples of %" PRIu64,
				   from->bytes, from->pointer, step);
	return 0;
}

int vulkan_import(struct tenon_device *device, const struct tenon_memory_import *from,
		  struct tenon_memory **out)
{
	struct vulkan_device *d = vulkan_device_of(device);
	struct vulkan_memory made = { .base = { .size = from->bytes, .usage = from->usage } };
	struct tenon_memory_import own = *from;
	int err = 0;

	if (from->type == TENON_HANDLE_HOST_POINTER) {
		err = check_pointer(d, from);
	} else {
		/* the driver owns an imported descriptor, so pass a duplicate */
		own.fd = dup(from->fd);
		if (own.fd < 0)
			err = tenon_error(-TENON_E_VALUE, "fd %d cannot be duplicated: %m",
					  from->fd);
	}
	if (err)
		return err;
	err = vulkan_buffer_make(d, from->bytes, from->usage, (int32_t)from->heap - 1, &own, &made);
	if (err) {
		/* the driver owns the descriptor once the allocation succeeded */
		if (from->type != TENON_HANDLE_HOST_POINTER && !made.memory)
			close(own.fd);
		return err;
	}
	return vulkan_memory_finish(d, &made, out);
}

int vulkan_export(struct tenon_memory *memory, uint32_t type, int *fd)
{
	struct vulkan_device *d = vulkan_device_of(memory->device);
	VkMemoryGetFdInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
		.memory = vulkan_memory_of(memory)->memory,
		.handleType = (VkExternalMemoryHandleTypeFlagBits)vulkan_handle_type(type),
	};
	VkResult r = d->api.GetMemoryFdKHR(d->handle, &info, fd);

	return vulkan_check(d, r, "GetMemoryFdKHR");
}
