/* SPDX-License-Identifier: MIT */
/* Hand out ranges of the window, by any thread. */
#include "devices/mortise/mortise_heap.h"

#include <tenon/error.h>

void mortise_heap_init(struct mortise_heap *heap, uint64_t offset, uint64_t size)
{
	heap->memory = (struct first_fit){ offset, size, MORTISE_HEAP_GRAIN, NULL };
	pthread_mutex_init(&heap->lock, NULL);
}

void mortise_heap_fini(struct mortise_heap *heap)
{
	if (!heap->memory.grain)
		return;
	while (heap->memory.pieces)
		first_fit_give(&heap->memory, heap->memory.pieces);
	heap->memory.grain = 0;
	pthread_mutex_destroy(&heap->lock);
}

int mortise_heap_take(struct mortise_heap *heap, uint64_t size, uint64_t align,
		      struct first_fit_piece **out)
{
	pthread_mutex_lock(&heap->lock);
	*out = first_fit_take(&heap->memory, size, align);
	pthread_mutex_unlock(&heap->lock);
	if (*out)
		return 0;
	return tenon_error(
		-TENON_E_NOMEM,
		"no memory for %llu bytes: %llu are free in the device's memory, in pieces",
		(unsigned long long)size, (unsigned long long)mortise_heap_left(heap));
}

void mortise_heap_give(struct mortise_heap *heap, struct first_fit_piece *block)
{
	pthread_mutex_lock(&heap->lock);
	first_fit_give(&heap->memory, block);
	pthread_mutex_unlock(&heap->lock);
}

uint64_t mortise_heap_left(struct mortise_heap *heap)
{
	uint64_t left;

	pthread_mutex_lock(&heap->lock);
	left = first_fit_free(&heap->memory).all;
	pthread_mutex_unlock(&heap->lock);
	return left;
}
