/* SPDX-License-Identifier: MIT */
/*
 * CUDA copies by itself from and to host memory that is pinned. For other host memory its own
 * asynchronous copies wait: a read until it is done, a large write until a stream has caught up.
 * So such a copy goes through a piece of pinned memory, and host functions in the stream move it on.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "devices/cuda/cuda_device.h"

#define STAGE_SIZE (2u << 20)

/* CUDA takes writes up to this size along with the call */
#define WRITE_AT_ONCE (64u << 10)

struct chunk {
	struct chunk *next; /* of the idle ones */
	struct chunk *all;
	struct cuda_stage *stage;
	void *to;
	const void *from;
	size_t size;
};

/* A stream is in order, so one piece of memory does for all its copies. */
struct cuda_stage {
	void *memory;
	pthread_mutex_t lock; /* @idle: functions come back in a thread of CUDA's */
	struct chunk *idle;
	struct chunk *all;
};

static void move(void *context)
{
	struct chunk *c = context;
	struct cuda_stage *s = c->stage;

	memcpy(c->to, c->from, c->size);
	pthread_mutex_lock(&s->lock);
	c->next = s->idle;
	s->idle = c;
	pthread_mutex_unlock(&s->lock);
}

static struct chunk *chunk_take(struct cuda_stage *s)
{
	struct chunk *c;

	pthread_mutex_lock(&s->lock);
	c = s->idle;
	if (c)
		s->idle = c->next;
	pthread_mutex_unlock(&s->lock);
	if (c)
		return c;
	c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	c->stage = s;
	c->all = s->all;
	s->all = c;
	return c;
}

/* What CUDA says; -1 when memory is out. */
static int put_move(struct cuda_queue *q, void *to, const void *from, size_t size)
{
	struct cuda_device *d = cuda_device_of(q->base.device);
	struct chunk *c = chunk_take(q->stage);
	int status;

	if (!c)
		return -1;
	c->to = to;
	c->from = from;
	c->size = size;
	status = d->cu->LaunchHostFunc(q->handle, move, c);
	if (status) {
		c->size = 0;
		move(c);
	}
	return status;
}

static int need_stage(struct cuda_queue *q)
{
	struct cuda_device *d = cuda_device_of(q->base.device);
	struct cuda_stage *s;
	int status;

	if (q->stage)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -1;
	status = d->cu->MemHostAlloc(&s->memory, STAGE_SIZE, CU_HOST_PORTABLE);
	if (status) {
		free(s);
		return status;
	}
	pthread_mutex_init(&s->lock, NULL);
	q->stage = s;
	return 0;
}

void cuda_stage_end(struct cuda_device *d, struct cuda_stage *s, bool alive)
{
	struct chunk *c;

	/* where work may still come to its end later, what it uses stays */
	if (!alive && !cuda_is_dead(d))
		return;
	if (alive)
		d->cu->MemFreeHost(s->memory);
	while ((c = s->all)) {
		s->all = c->all;
		free(c);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static bool is_pinned(const struct cuda_device *d, const void *host)
{
	uint32_t type = 0;

	return !d->cu->PointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, (uintptr_t)host) && type;
}

static int failed(struct cuda_device *d, int status, const char *what, uint64_t size)
{
	if (status < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for %s", what);
	return status ? cuda_failed(d, status, "submitting %s of %" PRIu64 " bytes", what, size)
		      : 0;
}

int cuda_write(struct cuda_queue *q, cu_address to, const void *host, uint64_t size)
{
	struct cuda_device *d = cuda_device_of(q->base.device);
	uint64_t at, part;
	int status = 0;

	if (!size)
		return 0;
	if (size <= WRITE_AT_ONCE || is_pinned(d, host))
		return failed(d, d->cu->MemcpyHtoDAsync(to, host, (size_t)size, q->handle),
			      "a write", size);
	status = need_stage(q);
	for (at = 0; at < size && !status; at += part) {
		part = size - at < STAGE_SIZE ? size - at : STAGE_SIZE;
		status = put_move(q, q->stage->memory, (const char *)host + at, (size_t)part);
		if (!status)
			status = d->cu->MemcpyHtoDAsync(to + at, q->stage->memory, (size_t)part,
							q->handle);
	}
	return failed(d, status, "a write", size);
}

int cuda_read(struct cuda_queue *q, void *host, cu_address from, uint64_t size)
{
	struct cuda_device *d = cuda_device_of(q->base.device);
	uint64_t at, part;
	int status = 0;

	if (!size)
		return 0;
	if (is_pinned(d, host))
		return failed(d, d->cu->MemcpyDtoHAsync(host, from, (size_t)size, q->handle),
			      "a read", size);
	status = need_stage(q);
	for (at = 0; at < size && !status; at += part) {
		part = size - at < STAGE_SIZE ? size - at : STAGE_SIZE;
		status = d->cu->MemcpyDtoHAsync(q->stage->memory, from + at, (size_t)part,
						q->handle);
		if (!status)
			status = put_move(q, (char *)host + at, q->stage->memory, (size_t)part);
	}
	return failed(d, status, "a read", size);
}
