/* SPDX-License-Identifier: MIT */
/* Wait until a queue, or all queues of a device, have done what was submitted. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_notify.h"
#include "runtime/device/device_thread.h"
#include "runtime/device/device_trace.h"

/* how long a wait goes on before its caller may stop it */
#define SLICE UINT64_C(50000000)

/**
 * struct goal - the end of what was submitted to a queue when a wait began; later operations do not move it
 * @held: from queue_held_goal(): operations that must be submitted before a mark can be set
 * @serial: the mark
 * @own: it is behind what Tenon submitted alone: another thread's code may be submitting to the queue's handle
 * @marked: whether it is set
 * @over: there is nothing to wait for
 */
struct goal {
	uint64_t held;
	uint64_t serial;
	bool own;
	bool marked;
	bool over;
};

/* when a wait ends before its goal */
struct limit {
	uint64_t deadline;
	tenon_stop_fn stop; /* NULL for none */
	void *context;
};

static void goal_mark(struct tenon_queue *q, struct goal *g)
{
	int err =
		g->own ? queue_mark_own(q, &g->serial) : q->device->ops->queue->mark(q, &g->serial);

	g->marked = true;
	g->over = err;
	if (err)
		queue_note_failure(q, err);
}

static void goal_set(struct tenon_queue *q, struct goal *g, bool own)
{
	*g = (struct goal){ .held = queue_held_goal(q), .own = own };
	if (!g->held)
		goal_mark(q, g);
}

/* Return: 0, with failures stored in the queue; -TENON_E_TIMEOUT. */
static int goal_wait(struct tenon_queue *q, struct goal *g, uint64_t deadline)
{
	int err;

	if (!g->marked) {
		err = queue_held_wait(q, g->held, deadline);
		if (err)
			return err;
		goal_mark(q, g);
	}
	if (g->over)
		return 0;
	err = q->device->ops->queue->wait(q, g->serial, deadline);
	if (err == -TENON_E_TIMEOUT)
		return err;
	if (err)
		queue_note_failure(q, err);
	queue_notify_reached(q, g->serial);
	return 0;
}

static int goal_wait_limited(struct tenon_queue *q, struct goal *g, const struct limit *limit)
{
	uint64_t until = limit->deadline, begin = trace_begin();
	int err;

	for (;;) {
		if (limit->stop && tenon_deadline(SLICE) < limit->deadline)
			until = tenon_deadline(SLICE);
		else
			until = limit->deadline;
		err = goal_wait(q, g, until);
		/* a failure may have this status, too: it arrives before its time */
		if (err != -TENON_E_TIMEOUT || until == limit->deadline || tenon_now() < until)
			break;
		tenon_error_clear();
		if (limit->stop(limit->context)) {
			err = tenon_error(-TENON_E_TIMEOUT, "the caller stopped the wait");
			break;
		}
	}
	trace_add("wait", tenon_slice_of("wait for a queue"), 0, begin);
	return err;
}

int queue_wait(struct tenon_queue *q, uint64_t deadline)
{
	const struct limit limit = { .deadline = deadline };
	struct goal g;

	goal_set(q, &g, false);
	return goal_wait_limited(q, &g, &limit);
}

int tenon_queue_sync_or_stop(struct tenon_queue *q, uint64_t deadline, tenon_stop_fn stop,
			     void *context)
{
	const struct limit limit = { deadline, stop, context };
	struct goal g;
	int err;

	/* The thread that would submit held operations exists only in the parent. */
	if (device_is_parents(q->device))
		return tenon_device_check(q->device);
	goal_set(q, &g, false);
	/* Wait before reporting a failure: after it the caller may free its memory. */
	err = goal_wait_limited(q, &g, &limit);
	return err ? err : queue_failure(q);
}

int tenon_queue_sync(struct tenon_queue *q, uint64_t deadline)
{
	return tenon_queue_sync_or_stop(q, deadline, NULL, NULL);
}

static int sync_all(const struct queue_list *list, struct goal *goals, const struct limit *limit)
{
	size_t i;
	int err = 0;

	for (i = 0; i < list->count; i++)
		goal_set(list->queues[i], &goals[i], !device_thread_uses(list->queues[i]));
	/* a failed queue does not end the loop, only a deadline does */
	for (i = 0; i < list->count && !err; i++)
		err = goal_wait_limited(list->queues[i], &goals[i], limit);
	for (i = 0; i < list->count && !err; i++)
		err = queue_failure(list->queues[i]);
	return err;
}

int tenon_device_sync_or_stop(struct tenon_device *device, uint64_t deadline, tenon_stop_fn stop,
			      void *context)
{
	const struct limit limit = { deadline, stop, context };
	struct goal few[8], *goals = few;
	struct queue_list list;
	int err;

	/* The threads that would submit held operations exist only in the parent. */
	if (device_is_parents(device))
		return tenon_device_check(device);
	err = device_queues(device, &list);
	if (err)
		return err;
	if (list.count > sizeof(few) / sizeof(*few))
		goals = malloc(list.count * sizeof(*goals));
	err = goals ? sync_all(&list, goals, &limit)
		    : tenon_error(-TENON_E_NOMEM, "no memory to wait for %zu queues", list.count);
	if (goals != few)
		free(goals);
	device_queues_free(&list);
	if (!err)
		device_reap(device);
	return err ? err : tenon_device_check(device);
}

int tenon_device_sync(struct tenon_device *device, uint64_t deadline)
{
	return tenon_device_sync_or_stop(device, deadline, NULL, NULL);
}
