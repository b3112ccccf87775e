/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_VULKAN_SETS_H
#define DEVICES_VULKAN_SETS_H

/*
 * Cache of descriptor sets, for devices without push descriptors, keyed by their contents. An idle
 * set is rewritten for other contents of its bucket, which bounds the number of sets.
 */

#include "devices/vulkan/vulkan_layout.h"

#define VULKAN_SET_BUCKETS 64

struct vulkan_set;
struct vulkan_set_pool;

struct vulkan_sets {
	struct vulkan_set *buckets[VULKAN_SET_BUCKETS];
	struct vulkan_set_pool *pools;
};

/**
 * vulkan_sets_get - find a set that points to these buffers, or make one
 * @ids: numbers of the buffers
 * @buffers: one for each binding of @layout; the block's offset does not count
 * @serial: of the work that will use it
 * @done: all work up to this serial is done
 */
int vulkan_sets_get(struct vulkan_device *device, struct vulkan_sets *sets,
		    const struct vulkan_layout *layout, const uint64_t *ids,
		    const VkDescriptorBufferInfo *buffers, uint64_t serial, uint64_t done,
		    VkDescriptorSet *out);
void vulkan_sets_free(struct vulkan_device *device, struct vulkan_sets *sets);

/* Writes of all bindings of a layout; returns how many. @set: not used for pushing */
uint32_t vulkan_sets_writes(const struct vulkan_layout *layout, VkDescriptorSet set,
			    const VkDescriptorBufferInfo *buffers, VkWriteDescriptorSet writes[2]);

#endif /* DEVICES_VULKAN_SETS_H */
