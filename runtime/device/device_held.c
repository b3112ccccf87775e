/* SPDX-License-Identifier: MIT */
/*
 * Hold operations that cannot be submitted to the backend yet, and submit them in order from a thread.
 *
 * An operation is held if it waits for a point that no submitted operation signals, or that a queue of another device
 * signals, or if it is a host function. While a queue has held operations, its later operations are held too.
 */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_operation.h"
#include "runtime/device/device_queue_thread.h"
#include "runtime/device/device_trace.h"

/* interval at which a waiting thread checks for loss of the device */
#define SLICE UINT64_C(20000000)

struct held {
	struct held *next;
	struct kept_operation kept;
	uint64_t deadline; /* by which it must be done */
	size_t wait_count;
	size_t signal_count;
	struct tenon_point points[]; /* waits, then signals; timelines referenced */
};

static void held_free(struct held *h)
{
	size_t i;

	for (i = 0; i < h->wait_count + h->signal_count; i++)
		tenon_object_unref(h->points[i].timeline);
	operation_drop(&h->kept);
	free(h);
}

static int held_make(const struct tenon_operation *op, const struct tenon_sync *sync,
		     struct held **out)
{
	size_t waits = sync ? sync->wait_count : 0, signals = sync ? sync->signal_count : 0, i;
	struct held *h;
	int err;

	*out = NULL;
	h = malloc(sizeof(*h) + (waits + signals) * sizeof(h->points[0]));
	if (!h)
		return tenon_error(-TENON_E_NOMEM, "no memory for an operation that waits");
	err = operation_keep(op, &h->kept, NULL);
	if (err) {
		free(h);
		return err;
	}
	h->next = NULL;
	h->deadline = TENON_FOREVER;
	h->wait_count = waits;
	h->signal_count = signals;
	for (i = 0; i < waits; i++)
		h->points[i] = sync->wait[i];
	for (i = 0; i < signals; i++)
		h->points[waits + i] = sync->signal[i];
	for (i = 0; i < waits + signals; i++)
		tenon_object_ref(h->points[i].timeline);
	*out = h;
	return 0;
}

static int wait_point(struct tenon_queue *q, const struct tenon_point *p, uint64_t deadline)
{
	bool late = false;
	uint64_t until;
	int err;

	queue_thread_waits();
	do {
		until = tenon_deadline(SLICE);
		err = tenon_timeline_wait(p->timeline, p->value,
					  until < deadline ? until : deadline);
		if (err == -TENON_E_TIMEOUT && device_is_lost(q->device))
			err = tenon_device_check(q->device);
		late = err == -TENON_E_TIMEOUT && device_now() >= deadline;
	} while (err == -TENON_E_TIMEOUT && !late);
	queue_thread_goes_on();
	return late ? tenon_error_in(err, "the operation did not start by its deadline") : err;
}

/* Wait for all operations before a host function, then call it. */
static int run_call(struct tenon_queue *q, const struct tenon_operation *op)
{
	const struct tenon_queue_ops *ops = q->device->ops->queue;
	uint64_t serial;
	int err;

	if (ops->calls)
		return queue_give(q, op);
	err = ops->mark(q, &serial);
	queue_thread_waits();
	while (!err) {
		err = ops->wait(q, serial, tenon_deadline(SLICE));
		if (err != -TENON_E_TIMEOUT)
			break;
		err = tenon_device_check(q->device);
	}
	queue_thread_goes_on();
	if (!err)
		op->as.call.function(op->as.call.context);
	return err;
}

static int place_held(struct tenon_queue *q, struct held *h)
{
	const struct tenon_point *signal = h->points + h->wait_count;
	bool begun = false;
	size_t i;
	int err = 0;

	for (i = 0; i < h->wait_count && !err; i++)
		err = wait_point(q, &h->points[i], h->deadline);
	if (!err)
		err = tenon_device_check(q->device);
	if (!err)
		err = h->kept.operation.kind == TENON_OP_CALL
			      ? run_call(q, &h->kept.operation)
			      : queue_place(q, &h->kept.operation, &begun);
	if (err)
		return queue_fail_signals(signal, h->signal_count, err);
	err = queue_promise(q, signal, h->signal_count, h->deadline);
	/* flush: a thread that waits for the signals cannot flush this queue */
	return err ? err : tenon_queue_flush(q);
}

int queue_note_failure(struct tenon_queue *q, int status)
{
	struct tenon_queue_core *core = q->core;
	char *reason = device_reason();

	tenon_error_clear();
	pthread_mutex_lock(&core->lock);
	if (core->failure) {
		free(reason);
	} else {
		core->failure = status;
		core->reason = reason;
	}
	pthread_mutex_unlock(&core->lock);
	return 0;
}

static void run_held(struct tenon_queue *q)
{
	struct tenon_queue_core *core = q->core;
	struct held *h;
	int err;

	pthread_mutex_lock(&core->lock);
	while ((h = core->first)) {
		pthread_mutex_unlock(&core->lock);
		err = place_held(q, h);
		if (err)
			queue_note_failure(q, err);
		pthread_mutex_lock(&core->lock);
		core->first = h->next;
		if (!core->first)
			core->last = NULL;
		pthread_mutex_unlock(&core->lock);
		held_free(h);
		pthread_mutex_lock(&core->lock);
		core->placed++;
		pthread_cond_broadcast(&core->changed);
	}
	__atomic_store_n(&core->holding, 0, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&core->changed);
	pthread_mutex_unlock(&core->lock);
}

int queue_hold(struct tenon_queue *q, const struct tenon_operation *op,
	       const struct tenon_sync *sync, uint64_t deadline)
{
	struct tenon_queue_core *core = q->core;
	struct held *h;
	int err;

	err = held_make(op, sync, &h);
	if (!h)
		return err;
	h->deadline = deadline;
	pthread_mutex_lock(&core->lock);
	if (!core->holding) {
		/* the thread takes the lock before it reads the list */
		err = queue_thread_start(q, run_held);
		if (err) {
			pthread_mutex_unlock(&core->lock);
			held_free(h);
			return err;
		}
		__atomic_store_n(&core->holding, 1, __ATOMIC_RELEASE);
	}
	if (core->last)
		core->last->next = h;
	else
		core->first = h;
	core->last = h;
	core->held++;
	pthread_mutex_unlock(&core->lock);
	return 0;
}

uint64_t queue_held_goal(struct tenon_queue *q)
{
	uint64_t goal;

	if (!queue_holds(q))
		return 0;
	pthread_mutex_lock(&q->core->lock);
	goal = q->core->holding ? q->core->held : 0;
	pthread_mutex_unlock(&q->core->lock);
	return goal;
}

int queue_held_wait(struct tenon_queue *q, uint64_t goal, uint64_t deadline)
{
	struct tenon_queue_core *core = q->core;
	bool late = false;

	if (!goal)
		return 0;
	pthread_mutex_lock(&core->lock);
	while (core->placed < goal && !late)
		late = !deadline || !device_wait(&core->changed, &core->lock, deadline);
	pthread_mutex_unlock(&core->lock);
	return late ? tenon_error(-TENON_E_TIMEOUT, "operations on the queue still wait for points "
						    "that were not signalled")
		    : 0;
}

int queue_failure(struct tenon_queue *q)
{
	struct tenon_queue_core *core = q->core;
	int err = 0;

	pthread_mutex_lock(&core->lock);
	if (core->failure) {
		err = tenon_error(core->failure, "%s", core->reason ? core->reason : "");
		core->failure = 0;
		free(core->reason);
		core->reason = NULL;
	}
	pthread_mutex_unlock(&core->lock);
	return err;
}
