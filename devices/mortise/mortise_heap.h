/* SPDX-License-Identifier: MIT */
/* Allocate ranges of the memory that host and board share. */
#ifndef DEVICES_MORTISE_MORTISE_HEAP_H
#define DEVICES_MORTISE_MORTISE_HEAP_H

#include <pthread.h>

#include "driver/shm/first_fit.h"

/* blocks begin at, and are, a multiple of this: a cache line of either side */
#define MORTISE_HEAP_GRAIN 64U

/** struct mortise_heap - the ranges of a part of the window */
struct mortise_heap {
	pthread_mutex_t lock;
	struct first_fit memory;
};

/** mortise_heap_init - begin with one free range */
void mortise_heap_init(struct mortise_heap *heap, uint64_t offset, uint64_t size);

/** mortise_heap_fini - forget all ranges */
void mortise_heap_fini(struct mortise_heap *heap);

/**
 * mortise_heap_take - find a free range
 * @heap: heap
 * @size: bytes, not 0
 * @align: of the offset, a power of two
 * @out: receives the range
 *
 * Return: 0; -TENON_E_NOMEM with the sizes.
 */
int mortise_heap_take(struct mortise_heap *heap, uint64_t size, uint64_t align,
		      struct first_fit_piece **out);

/** mortise_heap_give - a range is free again */
void mortise_heap_give(struct mortise_heap *heap, struct first_fit_piece *block);

/** mortise_heap_left - bytes that are free */
uint64_t mortise_heap_left(struct mortise_heap *heap);

#endif /* DEVICES_MORTISE_MORTISE_HEAP_H */
