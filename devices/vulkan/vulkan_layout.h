/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_VULKAN_LAYOUT_H
#define DEVICES_VULKAN_LAYOUT_H

/* How kernels of the same number of buffers and scalars take their arguments; shared by them. */

#include "devices/vulkan/vulkan_device.h"

/**
 * struct vulkan_layout - one sort of argument list
 * @buffers: storage buffers, at bindings from 0
 * @scalars: slots of eight bytes
 * @block: scalars are in a uniform buffer at the binding behind the buffers, else push constants
 * @push: descriptors are pushed, else in sets
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

/* Find or create; valid as long as the device. */
int vulkan_layout_get(struct vulkan_device *device, uint32_t buffers, uint32_t scalars, bool block,
		      const struct vulkan_layout **out);
void vulkan_layouts_free(struct vulkan_device *device);

#endif /* DEVICES_VULKAN_LAYOUT_H */
