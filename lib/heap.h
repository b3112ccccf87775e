/* SPDX-License-Identifier: MIT */
/* Memory of a model: from the regions that a caller gave, or from malloc(). */
#ifndef LIB_HEAP_H
#define LIB_HEAP_H

/*
 * A heap consists of regions of a caller, one of each sort. Code of models takes all that a model owns by the
 * functions below. They use the heap that the calling thread entered, and malloc() where it entered none. What is
 * taken may be given back by any thread, at any time: the address says which heap it is from.
 *
 * Each region is allocated first-fit from its begin, so the same requests in the same order end at the same
 * addresses in a region of any size: the peak of one run is exactly what the next one needs. Of planned and temporary
 * memory not even the list of pieces lies in the region: two models may share it.
 *
 * What outlives a model must not come from its heap: code that fills a cache of a module, a thread or the process while
 * a model runs leaves the heap before (heap_enter(NULL)).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/plugin_api.h"

/** enum heap_sort - what memory is used for, which is also the number of its region */
enum heap_sort {
	HEAP_PERSISTENT, /* from opening to closing */
	HEAP_PLANNED,	 /* tensors, whose contents only matter while the model is in use */
	HEAP_TEMPORARY,	 /* for the time of one call */
	HEAP_SORTS,
};

#define HEAP_ALIGN 128 /* of regions: the largest alignment of any tensor or workspace */

#define HEAP_LEAST 16 /* bytes of the smallest piece */

struct heap;

/** struct heap_region - memory of the caller; @dmabuf: the dma-buf that it maps, NULL for memory of the process */
struct heap_region {
	void *data;
	size_t size;
	const int *dmabuf;
};

/**
 * struct heap_event - a piece is taken, or given back
 * @sort: its region
 * @what: what it is for; NULL when it is given back
 * @offset: where it begins in the region
 * @size: bytes, with the list entry and padding
 */
struct heap_event {
	enum heap_sort sort;
	const char *what;
	size_t offset;
	size_t size;
};

/** struct heap_watch - a function that is called with each event, under the lock of heaps */
struct heap_watch {
	void (*event)(void *context, const struct heap_event *event);
	void *context;
};

#ifdef CONFIG_EXECUTORS
#define HEAP_IN_BUILD 1

/**
 * heap_create - make a heap of the caller's regions
 * @regions: HEAP_SORTS of them; bytes before the first multiple of HEAP_ALIGN are not used
 * @watch: NULL, or what outlives the heap
 * @out: receives the heap, which lies in the persistent region
 *
 * Return: 0; -TENON_E_NOMEM without a message: the persistent region has no room for it.
 */
int heap_create(const struct heap_region *regions, const struct heap_watch *watch,
		struct heap **out);

/* End the use of a heap, again without effect. Pieces in use stay valid; nothing is taken any more. */
void heap_close(struct heap *heap);

/* Pieces in use; also of a closed heap, whose regions are still there. */
size_t heap_live(const struct heap *heap);

/* Use a heap in the calling thread from here on; NULL: malloc(). Returns what it used before. */
struct heap *heap_enter(struct heap *heap) TO_PLUGINS(heap_enter);

/* The heap that the calling thread uses; NULL for malloc(). */
struct heap *heap_now(void) TO_PLUGINS(heap_now);

/**
 * heap_dmabuf - find the planned memory of the thread's heap, if it is a dma-buf
 * @out: receives the memory and a descriptor, which are the caller's
 *
 * Return: false for a heap without one, and for malloc().
 */
bool heap_dmabuf(struct heap_region *out) TO_PLUGINS(heap_dmabuf);

/** struct heap_use - @peak: end of the highest piece so far; @wanted: the size that it lacked last, or 0 */
struct heap_use {
	size_t size;
	size_t peak;
	size_t wanted;
};

void heap_use(const struct heap *heap, enum heap_sort sort, struct heap_use *out);

/* Take memory for as long as the model is open. NULL where there is none. */
void *heap_alloc(size_t size, const char *what) TO_PLUGINS(heap_alloc);
void *heap_zeroed(size_t count, size_t size, const char *what) TO_PLUGINS(heap_zeroed);

/* Memory stays in the heap that it is from. @memory may be NULL; else it is persistent, or from malloc(). */
void *heap_resize(void *memory, size_t size, const char *what) TO_PLUGINS(heap_resize);

/* Take memory of any sort, at a multiple of @align, which is a power of two up to HEAP_ALIGN. */
void *heap_take(enum heap_sort sort, size_t align, size_t size, const char *what)
	TO_PLUGINS(heap_take);

/* Give back memory that any of these functions or malloc() returned; NULL is allowed. */
void heap_free(void *memory) TO_PLUGINS(heap_free);

#else
#define HEAP_IN_BUILD 0

static inline struct heap *heap_enter(struct heap *heap)
{
	return heap;
}

static inline struct heap *heap_now(void)
{
	return NULL;
}

#define heap_alloc(size, what)		((void)(what), malloc(size))
#define heap_zeroed(count, size, what)	((void)(what), calloc(count, size))
#define heap_resize(memory, size, what) ((void)(what), realloc(memory, size))
#define heap_free(memory)		free(memory)

static inline void *heap_take(enum heap_sort sort, size_t align, size_t size, const char *what)
{
	void *memory = NULL;

	if (align < sizeof(void *))
		align = sizeof(void *);
	return posix_memalign(&memory, align, size ? size : 1) ? NULL : memory;
}

#endif

#endif /* LIB_HEAP_H */
