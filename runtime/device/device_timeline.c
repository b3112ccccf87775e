/* SPDX-License-Identifier: MIT */
/* Timelines: a value of the host's, and the marks in queues that promise to move it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device_core.h"

/* where several promises would do, how long one of them is waited for at a time */
#define SLICE UINT64_C(1000000)

struct promise {
	struct promise *next;
	struct tenon_queue *queue; /* referenced */
	uint64_t serial;
	uint64_t value;
};

struct tenon_timeline {
	struct tenon_object object;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t value;
	int failure; /* 0, or the negative status */
	char *reason;
	struct promise *promises; /* in no order */
	struct promise *spare;
};

static void promises_free(struct promise *p)
{
	struct promise *next;

	for (; p; p = next) {
		next = p->next;
		tenon_object_unref(p->queue);
		free(p);
	}
}

static void timeline_delete(void *self, int flags)
{
	struct tenon_timeline *t = self;

	if (!(flags & TENON_DELETE_MEMORY))
		return;
	promises_free(t->promises);
	promises_free(t->spare);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t->reason);
	free(t);
}

int tenon_timeline_create(uint64_t value, struct tenon_timeline **out)
{
	struct tenon_timeline *t = calloc(1, sizeof(*t));
	int err;

	*out = NULL;
	if (!t)
		return tenon_error(-TENON_E_NOMEM, "no memory for a timeline");
	err = device_condition_init(&t->changed);
	if (err) {
		free(t);
		return err;
	}
	pthread_mutex_init(&t->lock, NULL);
	tenon_object_init(&t->object, device_object_type(DEVICE_OBJECT_TIMELINE), timeline_delete);
	t->value = value;
	*out = t;
	return 0;
}

/* Become failed with the thread's message. Called with the lock held. */
static void fail_locked(struct tenon_timeline *t, int status)
{
	if (t->failure)
		return;
	t->failure = status < 0 ? status : -TENON_E_CALL;
	t->reason = device_reason();
	pthread_cond_broadcast(&t->changed);
}

static int raise_failure(const struct tenon_timeline *t)
{
	return tenon_error(t->failure, "%s", t->reason ? t->reason : "no memory for the reason");
}

/*
 * Collect what queues have reached since. Called with the lock held. Promises that are over go to
 * *over, since letting go of a queue may take time and must not happen under the lock.
 */
static void advance(struct tenon_timeline *t, struct promise **over)
{
	struct promise **at = &t->promises, *p;
	int reached;

	while ((p = *at)) {
		reached = p->value <= t->value || t->failure
				  ? 1
				  : p->queue->device->ops->queue->reached(p->queue, p->serial);
		if (!reached) {
			at = &p->next;
			continue;
		}
		if (reached < 0) {
			fail_locked(t, reached);
		} else if (!t->failure && p->value > t->value) {
			t->value = p->value;
			pthread_cond_broadcast(&t->changed);
		}
		*at = p->next;
		p->next = *over;
		*over = p;
	}
}

/* Let go of the queues of promises that are over, and keep their memory for the next. */
static void finish(struct tenon_timeline *t, struct promise *over)
{
	struct promise *p, *last = NULL;

	if (!over)
		return;
	for (p = over; p; p = p->next) {
		tenon_object_unref(p->queue);
		p->queue = NULL;
		last = p;
	}
	pthread_mutex_lock(&t->lock);
	last->next = t->spare;
	t->spare = over;
	pthread_mutex_unlock(&t->lock);
}

int tenon_timeline_value(struct tenon_timeline *t, uint64_t *value)
{
	struct promise *over = NULL;
	int err = 0;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	*value = t->value;
	if (t->failure)
		err = raise_failure(t);
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	return err;
}

static int check_grows(const struct tenon_timeline *t, uint64_t value)
{
	if (value > t->value)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "signal %" PRIu64 " to a timeline that is at %" PRIu64
			   ": values only grow",
			   value, t->value);
}

int timeline_check_signals(const struct tenon_point *signal, size_t count)
{
	size_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		struct tenon_timeline *t = signal[i].timeline;

		pthread_mutex_lock(&t->lock);
		if (!t->failure)
			err = check_grows(t, signal[i].value);
		pthread_mutex_unlock(&t->lock);
	}
	return err;
}

/* Leave it to the next who looks to let go of their queues. Called with the lock held. */
static void put_back(struct tenon_timeline *t, struct promise *over)
{
	struct promise *p;

	while ((p = over)) {
		over = p->next;
		p->next = t->promises;
		t->promises = p;
	}
}

int tenon_timeline_signal(struct tenon_timeline *t, uint64_t value)
{
	struct promise *over = NULL;
	int err = 0;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	err = t->failure ? raise_failure(t) : check_grows(t, value);
	if (!err) {
		t->value = value;
		pthread_cond_broadcast(&t->changed);
	}
	/* in a host function a queue must not end: it would wait for that function */
	put_back(t, over);
	pthread_mutex_unlock(&t->lock);
	return err;
}

void tenon_timeline_fail(struct tenon_timeline *t, int status)
{
	pthread_mutex_lock(&t->lock);
	fail_locked(t, status);
	pthread_mutex_unlock(&t->lock);
}

int timeline_promise(struct tenon_timeline *t, uint64_t value, struct tenon_queue *queue,
		     uint64_t serial)
{
	struct promise *p, *over = NULL;
	int err = 0;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	if (t->failure)
		goto unlock; /* sticky: nothing moves it any more */
	err = check_grows(t, value);
	if (err)
		goto unlock;
	p = t->spare;
	if (p)
		t->spare = p->next;
	else
		p = malloc(sizeof(*p));
	if (!p) {
		err = tenon_error(-TENON_E_NOMEM, "no memory for a promise");
		goto unlock;
	}
	tenon_object_ref(queue);
	p->queue = queue;
	p->serial = serial;
	p->value = value;
	p->next = t->promises;
	t->promises = p;
	pthread_cond_broadcast(&t->changed);
unlock:
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	return err;
}

/* The promise to wait for: the lowest that is enough. @others: are there more that would do */
static struct promise *find_promise(const struct tenon_timeline *t, uint64_t value, bool *others)
{
	struct promise *p, *found = NULL;
	unsigned int count = 0;

	for (p = t->promises; p; p = p->next) {
		if (p->value < value)
			continue;
		count++;
		if (!found || p->value < found->value)
			found = p;
	}
	*others = count > 1;
	return found;
}

/* how a look at a timeline ends, when it is not decided */
enum look {
	LOOK_DECIDED,
	LOOK_AGAIN,
	LOOK_LATE,
	LOOK_QUEUE,
};

struct wait {
	struct tenon_queue *queue; /* referenced: the one to wait for, up to */
	uint64_t serial;
	uint64_t until;
};

/* Look at a timeline, and wait for a promise or a signal while there is neither. */
static enum look look(struct tenon_timeline *t, uint64_t value, uint64_t deadline, struct wait *w,
		      int *err)
{
	enum look result = LOOK_DECIDED;
	struct promise *p, *over = NULL;
	bool others;

	*err = 0;
	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	p = find_promise(t, value, &others);
	if (t->value >= value) {
		*err = 0;
	} else if (t->failure) {
		*err = raise_failure(t);
	} else if (p) {
		w->queue = p->queue;
		w->serial = p->serial;
		w->until = deadline;
		if (others && device_now() + SLICE < deadline)
			w->until = device_now() + SLICE;
		tenon_object_ref(w->queue);
		result = LOOK_QUEUE;
	} else {
		result = deadline && device_wait(&t->changed, &t->lock, deadline) ? LOOK_AGAIN
										  : LOOK_LATE;
	}
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	return result;
}

int tenon_timeline_wait(struct tenon_timeline *t, uint64_t value, uint64_t deadline)
{
	struct wait w;
	int err;

	for (;;) {
		switch (look(t, value, deadline, &w, &err)) {
		case LOOK_DECIDED:
			return err;
		case LOOK_AGAIN:
			continue;
		case LOOK_LATE:
			goto late;
		case LOOK_QUEUE:
			break;
		}
		err = w.queue->device->ops->queue->wait(w.queue, w.serial, w.until);
		tenon_object_unref(w.queue);
		/* reached, or failed: the promise tells at the next look */
		if (err)
			tenon_error_clear();
		if (err == -TENON_E_TIMEOUT && w.until == deadline)
			goto late;
	}
late:
	return tenon_error(-TENON_E_TIMEOUT, "the timeline did not reach %" PRIu64 " in time",
			   value);
}

int timeline_resolve(const struct tenon_point *point, struct tenon_queue *queue)
{
	struct tenon_timeline *t = point->timeline;
	const struct tenon_queue_ops *ops = queue->device->ops->queue;
	struct tenon_queue *other = NULL;
	struct promise *p, *over = NULL;
	int state = POINT_PENDING;
	uint64_t serial = 0;
	bool others;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	p = find_promise(t, point->value, &others);
	if (t->value >= point->value) {
		state = POINT_READY;
	} else if (t->failure) {
		state = raise_failure(t);
	} else if (p && p->queue == queue) {
		state = POINT_READY;
	} else if (p && p->queue->device == queue->device && ops->order) {
		other = p->queue;
		serial = p->serial;
		tenon_object_ref(other);
	}
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	if (other) {
		state = ops->order(queue, other, serial);
		if (!state)
			state = POINT_READY;
		tenon_object_unref(other);
	}
	return state;
}
