/* SPDX-License-Identifier: MIT */
/*
 * Wait sets: wait for any of many points by one epoll descriptor.
 *
 * The descriptor watches the imported fences, and an eventfd that is readable while the list of ready entries is not
 * empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <tenon/fence.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/fence_fd.h"
#include "runtime/device/device_trace.h"
#include "runtime/device/device_notify.h"

enum entry_state {
	ENTRY_WAITING,
	ENTRY_READY,
	ENTRY_REMOVED, /* ignores callbacks */
};

struct entry {
	struct point_callback callback;
	struct tenon_wait_set *set;
	struct entry *next, **at; /* in the set's list of its state */
	enum entry_state state;
	struct tenon_timeline *timeline; /* referenced */
	void *context;
	int fd; /* of an imported fence, in the epoll descriptor; -1 */
};

/* Lock order: timeline, then set. */
struct tenon_wait_set {
	struct tenon_object object;
	pthread_mutex_t lock;
	int epoll;
	int event;
	struct entry *waiting;
	struct entry *ready, **ready_end;
};

static void entry_link(struct entry **at, struct entry *e)
{
	e->at = at;
	e->next = *at;
	if (e->next)
		e->next->at = &e->next;
	*at = e;
}

static void entry_unlink(struct entry *e)
{
	struct tenon_wait_set *set = e->set;

	*e->at = e->next;
	if (e->next)
		e->next->at = e->at;
	else if (e->state == ENTRY_READY)
		set->ready_end = e->at;
}

static void entry_free(struct entry *e)
{
	if (e->fd >= 0)
		close(e->fd);
	tenon_object_unref(e->timeline);
	free(e);
}

/* Called with the set's lock held. */
static void make_ready(struct entry *e)
{
	struct tenon_wait_set *set = e->set;
	bool first = !set->ready;

	entry_unlink(e);
	e->state = ENTRY_READY;
	entry_link(set->ready_end, e);
	set->ready_end = &e->next;
	if (e->fd >= 0)
		epoll_ctl(set->epoll, EPOLL_CTL_DEL, e->fd, NULL);
	if (first)
		fence_eventfd_signal(set->event, 0);
}

static void entry_notify(struct point_callback *c, int status)
{
	struct entry *e = (struct entry *)c;

	pthread_mutex_lock(&e->set->lock);
	if (e->state == ENTRY_WAITING)
		make_ready(e);
	pthread_mutex_unlock(&e->set->lock);
}

/*
 * Remove all entries, or those added with @context. Return: a list, linked by @next.
 */
static struct entry *take_out(struct tenon_wait_set *set, const void *context, bool all)
{
	struct entry *out = NULL, *e, *next, *lists[2];
	uint64_t drained;
	int i;

	pthread_mutex_lock(&set->lock);
	lists[0] = set->waiting;
	lists[1] = set->ready;
	for (i = 0; i < 2; i++) {
		for (e = lists[i]; e; e = next) {
			next = e->next;
			if (!all && e->context != context)
				continue;
			if (e->fd >= 0 && e->state == ENTRY_WAITING)
				epoll_ctl(set->epoll, EPOLL_CTL_DEL, e->fd, NULL);
			entry_unlink(e);
			e->state = ENTRY_REMOVED;
			e->next = out;
			out = e;
		}
	}
	if (lists[1] && !set->ready && read(set->event, &drained, sizeof(drained)) < 0)
		errno = 0; /* the eventfd was empty */
	pthread_mutex_unlock(&set->lock);
	return out;
}

static size_t drop(struct entry *e)
{
	struct entry *next;
	size_t count = 0;

	for (; e; e = next, count++) {
		next = e->next;
		timeline_remove_callback(e->timeline, &e->callback);
		entry_free(e);
	}
	return count;
}

static void wait_set_delete(void *self, int flags)
{
	struct tenon_wait_set *set = self;

	if (!(flags & TENON_DELETE_MEMORY))
		return;
	drop(take_out(set, NULL, true));
	close(set->event);
	close(set->epoll);
	pthread_mutex_destroy(&set->lock);
	free(set);
}

static int poll_also(struct tenon_wait_set *set, int fd, struct entry *e)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = e };

	if (!epoll_ctl(set->epoll, EPOLL_CTL_ADD, fd, &event))
		return 0;
	return tenon_error(-TENON_E_IO, "descriptor %d cannot be polled: %s", fd, strerror(errno));
}

int tenon_wait_set_create(struct tenon_wait_set **out)
{
	struct tenon_wait_set *set = calloc(1, sizeof(*set));
	int err;

	*out = NULL;
	if (!set)
		return tenon_error(-TENON_E_NOMEM, "no memory for a wait set");
	set->ready_end = &set->ready;
	set->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll < 0) {
		err = tenon_error(-TENON_E_IO, "no epoll descriptor: %s", strerror(errno));
		goto free_set;
	}
	set->event = fence_eventfd_create();
	err = set->event < 0 ? set->event : poll_also(set, set->event, NULL);
	if (err)
		goto close_epoll;
	pthread_mutex_init(&set->lock, NULL);
	tenon_object_init(&set->object, device_object_type(DEVICE_OBJECT_WAIT_SET),
			  wait_set_delete);
	*out = set;
	return 0;

close_epoll:
	if (set->event >= 0)
		close(set->event);
	close(set->epoll);
free_set:
	free(set);
	return err;
}

int tenon_wait_set_fd(const struct tenon_wait_set *set)
{
	return set->epoll;
}

/* After success another thread may remove and free the entry at any time. */
static int begin_waiting(struct tenon_wait_set *set, struct entry *e)
{
	int state, err;
	uint32_t type;

	if (timeline_foreign(e->timeline, &type) >= 0 && type != TENON_FENCE_OPAQUE_FD) {
		e->fd = fcntl(timeline_foreign(e->timeline, &type), F_DUPFD_CLOEXEC, 0);
		if (e->fd < 0)
			return tenon_error(-TENON_E_IO, "no descriptor for an imported fence: %s",
					   strerror(errno));
		pthread_mutex_lock(&set->lock);
		err = poll_also(set, e->fd, e);
		pthread_mutex_unlock(&set->lock);
		return err;
	}
	state = timeline_add_callback(e->timeline, &e->callback);
	if (state)
		return state < 0 ? state : 0;
	entry_notify(&e->callback, 0);
	return 0;
}

int tenon_wait_set_add(struct tenon_wait_set *set, const struct tenon_point *point, void *context)
{
	struct entry *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory for a point of a wait set");
	e->callback.value = point->value;
	e->callback.notify = entry_notify;
	e->set = set;
	e->timeline = point->timeline;
	e->context = context;
	e->fd = -1;
	tenon_object_ref(e->timeline);
	pthread_mutex_lock(&set->lock);
	entry_link(&set->waiting, e);
	pthread_mutex_unlock(&set->lock);
	err = begin_waiting(set, e);
	if (!err)
		return 0;
	pthread_mutex_lock(&set->lock);
	entry_unlink(e);
	pthread_mutex_unlock(&set->lock);
	entry_free(e);
	return err;
}

/* Find imported fences that have signalled. Called with the lock held. */
static void poll_foreign(struct tenon_wait_set *set)
{
	struct epoll_event events[8];
	int i, n = epoll_wait(set->epoll, events, 8, 0);

	for (i = 0; i < n; i++)
		if (events[i].data.ptr)
			make_ready(events[i].data.ptr);
}

static struct entry *take_ready(struct tenon_wait_set *set)
{
	struct entry *e;
	uint64_t drained;

	pthread_mutex_lock(&set->lock);
	if (!set->ready)
		poll_foreign(set);
	e = set->ready;
	if (e) {
		entry_unlink(e);
		e->state = ENTRY_REMOVED;
	}
	if (e && !set->ready && read(set->event, &drained, sizeof(drained)) < 0)
		errno = 0;
	pthread_mutex_unlock(&set->lock);
	return e;
}

/* Wait again for an imported fence: another process held its counter, so it was not decided. */
static void put_back(struct tenon_wait_set *set, struct entry *e)
{
	pthread_mutex_lock(&set->lock);
	e->state = ENTRY_WAITING;
	entry_link(&set->waiting, e);
	if (poll_also(set, e->fd, e)) {
		tenon_error_clear();
		make_ready(e);
	}
	pthread_mutex_unlock(&set->lock);
}

int tenon_wait_set_next(struct tenon_wait_set *set, struct tenon_wait_result *result)
{
	struct entry *e = take_ready(set);

	memset(result, 0, sizeof(*result));
	if (!e)
		return 0;
	if (!timeline_decided(e->timeline, e->callback.value, &result->status)) {
		put_back(set, e);
		return 0;
	}
	result->context = e->context;
	/* a callback may still be running: wait for the timeline's lock */
	timeline_remove_callback(e->timeline, &e->callback);
	entry_free(e);
	return 1;
}

size_t tenon_wait_set_remove(struct tenon_wait_set *set, const void *context)
{
	return drop(take_out(set, context, false));
}

static int check_each(const struct tenon_point *points, size_t count, size_t *which, bool *decided)
{
	size_t i;
	int status = 0;

	*decided = false;
	for (i = 0; i < count && !*decided; i++) {
		*decided = timeline_decided(points[i].timeline, points[i].value, &status);
		*which = i;
	}
	return status;
}

static int wait_in_set(const struct tenon_point *points, size_t count, uint64_t deadline,
		       size_t *which)
{
	struct tenon_wait_result result = { NULL, 0 };
	struct tenon_wait_set *set;
	uint64_t begin = trace_begin();
	size_t i;
	int err;

	err = tenon_wait_set_create(&set);
	if (err)
		return err;
	for (i = 0; i < count && !err; i++)
		err = tenon_wait_set_add(set, &points[i], (void *)(uintptr_t)&points[i]);
	while (!err && !tenon_wait_set_next(set, &result))
		if (!fence_fd_wait(set->epoll, deadline))
			err = tenon_error(-TENON_E_TIMEOUT,
					  "none of %zu points was reached in time", count);
	if (!err) {
		*which = (size_t)((const struct tenon_point *)result.context - points);
		err = result.status;
	}
	trace_add("wait", tenon_slice_of("wait for any point"), 0, begin);
	tenon_object_unref(set);
	return err;
}

int tenon_wait_any(const struct tenon_point *points, size_t count, uint64_t deadline, size_t *which)
{
	bool decided;
	size_t at;
	int status;

	if (!count)
		return tenon_error(-TENON_E_USAGE, "wait for any of no points");
	which = which ? which : &at;
	status = check_each(points, count, which, &decided);
	if (decided)
		return status;
	if (!deadline)
		return tenon_error(-TENON_E_TIMEOUT, "none of %zu points is reached", count);
	*which = 0;
	if (count == 1)
		return tenon_timeline_wait(points->timeline, points->value, deadline);
	return wait_in_set(points, count, deadline, which);
}

int tenon_wait_all(const struct tenon_point *points, size_t count, uint64_t deadline, size_t *which)
{
	size_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = tenon_timeline_wait(points[i].timeline, points[i].value, deadline);
		if (err && which)
			*which = i;
	}
	return err;
}
