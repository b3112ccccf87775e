/* SPDX-License-Identifier: MIT */
/* Descriptor set and pipeline layouts, shared by kernels with as many buffers and scalars. */
#ifndef DEVICES_VULKAN_LAYOUT_H
#define DEVICES_VULKAN_LAYOUT_H

#include "devices/vulkan/vulkan_device.h"

/**
 * struct vulkan_layout - layouts for one shape of argument list
 * @buffers: storage buffers, at bindings from 0
 * @scalars: slots of eight bytes
 * @block: scalars are in a uniform buffer at the last binding, else in push constants
 * @push: uses push descriptors, else descriptor sets
 * @set: layout of set 0
 * @pipeline: layout of the pipelines
 */
struct vulkan_layout {
	struct vulkan_layout *next;
	uint32_t buffers;
	uint32_t scalars;
	bool block;
	bool push;
	VkDescriptorSetLayout set;
	VkPipelineLayout pipeline;
};

/* descriptors of a kernel: buffers and the block */
static inline uint32_t vulkan_layout_bindings(const struct vulkan_layout *l)
{
	return l->buffers + l->block;
}

/* Find or create a layout; valid until the device is closed. */
int vulkan_layout_get(struct vulkan_device *device, uint32_t buffers, uint32_t scalars, bool block,
		      const struct vulkan_layout **out);
void vulkan_layouts_free(struct vulkan_device *device);

#endif /* DEVICES_VULKAN_LAYOUT_H */
