/* SPDX-License-Identifier: MIT */
/* Temporary values of a graph, which share one block of memory by lifetime. */
#ifndef RUNTIME_BYOC_JSON_BUFFERS_H
#define RUNTIME_BYOC_JSON_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

/* struct byoc_buffer - memory that steps @first to @last use */
struct byoc_buffer {
	size_t bytes;
	size_t offset; /* in the block; a multiple of BYOC_ALIGNMENT */
	uint32_t first;
	uint32_t last;
};

#define BYOC_ALIGNMENT 64

/**
 * byoc_place_buffers - put each buffer at the lowest offset that no buffer of the same time uses
 * @total: receives the size of the block
 *
 * Return: 0; -TENON_E_OVERFLOW.
 */
int byoc_place_buffers(struct byoc_buffer *buffers, uint32_t count, size_t *total);

/**
 * byoc_append - grow a list by a zeroed item
 * @list: address of the pointer to the items
 *
 * Return: the item; NULL with a message.
 */
void *byoc_append(void *list, uint32_t *count, size_t size);

#endif /* RUNTIME_BYOC_JSON_BUFFERS_H */
