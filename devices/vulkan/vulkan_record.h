/* SPDX-License-Identifier: MIT */
/* Write operations to a command buffer, for queues and recordings. */
#ifndef DEVICES_VULKAN_RECORD_H
#define DEVICES_VULKAN_RECORD_H

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/queue.h>

#include "devices/vulkan/vulkan_arena.h"
#include "devices/vulkan/vulkan_sets.h"

/* limit of scalars of a kernel */
#define VULKAN_SCALARS 256

struct vulkan_kernel {
	struct tenon_kernel base;
	VkPipeline pipeline;
	const struct vulkan_layout *layout;
};

/**
 * struct vulkan_recorder - a command buffer being written, and its bound state
 * @dirty: commands were written after the last barrier
 * @shared: the program's own commands are before and behind these: barriers are for all stages
 * @arena: memory for staged bytes; the owner frees it when the commands are done
 * @idle: idle chunks for @arena; or NULL
 * @sets: descriptor sets
 * @serial: serial of these commands; @done: commands up to this serial are done
 * @layout: layout of the bound arguments; NULL when none are bound
 */
struct vulkan_recorder {
	struct vulkan_device *device;
	VkCommandBuffer commands;
	bool dirty;
	bool shared;
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

/* Create a command buffer with its own pool. The caller destroys @pool, also after a failure. */
int vulkan_record_buffer(struct vulkan_device *device, VkCommandBufferLevel level,
			 VkCommandPool *pool, VkCommandBuffer *commands);
int vulkan_record_begin(struct vulkan_device *device, VkCommandBuffer commands,
			VkCommandBufferUsageFlags usage);
/* Reset the bound state: for an empty command buffer, or after commands that changed bindings. */
void vulkan_recorder_forget(struct vulkan_recorder *r);
/* Make earlier writes visible to later commands. */
void vulkan_record_barrier(struct vulkan_recorder *r);
/* Make earlier writes visible to later commands and to the host. */
void vulkan_record_end(struct vulkan_recorder *r);
/* Write an operation, except reads and timestamps, which need a batch. */
int vulkan_record(struct vulkan_recorder *r, const struct tenon_operation *op);
/* @host: receives the address of the bytes, valid when the commands are done */
int vulkan_record_read(struct vulkan_recorder *r, struct tenon_range from, uint64_t size,
		       const void **host);

#endif /* DEVICES_VULKAN_RECORD_H */
