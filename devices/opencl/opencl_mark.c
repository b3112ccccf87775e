/* SPDX-License-Identifier: MIT */
/* Marks in queues: events of copies and of OpenCL markers, which are checked oldest first. */
#include <stdlib.h>
#include <string.h>

#include "devices/opencl/opencl_device.h"

static struct opencl_queue *queue_of(struct tenon_queue *queue)
{
	return (struct opencl_queue *)queue;
}

static struct opencl_device *device_of(const struct opencl_queue *q)
{
	return opencl_device_of(q->base.device);
}

/* Make room for an event; the list grows to twice the number of pending events. */
static bool reserve_event(struct opencl_queue *q)
{
	uint32_t room = q->room ? 2 * q->room : 16;
	struct opencl_pending *more;

	if (q->first + q->count < q->room)
		return true;
	if (2 * q->count > q->room || !q->room) {
		more = realloc(q->pending, room * sizeof(*more));
		if (!more)
			return false;
		q->pending = more;
		q->room = room;
	}
	memmove(q->pending, q->pending + q->first, q->count * sizeof(*q->pending));
	q->first = 0;
	return true;
}

/* Takes ownership of @event. The queue's lock is held. */
static int push(struct opencl_queue *q, uint32_t kind, ocl_event event, uint64_t *time)
{
	if (!reserve_event(q)) {
		ocl.ReleaseEvent(event);
		return opencl_nomem("a mark in a queue");
	}
	q->pending[q->first + q->count++] =
		(struct opencl_pending){ event, q->serial + 1, time, kind, false };
	return 0;
}

static void note_failure(struct opencl_queue *q, uint64_t serial, int status)
{
	struct opencl_failure *more;

	more = realloc(q->failures, (q->failure_count + 1) * sizeof(*more));
	if (!more) {
		/* the failure cannot be recorded, so mark the device as lost */
		tenon_device_lose(q->base.device, opencl_nomem("a failure"));
		return;
	}
	q->failures = more;
	q->failures[q->failure_count++] = (struct opencl_failure){ serial, status };
}

/* Remove completed events. The queue's lock is held. */
static void harvest(struct opencl_queue *q)
{
	struct opencl_pending *p;
	int status;

	for (; q->count; q->first++, q->count--) {
		p = &q->pending[q->first];
		status = opencl_event_status(p->event);
		if (status > 0)
			return;
		if (!status && p->kind == OPENCL_TIME)
			status = ocl.GetEventProfilingInfo(p->event, OCL_PROFILING_COMMAND_END,
							   sizeof(*p->time), p->time, NULL);
		if (status)
			note_failure(q, p->serial, status);
		if (p->kind == OPENCL_MARK)
			q->done = p->serial;
		ocl.ReleaseEvent(p->event);
	}
}

/* Return: 1 when the mark is reached; 0; negative OpenCL status. The queue's lock is held. */
static int state_of(struct opencl_queue *q, uint64_t serial)
{
	uint32_t i;

	if (q->done < serial)
		harvest(q);
	for (i = 0; i < q->failure_count; i++)
		if (q->failures[i].serial == serial)
			return q->failures[i].status;
	return q->done >= serial;
}

/*
 * As state_of(); for 0 also return the pending event, retained. @armed: receives whether the event
 * has a callback already; NULL if the caller does not wait.
 */
static int event_of(struct opencl_queue *q, uint64_t serial, ocl_event *event, bool *armed)
{
	struct opencl_pending *p;
	int state;

	*event = NULL;
	pthread_mutex_lock(&q->lock);
	state = state_of(q, serial);
	if (!state) {
		p = &q->pending[q->first];
		while (p->kind != OPENCL_MARK || p->serial < serial)
			p++;
		*event = p->event;
		if (armed) {
			*armed = p->armed;
			p->armed = true;
		}
		ocl.RetainEvent(p->event);
	}
	pthread_mutex_unlock(&q->lock);
	if (*event)
		ocl.Flush(q->queue);
	return state;
}

static int answer(struct opencl_queue *q, int state)
{
	if (state < 0)
		return opencl_failed(device_of(q), state, "an operation failed on the device");
	return state ? state : tenon_device_check(q->base.device);
}

/* Enqueue a marker after all commands of @queue. */
static int enqueue_marker(const struct opencl_device *d, ocl_queue queue, ocl_event *out)
{
	if (d->version >= 120 && ocl.EnqueueMarkerWithWaitList)
		return ocl.EnqueueMarkerWithWaitList(queue, 0, NULL, out);
	return ocl.EnqueueMarker(queue, out);
}

static int enqueue_wait(const struct opencl_device *d, ocl_queue queue, const ocl_event *event)
{
	if (d->version >= 120 && ocl.EnqueueBarrierWithWaitList)
		return ocl.EnqueueBarrierWithWaitList(queue, 1, event, NULL);
	return ocl.EnqueueWaitForEvents(queue, 1, event);
}

void opencl_queue_ended(struct opencl_queue *q, ocl_event event)
{
	ocl_event before;

	pthread_mutex_lock(&q->lock);
	before = q->last;
	q->last = event;
	opencl_submitted(q);
	q->last_at = q->submitted;
	pthread_mutex_unlock(&q->lock);
	if (before)
		ocl.ReleaseEvent(before);
}

/*
 * An event that completes with the operation number @submitted: its own, which saves a command, or
 * that of a marker, which is behind what the program submitted itself, too.
 */
static int event_behind(struct opencl_queue *q, uint64_t submitted, bool shared, ocl_event *out)
{
	if (shared || !q->last || q->last_at != submitted)
		return enqueue_marker(device_of(q), q->queue, out);
	*out = q->last;
	q->last = NULL;
	return 0;
}

int opencl_queue_mark(struct tenon_queue *queue, uint64_t *serial)
{
	struct opencl_queue *q = queue_of(queue);
	struct opencl_device *d = device_of(q);
	ocl_event event = NULL;
	bool shared = opencl_is_shared(q);
	uint64_t submitted;
	int status, err = 0;

	pthread_mutex_lock(&q->lock);
	/* read before enqueueing: all counted operations precede the marker */
	submitted = __atomic_load_n(&q->submitted, __ATOMIC_ACQUIRE);
	if (submitted != q->marked || shared) {
		status = event_behind(q, submitted, shared, &event);
		err = status ? opencl_failed(d, status, "marking a place in a queue")
			     : push(q, OPENCL_MARK, event, NULL);
		if (!err) {
			q->serial++;
			q->marked = submitted;
		}
	}
	*serial = q->serial;
	pthread_mutex_unlock(&q->lock);
	return err;
}

bool opencl_queue_is_idle(struct opencl_queue *q)
{
	bool idle;

	pthread_mutex_lock(&q->lock);
	/* not if the last mark failed: what comes next needs a mark of its own */
	idle = q->marked == q->submitted && state_of(q, q->serial) == 1;
	pthread_mutex_unlock(&q->lock);
	return idle;
}

int opencl_queue_reached(struct tenon_queue *queue, uint64_t serial)
{
	struct opencl_queue *q = queue_of(queue);
	bool flush = false;
	int state;

	pthread_mutex_lock(&q->lock);
	state = state_of(q, serial);
	if (!state && q->flushed < serial) {
		q->flushed = q->serial;
		flush = true;
	}
	pthread_mutex_unlock(&q->lock);
	if (flush)
		ocl.Flush(q->queue);
	return answer(q, state);
}

int opencl_queue_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	struct opencl_queue *q = queue_of(queue);
	struct opencl_device *d = device_of(q);
	ocl_event event;
	bool armed;
	int state, status;

	while (!(state = event_of(q, serial, &event, &armed))) {
		status = opencl_event_wait(d, event, armed, deadline);
		ocl.ReleaseEvent(event);
		state = tenon_device_check(&d->base);
		if (state)
			return state;
		if (status > 0)
			return opencl_error(d, -TENON_E_TIMEOUT,
					    "the deadline passed, and the queue is not done");
	}
	state = answer(q, state);
	return state < 0 ? state : 0;
}

int opencl_queue_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	struct opencl_queue *q = queue_of(queue);
	struct opencl_device *d = device_of(q);
	ocl_event event;
	int state, status = 0, err = 0;

	if (queue == other)
		return 0;
	state = event_of(queue_of(other), serial, &event, NULL);
	if (state > 0)
		return 0;
	pthread_mutex_lock(&q->lock);
	if (state) {
		note_failure(q, q->serial + 1, state);
	} else {
		status = enqueue_wait(d, q->queue, &event);
		/* record the event itself: a barrier does not pass on the reason of a failure */
		err = push(q, OPENCL_ORDER, event, NULL);
	}
	opencl_submitted(q);
	pthread_mutex_unlock(&q->lock);
	return status ? opencl_failed(d, status, "ordering two queues") : err;
}

/* A queue with profiling, and memory of two words to copy one to the other there. */
static int need_timing(struct opencl_queue *q)
{
	const struct opencl_device *d = device_of(q);
	int status = 0;

	if (!q->clock)
		q->clock = ocl.CreateBuffer(d->context, OCL_MEM_READ_WRITE, 8, NULL, &status);
	if (q->clock && !q->timing)
		q->timing = ocl.CreateCommandQueue(d->context, d->device,
						   OCL_QUEUE_PROFILING_ENABLE, &status);
	return status;
}

/*
 * Profiling slows a queue down, so a second queue has it: a copy there waits for all operations of
 * the queue and records the time, and the queue waits for that copy. It is not a marker, because
 * the time of a marker is 0 with NVIDIA's driver.
 */
static int enqueue_time(struct opencl_queue *q, ocl_event *noted)
{
	struct opencl_device *d = device_of(q);
	ocl_event before = NULL;
	int status = need_timing(q);

	if (!status)
		status = enqueue_marker(d, q->queue, &before);
	if (status)
		return status;
	ocl.Flush(q->queue);
	status = ocl.EnqueueCopyBuffer(q->timing, q->clock, q->clock, 0, 4, 4, 1, &before, noted);
	ocl.ReleaseEvent(before);
	if (status)
		return status;
	ocl.Flush(q->timing);
	return enqueue_wait(d, q->queue, noted);
}

int opencl_queue_timestamp(struct opencl_queue *q, uint64_t *time)
{
	ocl_event noted = NULL;
	int status, err = 0;

	pthread_mutex_lock(&q->lock);
	status = enqueue_time(q, &noted);
	if (noted)
		/* the caller of one that failed may free what @time points to */
		err = push(q, status ? OPENCL_ORDER : OPENCL_TIME, noted, time);
	opencl_submitted(q);
	pthread_mutex_unlock(&q->lock);
	return status ? opencl_failed(device_of(q), status, "taking a timestamp") : err;
}

void opencl_queue_forget(struct opencl_queue *q)
{
	if (q->last)
		ocl.ReleaseEvent(q->last);
	for (; q->count; q->first++, q->count--)
		ocl.ReleaseEvent(q->pending[q->first].event);
	free(q->pending);
	free(q->failures);
}
