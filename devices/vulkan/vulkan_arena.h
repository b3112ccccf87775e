/* SPDX-License-Identifier: MIT */
/*
 * Host-visible memory of recorded commands: staged copies, blocks of scalars. An arena grows by
 * chunks until the commands are done, then all of it is freed at once.
 */
#ifndef DEVICES_VULKAN_ARENA_H
#define DEVICES_VULKAN_ARENA_H

#include "devices/vulkan/vulkan_device.h"

struct vulkan_chunk {
	struct vulkan_chunk *next;
	struct vulkan_memory memory;
	uint64_t size;
	uint64_t used;
};

/** struct vulkan_arena - chunks in use, the current one first, and their bytes */
struct vulkan_arena {
	struct vulkan_chunk *chunks;
	uint64_t bytes;
};

/** struct vulkan_piece - a part of a chunk */
struct vulkan_piece {
	VkBuffer buffer;
	uint64_t id; /* of the buffer */
	uint64_t offset;
	void *host;
};

/* Allocate from an arena. @idle: chunks to reuse before new ones are allocated; or NULL. */
int vulkan_arena_take(struct vulkan_device *device, struct vulkan_arena *arena,
		      struct vulkan_arena *idle, uint64_t size, uint64_t alignment,
		      struct vulkan_piece *piece);
/* Move all chunks to @idle; those beyond its limit are freed. */
void vulkan_arena_recycle(struct vulkan_device *device, struct vulkan_arena *arena,
			  struct vulkan_arena *idle);
void vulkan_arena_free(struct vulkan_device *device, struct vulkan_arena *arena);

#endif /* DEVICES_VULKAN_ARENA_H */
