/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_VULKAN_RECORD_H
#define DEVICES_VULKAN_RECORD_H

/* Operations as commands of a command buffer; queues and recordings both write theirs with it. */

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/queue.h>

#include "devices/vulkan/vulkan_arena.h"
#include "devices/vulkan/vulkan_sets.h"

/* most scalars of a kernel */
#define VULKAN_SCALARS 256

struct vulkan_kernel {
	struct tenon_kernel base;
	VkPipeline pipeline;
	const struct vulkan_layout *layout;
};

/**
 * struct vulkan_recorder - a command buffer being written, and what is bound in it
 * @dirty: commands were written behind the last barrier
 * @arena: where staged bytes go; the owner frees it when the work is done
 * @idle: chunks for it; NULL for none
 * @sets: descriptor sets
 * @serial: of the work; @done: work up to it is done
 * @layout: what the bound arguments belong to; NULL when nothing is bound
 */
struct vulkan_recorder {
	struct vulkan_device *device;
	VkCommandBuffer commands;
	bool dirty;
	struct vulkan_arena *arena;
	struct vulkan_arena *idle;
	struct vulkan_sets *sets;
	uint64_t serial;
	uint64_t done;
	VkPipeline pipeline;
	const struct vulkan_layout *layout;
	struct vulkan_piece block;
	uint64_t ids[VULKAN_BUFFERS + 1];
	VkDescriptorBufferInfo buffers[VULKAN_BUFFERS + 1];
	uint64_t scalars[VULKAN_SCALARS];
};

/* A command buffer with a pool of its own; @pool is the caller's to destroy, also after a failure. */
int vulkan_record_buffer(struct vulkan_device *device, VkCommandBufferLevel level,
			 VkCommandPool *pool, VkCommandBuffer *commands);
int vulkan_record_begin(struct vulkan_device *device, VkCommandBuffer commands,
			VkCommandBufferUsageFlags usage);
/* Begin with an empty command buffer, or behind commands that changed what is bound. */
void vulkan_recorder_forget(struct vulkan_recorder *r);
/* What follows sees what came before. */
void vulkan_record_barrier(struct vulkan_recorder *r);
/* The same, and the host too. */
void vulkan_record_end(struct vulkan_recorder *r);
/* Any operation that needs nothing but commands. */
int vulkan_record(struct vulkan_recorder *r, const struct tenon_operation *op);
/* @host: receives where the bytes will be when the work is done */
int vulkan_record_read(struct vulkan_recorder *r, struct tenon_range from, uint64_t size,
		       const void **host);

#endif /* DEVICES_VULKAN_RECORD_H */
