/* SPDX-License-Identifier: MIT */
/* Marks of queues: events, queried in order, with timestamps. */
#include <stdlib.h>
#include <time.h>

#include "devices/cuda/cuda_device.h"
#include "lib/brief_errors.h"

/* nanoseconds to poll before sleeping, and limits of a sleep */
#define SPIN	  30000
#define NAP_MOST  1000000
#define NAP_LEAST 2000

/* beyond this, a float of milliseconds no longer resolves microseconds */
#define CLOCK_MOST 4000.0f

static struct cuda_queue *queue_of(struct tenon_queue *queue)
{
	return (struct cuda_queue *)queue;
}

static struct cuda_device *device_of(const struct cuda_queue *q)
{
	return cuda_device_of(q->base.device);
}

static struct cuda_pending *pending_at(const struct cuda_queue *q, uint32_t i)
{
	return &q->pending[(q->first + i) % q->room];
}

/* Make room for one more pending event, and for keeping it idle later. */
static int pending_reserve(struct cuda_queue *q)
{
	uint32_t room = q->room ? 2 * q->room : 16, i;
	struct cuda_pending *ring;
	cu_event *idle;

	if (q->count < q->room)
		return 0;
	ring = malloc(room * sizeof(*ring));
	idle = realloc(q->idle, room * sizeof(cu_event));
	if (idle)
		q->idle = idle;
	if (!ring || !idle) {
		free(ring);
		return tenon_error(-TENON_E_NOMEM, "no memory for a mark in a queue");
	}
	for (i = 0; i < q->count; i++)
		ring[i] = *pending_at(q, i);
	free(q->pending);
	q->pending = ring;
	q->first = 0;
	q->room = room;
	return 0;
}

static int read_time(struct cuda_device *d, struct cuda_pending *p)
{
	cu_event old;
	float ms = 0;
	int status;

	pthread_mutex_lock(&d->lock);
	status = d->cu->EventElapsedTime(&ms, d->clock, p->event);
	if (!status) {
		*p->time = d->clock_time + (uint64_t)(int64_t)((double)ms * 1e6);
		if (ms > CLOCK_MOST) {
			old = d->clock;
			d->clock = p->event;
			d->clock_time = *p->time;
			p->event = old;
		}
	}
	pthread_mutex_unlock(&d->lock);
	return status;
}

/* Remove completed events, oldest first. Return: CUDA's status of the first that is not. */
static int harvest(struct cuda_queue *q)
{
	struct cuda_device *d = device_of(q);
	struct cuda_pending *p;
	int status;

	while (q->count) {
		p = pending_at(q, 0);
		status = d->cu->EventQuery(p->event);
		if (!status && p->time)
			status = read_time(d, p);
		if (status)
			return status;
		if (p->time)
			d->cu->EventDestroy(p->event);
		else
			q->idle[q->idle_count++] = p->event;
		if (!p->time)
			__atomic_store_n(&q->done, p->serial, __ATOMIC_RELEASE);
		q->first = (q->first + 1) % q->room;
		q->count--;
	}
	return 0;
}

/* Record an event at the end of the queue. The queue's lock is held. */
static int put_event(struct cuda_queue *q, uint64_t *time)
{
	struct cuda_device *d = device_of(q);
	struct cuda_pending p = { .time = time };
	int status = 0;

	if (!time && q->idle_count)
		p.event = q->idle[--q->idle_count];
	else
		status = d->cu->EventCreate(&p.event,
					    time ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
	if (status)
		return status;
	status = d->cu->EventRecord(p.event, q->handle);
	if (status) {
		d->cu->EventDestroy(p.event);
		return status;
	}
	p.serial = time ? q->serial + 1 : ++q->serial;
	*pending_at(q, q->count++) = p;
	return 0;
}

int cuda_queue_mark(struct tenon_queue *queue, uint64_t *serial)
{
	struct cuda_device *d = cuda_device_of(queue->device);
	struct cuda_queue *q = queue_of(queue);
	uint64_t submitted;
	int status = 0, err = 0;

	pthread_mutex_lock(&q->lock);
	/* read before recording: all counted operations precede the event */
	submitted = __atomic_load_n(&q->submitted, __ATOMIC_ACQUIRE);
	if (submitted != q->marked || __atomic_load_n(&q->shared, __ATOMIC_ACQUIRE)) {
		status = cuda_enter(d);
		if (q->count == q->room && !status && q->count)
			harvest(q);
		if (!status)
			err = pending_reserve(q);
		if (!status && !err)
			status = put_event(q, NULL);
		if (!status && !err)
			q->marked = submitted;
	}
	*serial = q->serial;
	pthread_mutex_unlock(&q->lock);
	return status ? cuda_failed(d, status, "marking a place in a queue") : err;
}

int cuda_queue_reached(struct tenon_queue *queue, uint64_t serial)
{
	struct cuda_device *d = cuda_device_of(queue->device);
	struct cuda_queue *q = queue_of(queue);
	int status;

	if (__atomic_load_n(&q->done, __ATOMIC_ACQUIRE) >= serial)
		return 1;
	if (cuda_is_lost(d))
		return tenon_device_check(&d->base);
	/* CUDA must not be called here; a waiting thread checks again */
	if (cuda_in_function())
		return 0;
	status = cuda_enter(d);
	if (!status) {
		pthread_mutex_lock(&q->lock);
		status = harvest(q);
		pthread_mutex_unlock(&q->lock);
	}
	if (__atomic_load_n(&q->done, __ATOMIC_ACQUIRE) >= serial)
		return 1;
	if (status && status != CU_NOT_READY)
		return cuda_failed(d, status, "an operation failed on the device");
	return 0;
}

/* CUDA cannot wait with a deadline, so poll with increasing intervals. */
int cuda_queue_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	uint64_t start = tenon_now(), at = start, nap;
	struct timespec t = { 0, 0 };
	int state;

	for (;;) {
		state = cuda_queue_reached(queue, serial);
		if (state)
			return state < 0 ? state : 0;
		at = tenon_now();
		if (at >= deadline)
			return cuda_error(cuda_device_of(queue->device), -TENON_E_TIMEOUT,
					  "the deadline passed, and the queue is not done");
		if (at - start < SPIN)
			continue;
		nap = (at - start) / 8;
		nap = nap < NAP_LEAST ? NAP_LEAST : nap > NAP_MOST ? NAP_MOST : nap;
		if (nap > deadline - at)
			nap = deadline - at;
		t.tv_nsec = (long)nap;
		nanosleep(&t, NULL);
	}
}

int cuda_queue_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	struct cuda_device *d = cuda_device_of(queue->device);
	struct cuda_queue *q = queue_of(queue), *o = queue_of(other);
	const struct cuda_pending *p;
	int status = 0;
	uint32_t i;

	if (queue == other || __atomic_load_n(&o->done, __ATOMIC_ACQUIRE) >= serial)
		return 0;
	status = cuda_enter(d);
	if (status)
		goto failed;
	/* the lock keeps the event from being reused; the wait covers what was recorded so far */
	pthread_mutex_lock(&o->lock);
	for (i = 0; i < o->count; i++) {
		p = pending_at(o, i);
		if (p->time || p->serial < serial)
			continue;
		status = d->cu->StreamWaitEvent(q->handle, p->event, 0);
		break;
	}
	pthread_mutex_unlock(&o->lock);
	cuda_queue_submitted(q);
	if (!status)
		return 0;
failed:
	return cuda_failed(d, status, "ordering two queues");
}

/* Record the reference event of timestamps, on a stream of its own. */
static int need_clock(struct cuda_device *d)
{
	int status = 0;

	pthread_mutex_lock(&d->lock);
	if (!d->clock_stream)
		status = d->cu->StreamCreate(&d->clock_stream, CU_STREAM_DEFAULT);
	if (!status && !d->clock) {
		status = d->cu->EventCreate(&d->clock, CU_EVENT_DEFAULT);
		if (!status)
			status = d->cu->EventRecord(d->clock, d->clock_stream);
		d->clock_time = tenon_now();
		if (status && d->clock) {
			d->cu->EventDestroy(d->clock);
			d->clock = NULL;
		}
	}
	pthread_mutex_unlock(&d->lock);
	return status;
}

int cuda_queue_timestamp(struct cuda_queue *q, uint64_t *time)
{
	struct cuda_device *d = device_of(q);
	int status, err = 0;

	status = need_clock(d);
	if (!status) {
		pthread_mutex_lock(&q->lock);
		err = pending_reserve(q);
		if (!err)
			status = put_event(q, time);
		pthread_mutex_unlock(&q->lock);
	}
	return status ? cuda_failed(d, status, "taking a timestamp") : err;
}

void cuda_queue_forget(struct cuda_queue *q, bool alive)
{
	struct cuda_device *d = device_of(q);
	uint32_t i;

	for (i = 0; i < q->count && alive; i++)
		d->cu->EventDestroy(pending_at(q, i)->event);
	for (i = 0; i < q->idle_count && alive; i++)
		d->cu->EventDestroy(q->idle[i]);
	free(q->pending);
	free(q->idle);
}
