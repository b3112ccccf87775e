/* SPDX-License-Identifier: MIT */
/* Hand out pieces of mapped chunks, and keep chunks for the next recording. */
#include "devices/vulkan/vulkan_arena.h"

#include "lib/brief_errors.h"

#include <stdlib.h>

#define CHUNK_LEAST (64 << 10)
#define IDLE_MOST   (64 << 20)

static struct vulkan_chunk *take_idle(struct vulkan_arena *idle, uint64_t size)
{
	struct vulkan_chunk **at, *c;

	for (at = &idle->chunks; (c = *at); at = &c->next) {
		if (c->size < size)
			continue;
		*at = c->next;
		idle->bytes -= c->size;
		return c;
	}
	return NULL;
}

static int make_chunk(struct vulkan_device *d, uint64_t size, struct vulkan_chunk **out)
{
	struct vulkan_chunk *c;
	int err;

	if (size > UINT64_MAX / 2)
		return tenon_error(-TENON_E_OVERFLOW, "no staging memory is that large");
	c = calloc(1, sizeof(*c));
	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a chunk of staging memory");
	c->size = (size + CHUNK_LEAST - 1) & ~(uint64_t)(CHUNK_LEAST - 1);
	err = vulkan_buffer_make(d, c->size,
				 TENON_MEMORY_TRANSFER | TENON_MEMORY_MAP | TENON_MEMORY_HOST_READ,
				 -1, NULL, &c->memory);
	if (err) {
		free(c);
		return tenon_error_in(err, "staging memory");
	}
	*out = c;
	return 0;
}

int vulkan_arena_take(struct vulkan_device *d, struct vulkan_arena *arena,
		      struct vulkan_arena *idle, uint64_t size, uint64_t alignment,
		      struct vulkan_piece *piece)
{
	struct vulkan_chunk *c = arena->chunks;
	uint64_t at = c ? (c->used + alignment - 1) & ~(alignment - 1) : 0;
	int err;

	if (!c || at > c->size || size > c->size - at) {
		c = idle ? take_idle(idle, size) : NULL;
		if (!c) {
			err = make_chunk(d, size, &c);
			if (err)
				return err;
		}
		c->next = arena->chunks;
		arena->chunks = c;
		arena->bytes += c->size;
		at = 0;
	}
	c->used = at + size;
	piece->buffer = c->memory.buffer;
	piece->id = c->memory.id;
	piece->offset = at;
	piece->host = (char *)c->memory.base.host + at;
	return 0;
}

static void free_chunk(struct vulkan_device *d, struct vulkan_chunk *c)
{
	vulkan_buffer_free(d, &c->memory);
	free(c);
}

void vulkan_arena_recycle(struct vulkan_device *d, struct vulkan_arena *arena,
			  struct vulkan_arena *idle)
{
	struct vulkan_chunk *c;

	while ((c = arena->chunks)) {
		arena->chunks = c->next;
		c->used = 0;
		if (idle->bytes + c->size > IDLE_MOST) {
			free_chunk(d, c);
			continue;
		}
		c->next = idle->chunks;
		idle->chunks = c;
		idle->bytes += c->size;
	}
	arena->bytes = 0;
}

void vulkan_arena_free(struct vulkan_device *d, struct vulkan_arena *arena)
{
	struct vulkan_chunk *c;

	while ((c = arena->chunks)) {
		arena->chunks = c->next;
		free_chunk(d, c);
	}
}
