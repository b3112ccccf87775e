/* SPDX-License-Identifier: MIT */
/* Keep freed memory of a queue in size classes, and reuse it. The queue's order protects the memory, so there is no lock. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "runtime/device/device_pool.h"

#define CLASS_LEAST 8 /* 256 bytes */
#define CLASSES	    64

struct pool_block {
	struct pool_block *next;
	struct tenon_memory *memory;
	struct tenon_queue *queue; /* referenced while the block is out */
};

struct pool {
	struct pool_block *idle[CLASSES];
	struct pool_block *out; /* blocks from tenon_memory_take() */
};

static unsigned int class_of(uint64_t size)
{
	unsigned int class = CLASS_LEAST;

	while (class < CLASSES - 1 && (UINT64_C(1) << class) < size)
		class ++;
	return class;
}

static void free_list(struct pool_block **list)
{
	struct pool_block *b;

	while ((b = *list)) {
		*list = b->next;
		tenon_object_unref(b->memory);
		free(b);
	}
}

static void pool_trim(struct pool *pool)
{
	size_t i;

	for (i = 0; i < CLASSES; i++)
		free_list(&pool->idle[i]);
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pool_trim(pool);
	free_list(&pool->out);
	free(pool);
}

static int make_block(struct tenon_queue *q, uint64_t size, struct pool_block **out)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.usage = TENON_MEMORY_DEFAULT,
						.heap = -1 };
	struct pool_block *b = malloc(sizeof(*b));
	int err;

	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a block of a pool");
	request.bytes = size;
	if (q->device->properties->flags & TENON_DEVICE_STREAM_ORDERED)
		request.queue = q;
	err = tenon_memory_alloc(q->device, &request, &b->memory);
	if (err) {
		free(b);
		return err;
	}
	*out = b;
	return 0;
}

int pool_take(struct tenon_queue *q, uint64_t size, struct pool_block **out)
{
	unsigned int class = class_of(size);
	uint64_t step = UINT64_C(1) << class;
	struct pool *pool = q->core->pool;
	bool ran_out = error_ran_out();
	struct pool_block *b;
	int err;

	*out = NULL;
	if (!pool) {
		pool = calloc(1, sizeof(*pool));
		if (!pool)
			return tenon_error(-TENON_E_NOMEM, "no memory for a pool");
		q->core->pool = pool;
	}
	b = pool->idle[class];
	if (b) {
		pool->idle[class] = b->next;
	} else {
		err = make_block(q, step < size ? size : step, &b);
		if (err == -TENON_E_NOMEM) {
			/* free idle memory of other sizes and try again */
			pool_trim(pool);
			error_set_ran_out(ran_out);
			err = make_block(q, size ? size : 1, &b);
		}
		if (err)
			return err;
	}
	b->queue = q;
	tenon_object_ref(q);
	*out = b;
	return 0;
}

void pool_give(struct pool_block *b)
{
	struct tenon_queue *q = b->queue;
	unsigned int class = class_of(b->memory->size);

	/* memory of an odd size was allocated when memory was short; the pool cannot reuse it */
	if (b->memory->size != UINT64_C(1) << class) {
		tenon_object_unref(b->memory);
		free(b);
	} else {
		b->next = q->core->pool->idle[class];
		q->core->pool->idle[class] = b;
	}
	tenon_object_unref(q);
}

struct tenon_memory *pool_memory(const struct pool_block *b)
{
	return b->memory;
}

int tenon_memory_take(struct tenon_queue *queue, uint64_t size, struct tenon_memory **out)
{
	struct pool_block *b;
	int err;

	*out = NULL;
	err = pool_take(queue, size, &b);
	if (err)
		return err;
	b->next = queue->core->pool->out;
	queue->core->pool->out = b;
	*out = b->memory;
	return 0;
}

void tenon_memory_give(struct tenon_queue *queue, struct tenon_memory *memory)
{
	struct pool_block **at, *b;

	if (!memory || !queue->core->pool)
		return;
	for (at = &queue->core->pool->out; (b = *at); at = &b->next)
		if (b->memory == memory) {
			*at = b->next;
			pool_give(b);
			return;
		}
}

void tenon_memory_trim(struct tenon_queue *queue)
{
	if (queue->core->pool)
		pool_trim(queue->core->pool);
}
