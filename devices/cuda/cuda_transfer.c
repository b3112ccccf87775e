/* SPDX-License-Identifier: MIT */
/*
 * CUDA copies asynchronously only from and to pinned host memory. With other host memory, its
 * asynchronous functions block: a read until it is done, a large write until the stream reaches it.
 * So such copies go through a buffer of pinned memory, and host functions in the stream fill or
 * empty it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "devices/cuda/cuda_device.h"
#include "lib/brief_errors.h"

#define STAGE_SIZE (2u << 20)

/* cuMemcpyHtoDAsync() copies the data of writes up to this size before it returns */
#define WRITE_AT_ONCE (64u << 10)

/* Pinned buffer of a queue; the stream is in order, so all copies share it. */
struct cuda_stage {
	void *memory;
	pthread_mutex_t moving; /* protects the progress of copies */
};

static size_t part_of(uint64_t size)
{
	return size < STAGE_SIZE ? (size_t)size : STAGE_SIZE;
}

/* Host function: move the next part of a copy. */
static void move(void *call)
{
	struct cuda_call *c = call;
	struct cuda_stage *s = c->queue->stage;
	size_t part;

	pthread_mutex_lock(&s->moving);
	part = part_of(c->size);
	if (c->host) {
		memcpy(c->write ? s->memory : c->host, c->write ? c->host : s->memory, part);
		c->host += part;
	}
	c->size -= part;
	pthread_mutex_unlock(&s->moving);
	cuda_call_drop(c);
}

/*
 * Cancel a copy of which only a part could be enqueued: functions in the stream must not use the
 * caller's memory any more. The first @put bytes of a write are still copied to the device, so copy
 * those that were not moved yet; if memory is out, the device memory that they would overwrite is
 * undefined.
 */
static void call_off(struct cuda_call *c, uint64_t size, uint64_t put)
{
	struct cuda_stage *s = c->queue->stage;
	uint64_t moved;

	pthread_mutex_lock(&s->moving);
	moved = size - c->size;
	if (c->write && put > moved)
		c->kept = malloc((size_t)(put - moved));
	if (c->kept)
		memcpy(c->kept, c->host, (size_t)(put - moved));
	c->host = c->kept;
	pthread_mutex_unlock(&s->moving);
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
	pthread_mutex_init(&s->moving, NULL);
	q->stage = s;
	return 0;
}

void cuda_stage_end(struct cuda_device *d, struct cuda_stage *s, bool alive)
{
	/* leak the buffer if operations may still run and use it */
	if (!alive && !cuda_is_dead(d))
		return;
	if (alive)
		d->cu->MemFreeHost(s->memory);
	pthread_mutex_destroy(&s->moving);
	free(s);
}

static bool is_pinned(const struct cuda_device *d, const void *host)
{
	const int what = CU_POINTER_MEMORY_TYPE;
	uint32_t type = 0;
	void *out = &type;
	int status;

	/* memory unknown to CUDA is no error of the plural form, so tools do not report it */
	if (d->cu->PointerGetAttributes)
		status = d->cu->PointerGetAttributes(1, &what, &out, (uintptr_t)host);
	else
		status = d->cu->PointerGetAttribute(&type, what, (uintptr_t)host);
	return !status && type;
}

static int copy_pinned(const struct cuda_queue *q, cu_address device, void *host, size_t size,
		       bool write)
{
	const struct cuda_api *cu = cuda_device_of(q->base.device)->cu;

	return write ? cu->MemcpyHtoDAsync(device, host, size, q->handle)
		     : cu->MemcpyDtoHAsync(host, device, size, q->handle);
}

/* Return: CUDA's status; -1 when memory is out. */
static int copy_staged(struct cuda_queue *q, cu_address device, void *host, uint64_t size,
		       bool write)
{
	uint64_t halves = 0, at;
	struct cuda_call *c;
	int status = need_stage(q);

	if (status)
		return status;
	c = cuda_call_take(q);
	if (!c)
		return -1;
	c->host = host;
	c->size = size;
	c->write = write;
	/* each part is a copy and a function; in a write the function comes first */
	for (; (at = halves / 2 * STAGE_SIZE) < size; halves++) {
		status = (halves & 1) == write ? copy_pinned(q, device + at, q->stage->memory,
							     part_of(size - at), write)
					       : cuda_call_put(c, move);
		if (status)
			break;
	}
	if (status && halves) {
		call_off(c, size, at + (halves & 1 ? part_of(size - at) : 0));
		/* count it, so that marks follow the enqueued parts */
		cuda_queue_submitted(q);
	}
	cuda_call_drop(c);
	return status;
}

static int copy(struct cuda_queue *q, cu_address device, void *host, uint64_t size, bool write)
{
	struct cuda_device *d = cuda_device_of(q->base.device);
	const char *what = write ? "a write" : "a read";
	int status;

	if (!size)
		return 0;
	if ((write && size <= WRITE_AT_ONCE) || is_pinned(d, host))
		status = copy_pinned(q, device, host, (size_t)size, write);
	else
		status = copy_staged(q, device, host, size, write);
	if (status < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for %s", what);
	return status ? cuda_failed(d, status, "submitting %s of %" PRIu64 " bytes", what, size)
		      : 0;
}

int cuda_write(struct cuda_queue *q, cu_address to, const void *host, uint64_t size)
{
	return copy(q, to, (void *)(uintptr_t)host, size, true);
}

int cuda_read(struct cuda_queue *q, void *host, cu_address from, uint64_t size)
{
	return copy(q, from, host, size, false);
}
