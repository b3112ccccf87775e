/* SPDX-License-Identifier: MIT */
/* Keep freed blocks of each thread, hand them out again, and reclaim what a call left. */
#include "runtime/core/workspace.h"

#include "lib/brief_errors.h"
#include "lib/heap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

/* Blocks are allocated in whole pages, so that a slightly larger request can reuse one. */
#define BLOCK_STEP 4096

struct block {
	void *memory;
	size_t room;		      /* bytes of cached host memory; 0 for other memory */
	workspace_release_fn release; /* NULL for memory of the workspace's heap */
	void *owner;		      /* argument of @release */
};

/* blocks[0 … used) are taken, in that order; blocks[used … count) are free */
struct workspace {
	size_t used;
	size_t count;
	size_t most;
	struct block *blocks;
	struct heap *heap; /* of a model; NULL for malloc() */
};

static __thread struct workspace *thread_workspace;
static pthread_key_t workspace_key;
static pthread_once_t workspace_once = PTHREAD_ONCE_INIT;

static void block_release(const struct workspace *w, const struct block *b)
{
	struct heap *before;

	if (b->room) {
		free(b->memory);
	} else if (!HEAP_IN_BUILD || b->release) {
		b->release(b->owner);
	} else {
		before = heap_enter(w->heap);
		heap_free(b->memory);
		heap_enter(before);
	}
}

static void workspace_free(void *workspace)
{
	struct workspace *w = workspace;

	thread_workspace = NULL;
	while (w->count)
		block_release(w, &w->blocks[--w->count]);
	free(w->blocks);
	free(w);
}

static void workspace_key_make(void)
{
	pthread_key_create(&workspace_key, workspace_free);
}

static struct workspace *workspace_get(void)
{
	struct workspace *w = thread_workspace;

	if (w)
		return w;
	pthread_once(&workspace_once, workspace_key_make);
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	thread_workspace = w;
	pthread_setspecific(workspace_key, w);
	return w;
}

static struct block *grow(const struct workspace *w, size_t most)
{
	struct heap *before = heap_enter(w->heap);
	struct block *blocks = heap_resize(w->blocks, most * sizeof(*blocks), "list of workspaces");

	heap_enter(before);
	return blocks;
}

/* Insert a block at @used, in front of the free ones. */
static bool block_insert(struct workspace *w, const struct block *b)
{
	size_t most = w->most ? 2 * w->most : 8;
	struct block *blocks;

	if (w->count == w->most) {
		blocks = grow(w, most);
		if (!blocks)
			return false;
		w->blocks = blocks;
		w->most = most;
	}
	memmove(&w->blocks[w->used + 1], &w->blocks[w->used],
		(w->count - w->used) * sizeof(*w->blocks));
	w->blocks[w->used++] = *b;
	w->count++;
	return true;
}

/* Remove the taken block at @i: close the gap, and move the block to @used. */
static void block_retire(struct workspace *w, size_t i)
{
	struct block b = w->blocks[i];

	w->used--;
	memmove(&w->blocks[i], &w->blocks[i + 1], (w->used - i) * sizeof(b));
	if (b.room) {
		w->blocks[w->used] = b;
		return;
	}
	block_release(w, &b);
	w->count--;
	memmove(&w->blocks[w->used], &w->blocks[w->used + 1], (w->count - w->used) * sizeof(b));
}

int workspace_add(void *memory, workspace_release_fn release, void *owner)
{
	const struct block b = { memory, 0, release, owner };
	struct workspace *w = workspace_get();

	return w && block_insert(w, &b) ? 0 : -TENON_E_NOMEM;
}

static void *nomem(uint64_t size)
{
	tenon_error(-TENON_E_NOMEM, "no memory for a workspace of %llu bytes on %s:0",
		    (unsigned long long)size, tenon_device_name(kDLCPU));
	return NULL;
}

/* A heap keeps no idle blocks: each run of a model then takes the same. */
static void *take_from_heap(struct workspace *w, uint64_t size)
{
	struct heap *before = heap_enter(w->heap);
	struct block b = { NULL, 0, NULL, NULL };

	b.memory = heap_take(HEAP_TEMPORARY, TENON_WORKSPACE_ALIGN, (size_t)size, "workspace");
	if (b.memory && !block_insert(w, &b)) {
		heap_free(b.memory);
		b.memory = NULL;
	}
	heap_enter(before);
	return b.memory ? b.memory : nomem(size);
}

/* Use the first free block that is large enough, or allocate one. */
static void *take_slow(uint64_t size)
{
	struct workspace *w = workspace_get();
	struct block b = { NULL, 0, NULL, NULL };
	size_t i;

	if (!w || size > SIZE_MAX / 2)
		return nomem(size);
	if (HEAP_IN_BUILD && w->heap)
		return take_from_heap(w, size);
	for (i = w->used; i < w->count && w->blocks[i].room < size; i++)
		;
	if (i < w->count) {
		b = w->blocks[i];
		w->blocks[i] = w->blocks[w->used];
		w->blocks[w->used++] = b;
		return b.memory;
	}
	/* No free block is large enough: replace the first, so that their number stays bounded. */
	if (w->used < w->count) {
		block_release(w, &w->blocks[w->used]);
		w->blocks[w->used] = w->blocks[--w->count];
	}
	b.room = ((size_t)(size ? size : 1) + BLOCK_STEP - 1) & ~(size_t)(BLOCK_STEP - 1);
	b.memory = aligned_alloc(TENON_WORKSPACE_ALIGN, b.room);
	if (!b.memory)
		return nomem(size);
	if (!block_insert(w, &b)) {
		free(b.memory);
		return nomem(size);
	}
	return b.memory;
}

void *workspace_take(uint64_t size)
{
	struct workspace *w = thread_workspace;

	if (w && w->used < w->count && size <= w->blocks[w->used].room)
		return w->blocks[w->used++].memory;
	return take_slow(size);
}

int tenon_workspace_free(DLDevice device, void *memory)
{
	struct workspace *w = thread_workspace;
	size_t i = w ? w->used : 0;

	if (i && w->blocks[i - 1].memory == memory && w->blocks[i - 1].room) {
		w->used--;
		return 0;
	}
	if (!memory)
		return 0;
	while (i--)
		if (w->blocks[i].memory == memory) {
			block_retire(w, i);
			return 0;
		}
	return tenon_error(-TENON_E_USAGE, "%p on %s:%d is not of this thread's workspace", memory,
			   tenon_device_name(device.device_type), device.device_id);
}

size_t tenon_workspace_mark(void)
{
	return thread_workspace ? thread_workspace->used : 0;
}

void tenon_workspace_reclaim(size_t mark)
{
	struct workspace *w = thread_workspace;

	while (w && w->used > mark)
		block_retire(w, w->used - 1);
}

void tenon_workspace_trim(void)
{
	struct workspace *w = thread_workspace;

	while (w && w->count > w->used)
		block_release(w, &w->blocks[--w->count]);
}

#ifdef CONFIG_EXECUTORS
struct workspace *workspace_create(struct heap *heap)
{
	struct workspace *w = heap_zeroed(1, sizeof(*w), "workspace of the model");

	if (w)
		w->heap = heap;
	return w;
}

void workspace_destroy(struct workspace *w)
{
	if (!w)
		return;
	while (w->count)
		block_release(w, &w->blocks[--w->count]);
	heap_free(w->blocks);
	heap_free(w);
}

struct workspace *workspace_enter(struct workspace *w)
{
	struct workspace *before = thread_workspace;

	thread_workspace = w;
	return before;
}
#endif
