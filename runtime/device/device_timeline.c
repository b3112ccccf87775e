/* SPDX-License-Identifier: MIT */
/* Timelines: a value on the host, and promises, which are marks in queues that will advance the value. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/fence.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/fence_fd.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_notify.h"
#include "runtime/device/device_trace.h"

/* time to wait for one promise, when several reach the value */
#define SLICE UINT64_C(1000000)

struct promise {
	struct promise *next;
	struct tenon_queue *queue; /* referenced */
	uint64_t serial;
	uint64_t value;
	uint64_t deadline; /* the timeline fails when the mark is not reached by then */
};

struct tenon_timeline {
	struct tenon_object object;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t value;
	int failure; /* 0, or the negative status */
	char *reason;
	struct promise *promises; /* unordered */
	struct promise *spare;
	struct point_callback *callbacks;
	int foreign; /* descriptor of an imported fence, which advances it to 1; -1 for none */
	uint32_t foreign_type;
	bool importing; /* import_foreign() is running */
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

/* Call the callbacks of reached values; after a failure, all. Called with the lock held. */
static void fire(struct tenon_timeline *t)
{
	struct point_callback **at = &t->callbacks, *c;

	while ((c = *at)) {
		if (c->value > t->value && !t->failure) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		c->linked = false;
		c->notify(c, c->value > t->value ? t->failure : 0);
	}
}

static void timeline_delete(void *self, int flags)
{
	struct tenon_timeline *t = self;

	if (!(flags & TENON_DELETE_MEMORY))
		return;
	/* no value will be reached any more: call the remaining callbacks with a failure */
	if (!t->failure)
		t->failure = -TENON_E_CALL;
	fire(t);
	if (t->foreign >= 0)
		close(t->foreign);
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
	t->foreign = -1;
	*out = t;
	return 0;
}

/* Fail the timeline with the thread's error. Called with the lock held. */
static void fail_locked(struct tenon_timeline *t, int status)
{
	if (t->failure)
		return;
	t->failure = status < 0 ? status : -TENON_E_CALL;
	t->reason = device_reason();
	pthread_cond_broadcast(&t->changed);
	fire(t);
}

static int raise_failure(const struct tenon_timeline *t)
{
	return tenon_error(t->failure, "%s", t->reason ? t->reason : "no memory for the reason");
}

/* Poll an imported fence. Called with the lock held. */
static void look_at_foreign(struct tenon_timeline *t)
{
	int state = 0;

	if (t->value || t->failure)
		return;
	if (t->foreign_type == TENON_FENCE_EVENTFD)
		state = fence_eventfd_look(t->foreign);
	else if (t->foreign_type == TENON_FENCE_SYNC_FILE)
		state = fence_sync_file_look(t->foreign);
	if (state < 0) {
		fail_locked(t, state);
	} else if (state) {
		t->value = 1;
		pthread_cond_broadcast(&t->changed);
	}
}

/* As tenon_queue_ops.reached; a promise that was not kept by its deadline has failed. */
static int is_kept(const struct promise *p)
{
	const struct tenon_queue_ops *ops = p->queue->device->ops->queue;
	int state = ops->reached(p->queue, p->serial);

	if (state || p->deadline == TENON_FOREVER || device_now() < p->deadline)
		return state;
	/* the backend says where its device is */
	state = ops->wait(p->queue, p->serial, 0);
	if (state == -TENON_E_TIMEOUT)
		return tenon_error_in(state, "the operation was not done by its deadline");
	return state ? state : 1;
}

/*
 * Advance the value to what the queues have reached. Called with the lock held. Finished promises
 * are moved to *over: dropping a queue may take time and must not be done under the lock.
 */
static void advance(struct tenon_timeline *t, struct promise **over)
{
	struct promise **at = &t->promises, *p;
	int reached;

	if (t->foreign >= 0)
		look_at_foreign(t);
	while ((p = *at)) {
		reached = p->value <= t->value || t->failure ? 1 : is_kept(p);
		if (!reached) {
			at = &p->next;
			continue;
		}
		if (reached < 0) {
			fail_locked(t, reached);
		} else if (!t->failure && p->value > t->value) {
			t->value = p->value;
			pthread_cond_broadcast(&t->changed);
			fire(t);
		}
		*at = p->next;
		p->next = *over;
		*over = p;
	}
}

/* Drop the queues of finished promises, and keep the structs for reuse. */
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
	if (t->foreign >= 0)
		return tenon_error(
			-TENON_E_VALUE,
			"signal to an imported fence: only the side that exported it can");
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

/* Defer dropping the queues to the next reap. Caller holds the lock. */
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
		fire(t);
	}
	/* a host function may call this: destroying its queue would wait for the function itself */
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

/* Test for a callback at a value up to @value. Called with the lock held. */
static bool has_callback(const struct tenon_timeline *t, uint64_t value)
{
	const struct point_callback *c;

	for (c = t->callbacks; c; c = c->next)
		if (c->value <= value)
			return true;
	return false;
}

/* Add a promise: @queue reaching @serial advances the timeline. Called with the lock held. */
static int add_promise(struct tenon_timeline *t, uint64_t value, struct tenon_queue *queue,
		       uint64_t serial, uint64_t deadline)
{
	struct promise *p = t->spare;

	if (p)
		t->spare = p->next;
	else
		p = malloc(sizeof(*p));
	if (!p)
		return tenon_error(-TENON_E_NOMEM, "no memory for a promise");
	tenon_object_ref(queue);
	p->queue = queue;
	p->serial = serial;
	p->value = value;
	p->deadline = deadline;
	p->next = t->promises;
	t->promises = p;
	pthread_cond_broadcast(&t->changed);
	return 0;
}

int timeline_promise(struct tenon_timeline *t, uint64_t value, struct tenon_queue *queue,
		     uint64_t serial, uint64_t deadline)
{
	struct promise *p, *over = NULL;
	int err = 0;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	if (t->failure)
		goto unlock; /* a failed timeline does not advance */
	err = check_grows(t, value);
	if (err)
		goto unlock;
	err = add_promise(t, value, queue, serial, deadline);
	if (err || !has_callback(t, value))
		goto unlock;
	p = t->promises;
	/* if it is not reached yet, a thread waits for it */
	advance(t, &over);
	if (has_callback(t, value) && t->promises == p)
		err = queue_notify_at(queue, serial, t, deadline);
unlock:
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	return err;
}

/* Find the lowest promise that reaches @value. @others: set when there are more. */
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

/* result of look() */
enum look {
	LOOK_DECIDED,
	LOOK_AGAIN,
	LOOK_LATE,
	LOOK_QUEUE,
	LOOK_FOREIGN,
};

struct wait {
	struct tenon_queue *queue; /* referenced: the queue to wait for */
	uint64_t serial;
	uint64_t until;
};

/* Check a timeline; while it has no promise, wait for a change. */
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
		w->until = deadline < p->deadline ? deadline : p->deadline;
		if (others && device_now() + SLICE < w->until)
			w->until = device_now() + SLICE;
		tenon_object_ref(w->queue);
		result = LOOK_QUEUE;
	} else if (t->foreign >= 0 && !t->importing) {
		result = LOOK_FOREIGN;
	} else {
		result = deadline && device_wait(&t->changed, &t->lock, deadline) ? LOOK_AGAIN
										  : LOOK_LATE;
	}
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	return result;
}

static int wait_for(struct tenon_timeline *t, uint64_t value, uint64_t deadline)
{
	struct wait w = { NULL, 0, 0 };
	int err;

	for (;;) {
		switch (look(t, value, deadline, &w, &err)) {
		case LOOK_DECIDED:
			return err;
		case LOOK_AGAIN:
			continue;
		case LOOK_LATE:
			goto late;
		case LOOK_FOREIGN:
			if (t->foreign_type == TENON_FENCE_OPAQUE_FD)
				return tenon_error(-TENON_E_UNSUPPORTED,
						   "an imported fence of the driver's own can be "
						   "waited for by queues only");
			if (!fence_fd_wait(t->foreign, deadline))
				goto late;
			continue;
		case LOOK_QUEUE:
			break;
		}
		err = w.queue->device->ops->queue->wait(w.queue, w.serial, w.until);
		tenon_object_unref(w.queue);
		/* the next look() finds out whether the promise was reached or failed */
		if (err)
			tenon_error_clear();
		if (err == -TENON_E_TIMEOUT && w.until == deadline)
			goto late;
	}
late:
	return tenon_error(-TENON_E_TIMEOUT, "the timeline did not reach %" PRIu64 " in time",
			   value);
}

int tenon_timeline_wait(struct tenon_timeline *t, uint64_t value, uint64_t deadline)
{
	uint64_t begin = trace_begin();
	int err = wait_for(t, value, deadline);

	trace_add("wait", tenon_slice_of("wait for a timeline"), 0, begin);
	return err;
}

static bool can_import(const struct tenon_timeline *t, const struct tenon_queue *queue)
{
	return queue->device->properties->fence_imports & UINT32_C(1) << t->foreign_type &&
	       queue->device->ops->queue->import_fence;
}

/*
 * Make a queue wait for an imported fence. The wait consumes an opaque fence, so the queue promises
 * the timeline, and other waits for the fence wait for this queue. Called without the lock;
 * @importing excludes other imports of the fence.
 */
static int import_foreign(struct tenon_timeline *t, struct tenon_queue *queue)
{
	const struct tenon_queue_ops *ops = queue->device->ops->queue;
	int err = ops->import_fence(queue, t->foreign_type, t->foreign);
	bool consumed = !err && t->foreign_type == TENON_FENCE_OPAQUE_FD;
	uint64_t serial = 0;

	if (consumed)
		err = ops->mark(queue, &serial);
	pthread_mutex_lock(&t->lock);
	if (consumed && !err)
		err = add_promise(t, 1, queue, serial, TENON_FOREVER);
	if (consumed && err)
		fail_locked(t, err);
	t->importing = false;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return err ? err : POINT_READY;
}

int timeline_resolve(const struct tenon_point *point, struct tenon_queue *queue)
{
	struct tenon_timeline *t = point->timeline;
	const struct tenon_queue_ops *ops = queue->device->ops->queue;
	struct tenon_queue *other = NULL;
	struct promise *p, *over = NULL;
	int state = POINT_PENDING;
	uint64_t serial = 0;
	bool import = false, others;

	pthread_mutex_lock(&t->lock);
	while (t->importing)
		pthread_cond_wait(&t->changed, &t->lock);
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
	} else if (!p && t->foreign >= 0 && can_import(t, queue)) {
		t->importing = true;
		import = true;
	} else if (!p && t->foreign >= 0 && t->foreign_type == TENON_FENCE_OPAQUE_FD) {
		state = tenon_error(-TENON_E_UNSUPPORTED,
				    "the device does not import fences of the driver's own");
	}
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	if (import)
		state = import_foreign(t, queue);
	if (other) {
		state = ops->order(queue, other, serial);
		if (!state)
			state = POINT_READY;
		tenon_object_unref(other);
	}
	return state;
}

void timeline_import(struct tenon_timeline *t, uint32_t type, int fd)
{
	t->foreign = fd;
	t->foreign_type = type;
}

int timeline_foreign(const struct tenon_timeline *t, uint32_t *type)
{
	*type = t->foreign_type;
	return t->foreign;
}

/* Request updates at all promises that reach @value. Called with the lock held. */
static int notify_at_promises(struct tenon_timeline *t, uint64_t value)
{
	struct promise *p;
	int err = 0;

	for (p = t->promises; p && !err; p = p->next)
		if (p->value >= value)
			err = queue_notify_at(p->queue, p->serial, t, p->deadline);
	return err;
}

bool timeline_decided(struct tenon_timeline *t, uint64_t value, int *status)
{
	struct promise *over = NULL;
	bool decided;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	decided = t->value >= value || t->failure;
	*status = t->value < value && t->failure ? raise_failure(t) : 0;
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	return decided;
}

int timeline_export(struct tenon_timeline *t, uint64_t value, uint32_t type, int *fd)
{
	const struct tenon_queue_ops *ops;
	struct tenon_queue *queue = NULL;
	struct promise *p, *over = NULL;
	uint64_t serial = 0;
	bool others;
	int err = 0;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	p = find_promise(t, value, &others);
	if (p) {
		queue = p->queue;
		serial = p->serial;
		tenon_object_ref(queue);
	} else if (t->value < value && t->failure) {
		err = raise_failure(t);
	}
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	if (err)
		return err;
	if (!queue)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"a fence of type %u is made for a point that a queue has promised "
			"and not reached; export this one as an eventfd",
			type);
	ops = queue->device->ops->queue;
	if (type < 32 && queue->device->properties->fence_exports & UINT32_C(1) << type &&
	    ops->export_fence)
		err = ops->export_fence(queue, serial, type, fd);
	else
		err = tenon_error(
			-TENON_E_UNSUPPORTED,
			"the device does not export fences of type %u; it does those of mask 0x%x",
			type, queue->device->properties->fence_exports);
	tenon_object_unref(queue);
	return err;
}

int timeline_add_callback(struct tenon_timeline *t, struct point_callback *c)
{
	struct promise *over = NULL;
	int state = 1;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	if (t->value >= c->value || t->failure) {
		state = 0;
	} else if (t->foreign >= 0 && !t->promises) {
		state = tenon_error(-TENON_E_UNSUPPORTED,
				    "an imported fence of the driver's own is watched once an "
				    "operation of a queue waits for it");
	} else {
		int err = notify_at_promises(t, c->value);

		state = err ? err : 1;
	}
	if (state == 1) {
		c->linked = true;
		c->next = t->callbacks;
		t->callbacks = c;
	}
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
	return state;
}

void timeline_remove_callback(struct tenon_timeline *t, struct point_callback *c)
{
	struct point_callback **at = &t->callbacks;

	pthread_mutex_lock(&t->lock);
	if (c->linked) {
		while (*at != c)
			at = &(*at)->next;
		*at = c->next;
		c->linked = false;
	}
	pthread_mutex_unlock(&t->lock);
}

void timeline_update(struct tenon_timeline *t)
{
	struct promise *over = NULL;

	pthread_mutex_lock(&t->lock);
	advance(t, &over);
	pthread_mutex_unlock(&t->lock);
	finish(t, over);
}
