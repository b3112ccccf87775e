/* SPDX-License-Identifier: MIT */
/* First-fit allocation with lists on the host's side. */
#include "devices/mortise/mortise_heap.h"

#include <stdlib.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

int mortise_heap_init(struct mortise_heap *heap, uint64_t offset, uint64_t size)
{
	struct mortise_block *b = calloc(1, sizeof(*b));

	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a heap");
	b->offset = offset;
	b->size = size;
	heap->first = b;
	heap->left = size;
	pthread_mutex_init(&heap->lock, NULL);
	return 0;
}

void mortise_heap_fini(struct mortise_heap *heap)
{
	struct mortise_block *b;

	if (!heap->first)
		return;
	while ((b = heap->first)) {
		heap->first = b->next;
		free(b);
	}
	pthread_mutex_destroy(&heap->lock);
}

/* Cut a block in two; the second begins @size bytes behind the first. */
static bool split(struct mortise_block *b, uint64_t size)
{
	struct mortise_block *rest;

	if (b->size == size)
		return true;
	rest = malloc(sizeof(*rest));
	if (!rest)
		return false;
	*rest = (struct mortise_block){ b->next, b, b->offset + size, b->size - size, false };
	if (b->next)
		b->next->previous = rest;
	b->next = rest;
	b->size = size;
	return true;
}

static void join_next(struct mortise_block *b)
{
	struct mortise_block *next = b->next;

	if (!next || next->used || b->used)
		return;
	b->size += next->size;
	b->next = next->next;
	if (b->next)
		b->next->previous = b;
	free(next);
}

/* The first free block with room, cut to what is wanted. Called with the lock held. */
static struct mortise_block *find(struct mortise_heap *heap, uint64_t size, uint64_t align)
{
	struct mortise_block *b;
	uint64_t gap;

	for (b = heap->first; b; b = b->next) {
		gap = round_up(b->offset, align) - b->offset;
		if (b->used || b->size < gap || b->size - gap < size)
			continue;
		if (gap) {
			if (!split(b, gap))
				return NULL;
			b = b->next;
		}
		return split(b, size) ? b : NULL;
	}
	return NULL;
}

int mortise_heap_take(struct mortise_heap *heap, uint64_t size, uint64_t align,
		      struct mortise_block **out)
{
	uint64_t left, grains = UINT64_MAX;

	if (align < MORTISE_HEAP_GRAIN)
		align = MORTISE_HEAP_GRAIN;
	if (size < UINT64_MAX - MORTISE_HEAP_GRAIN)
		grains = round_up(size, MORTISE_HEAP_GRAIN);
	pthread_mutex_lock(&heap->lock);
	*out = find(heap, grains, align);
	if (*out) {
		(*out)->used = true;
		heap->left -= grains;
	}
	left = heap->left;
	pthread_mutex_unlock(&heap->lock);
	if (*out)
		return 0;
	return tenon_error(
		-TENON_E_NOMEM,
		"no memory for %llu bytes: %llu are free in the device's memory, in pieces",
		(unsigned long long)size, (unsigned long long)left);
}

void mortise_heap_give(struct mortise_heap *heap, struct mortise_block *block)
{
	pthread_mutex_lock(&heap->lock);
	block->used = false;
	heap->left += block->size;
	join_next(block);
	if (block->previous)
		join_next(block->previous);
	pthread_mutex_unlock(&heap->lock);
}

uint64_t mortise_heap_left(struct mortise_heap *heap)
{
	uint64_t left;

	pthread_mutex_lock(&heap->lock);
	left = heap->left;
	pthread_mutex_unlock(&heap->lock);
	return left;
}
