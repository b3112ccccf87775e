/* SPDX-License-Identifier: MIT */
/*
 * Cache of descriptor sets, for devices without push descriptors, keyed by their contents. An idle
 * set is rewritten for other contents of its bucket, which bounds the number of sets.
 */
#ifndef DEVICES_VULKAN_SETS_H
#define DEVICES_VULKAN_SETS_H

#include "devices/vulkan/vulkan_layout.h"

#define VULKAN_SET_BUCKETS 64

struct vulkan_set;
struct vulkan_set_pool;

struct vulkan_sets {
	struct vulkan_set *buckets[VULKAN_SET_BUCKETS];
	struct vulkan_set_pool *pools;
};

/**
 * vulkan_sets_get - find or create a set that refers to these buffers
 * @ids: numbers of the buffers
 * @buffers: one for each binding of @layout; the block's offset is ignored
 * @serial: serial of the commands that will use the set
 * @done: all commands up to this serial are done
 */
int vulkan_sets_get(struct vulkan_device *device, struct vulkan_sets *sets,
		    const struct vulkan_layout *layout, const uint64_t *ids,
		    const VkDescriptorBufferInfo *buffers, uint64_t serial, uint64_t done,
		    VkDescriptorSet *out);
void vulkan_sets_free(struct vulkan_device *device, struct vulkan_sets *sets);

/* Fill the writes of all bindings. Return: their number. @set: unused with push descriptors. */
uint32_t vulkan_sets_writes(const struct vulkan_layout *layout, VkDescriptorSet set,
			    const VkDescriptorBufferInfo *buffers, VkWriteDescriptorSet writes[2]);

#endif /* DEVICES_VULKAN_SETS_H */
