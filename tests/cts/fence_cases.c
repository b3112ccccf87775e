/* SPDX-License-Identifier: MIT */
/* Fences as descriptors, and waiting for many points at once. */
#include <pthread.h>
#include <sys/epoll.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>
#include <unistd.h>

#include "tests/cts/cts.h"
#include "tests/device/foreign_fence.h"

#define MS UINT64_C(1000000)

static struct tenon_point point_at(uint64_t value)
{
	struct tenon_point p = { NULL, value };

	ok(tenon_timeline_create(0, &p.timeline));
	return p;
}

/* a fill that signals @p, behind @gate where there is one */
static void submit_fill(struct cts *cts, struct tenon_memory *m, uint32_t pattern,
			const struct tenon_point *gate, const struct tenon_point *p)
{
	struct tenon_sync s = { gate, gate ? 1 : 0, p, p ? 1 : 0 };

	ok(tenon_queue_fill(cts->queue, m, 0, m->size, pattern, 4, &s));
}

static void an_exported_fence_signals_when_the_work_is_done(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 16, 0);
	struct tenon_point gate = point_at(1), done = point_at(7);
	int fd;

	submit_fill(cts, m, 1, &gate, &done);
	ok(tenon_fence_export(&done, TENON_FENCE_EVENTFD, &fd));
	assert_false(becomes_readable(fd, 20));
	ok(tenon_timeline_signal(gate.timeline, 1));
	assert_true(becomes_readable(fd, 60000));
	ok(tenon_timeline_wait(done.timeline, 7, 0));
	/* and stays so */
	assert_true(becomes_readable(fd, 0));
	assert_int_equal(close(fd), 0);
	tenon_object_unref(gate.timeline);
	tenon_object_unref(done.timeline);
	tenon_object_unref(m);
}

static void a_fence_that_was_reached_is_exported_as_signalled(struct cts *cts)
{
	struct tenon_point p = point_at(3);
	int fd;

	(void)cts;
	ok(tenon_timeline_signal(p.timeline, 4));
	ok(tenon_fence_export(&p, TENON_FENCE_EVENTFD, &fd));
	assert_true(becomes_readable(fd, 0));
	close(fd);
	tenon_object_unref(p.timeline);
}

static void an_imported_fence_orders_a_queue(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	struct tenon_point here = point_at(1), there = { NULL, 1 }, done = point_at(1);
	uint32_t back[4];
	int fd;

	ok(tenon_fence_export(&here, TENON_FENCE_EVENTFD, &fd));
	ok(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &there.timeline));
	/* the descriptor stays the caller's */
	assert_int_equal(close(fd), 0);
	submit_fill(cts, m, 5, &there, &done);
	fails(tenon_timeline_wait(done.timeline, 1, tenon_deadline(10 * MS)), -TENON_E_TIMEOUT);
	fails(tenon_timeline_wait(there.timeline, 1, tenon_deadline(MS)), -TENON_E_TIMEOUT);
	ok(tenon_timeline_signal(here.timeline, 1));
	ok(tenon_timeline_wait(done.timeline, 1, cts_soon()));
	ok(tenon_timeline_wait(there.timeline, 1, 0));
	cts_get(cts, m, 0, back, sizeof(back));
	assert_int_equal(back[3], 5);
	fails(tenon_timeline_signal(there.timeline, 2), -TENON_E_VALUE);
	tenon_object_unref(here.timeline);
	tenon_object_unref(there.timeline);
	tenon_object_unref(done.timeline);
	tenon_object_unref(m);
}

static void a_failure_goes_with_an_exported_fence(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	struct tenon_point here = point_at(1), done = point_at(1);
	struct tenon_timeline *first, *second;
	int fd;

	ok(tenon_fence_export(&here, TENON_FENCE_EVENTFD, &fd));
	ok(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &first));
	ok(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &second));
	submit_fill(cts, m, 1, &(struct tenon_point){ first, 1 }, &done);
	tenon_error(-TENON_E_IO, "the camera went away");
	tenon_timeline_fail(here.timeline, -TENON_E_IO);
	tenon_error_clear();
	/* all who hold the descriptor hear of it */
	fails(tenon_timeline_wait(second, 1, cts_soon()), -TENON_E_IO);
	fails(tenon_timeline_wait(first, 1, cts_soon()), -TENON_E_IO);
	fails(tenon_timeline_wait(done.timeline, 1, cts_soon()), -TENON_E_IO);
	tenon_queue_sync(cts->queue, cts_soon());
	tenon_error_clear();
	close(fd);
	tenon_object_unref(first);
	tenon_object_unref(second);
	tenon_object_unref(here.timeline);
	tenon_object_unref(done.timeline);
	tenon_object_unref(m);
}

static void a_fence_outlives_its_timeline(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 16, 0);
	struct tenon_point promised = point_at(1), nobodys = point_at(1);
	struct tenon_timeline *t;
	int fd;

	submit_fill(cts, m, 1, NULL, &promised);
	ok(tenon_fence_export(&promised, TENON_FENCE_EVENTFD, &fd));
	tenon_object_unref(promised.timeline);
	ok(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &t));
	ok(tenon_timeline_wait(t, 1, cts_soon()));
	tenon_object_unref(t);
	close(fd);
	/* what nothing can reach any more has failed */
	ok(tenon_fence_export(&nobodys, TENON_FENCE_EVENTFD, &fd));
	assert_false(becomes_readable(fd, 0));
	tenon_object_unref(nobodys.timeline);
	ok(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &t));
	fails(tenon_timeline_wait(t, 1, cts_soon()), -TENON_E_CALL);
	tenon_object_unref(t);
	close(fd);
	tenon_object_unref(m);
}

static void what_is_no_fence_is_refused(struct cts *cts)
{
	struct tenon_timeline *t;
	int fds[2], fd;
	struct tenon_point p = point_at(1);

	assert_int_equal(pipe(fds), 0);
	fails(tenon_fence_import(TENON_FENCE_EVENTFD, fds[0], &t), -TENON_E_VALUE);
	assert_null(t);
	fails(tenon_fence_import(TENON_FENCE_SYNC_FILE, fds[0], &t), -TENON_E_VALUE);
	fails(tenon_fence_import(99, fds[0], &t), -TENON_E_VALUE);
	fails(tenon_fence_import(TENON_FENCE_EVENTFD, -1, &t), -TENON_E_VALUE);
	close(fds[0]);
	close(fds[1]);
	/* nothing has promised it, so no driver can make one of it */
	fails(tenon_fence_export(&p, TENON_FENCE_SYNC_FILE, &fd), -TENON_E_UNSUPPORTED);
	assert_int_equal(fd, -1);
	fails(tenon_fence_export(&p, 31, &fd), -TENON_E_UNSUPPORTED);
	tenon_object_unref(p.timeline);
	(void)cts;
}

/* Export a fence behind some fills. Return: its descriptor; -1 when they were done before. */
static int export_once(struct cts *cts, struct tenon_memory *m, int fills, uint32_t type)
{
	struct tenon_point p = point_at(1);
	int fd, err;

	while (--fills > 0)
		submit_fill(cts, m, 1, NULL, NULL);
	submit_fill(cts, m, 1, NULL, &p);
	err = tenon_fence_export(&p, type, &fd);
	if (err == -TENON_E_UNSUPPORTED && !tenon_timeline_wait(p.timeline, 1, cts_soon()))
		tenon_error_clear();
	else
		ok(err);
	tenon_object_unref(p.timeline);
	return fd;
}

/* Export, import, and order two other queues and the host behind it. */
static void round_trip(struct cts *cts, uint32_t type)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 20, 0);
	struct tenon_point there = { NULL, 1 }, done[2] = { point_at(1), point_at(1) };
	struct tenon_queue *other[2];
	uint32_t back;
	int i, fd = -1;

	/* more work each time: on a loaded machine a short fill is done before this thread asks */
	for (i = 0; i < 12 && fd < 0; i++)
		fd = export_once(cts, m, 1 << i, type);
	assert_true(fd >= 0);
	ok(tenon_fence_import(type, fd, &there.timeline));
	close(fd);
	for (i = 0; i < 2; i++) {
		struct tenon_sync s = { &there, 1, &done[i], 1 };

		ok(tenon_queue_create(cts->device, &other[i]));
		ok(tenon_queue_fill(other[i], m, 0, m->size, 2, 4, &s));
	}
	ok(tenon_timeline_wait(there.timeline, 1, cts_soon()));
	ok(tenon_wait_all(done, 2, cts_soon(), NULL));
	cts_get(cts, m, m->size - 4, &back, 4);
	assert_int_equal(back, 2);
	for (i = 0; i < 2; i++) {
		tenon_object_unref(other[i]);
		tenon_object_unref(done[i].timeline);
	}
	tenon_object_unref(there.timeline);
	tenon_object_unref(m);
}

static void fences_of_the_driver_go_out_and_come_in(struct cts *cts)
{
	const struct tenon_device_properties *p = cts->device->properties;
	uint32_t type, both = p->fence_exports & p->fence_imports;

	if (!both && p->fence_imports)
		cts_skip("the driver imports fences and exports none");
	if (!both)
		cts_skip("the device has no fences of its driver's own (sync_file, opaque fd)");
	for (type = TENON_FENCE_SYNC_FILE; type <= TENON_FENCE_OPAQUE_FD; type++)
		if (both & 1u << type)
			round_trip(cts, type);
}

static void any_of_several_points_ends_a_wait(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	struct tenon_point p[3] = { point_at(1), point_at(5), point_at(1) };
	size_t which = 99;
	int i;

	fails(tenon_wait_any(p, 3, 0, &which), -TENON_E_TIMEOUT);
	fails(tenon_wait_any(p, 3, tenon_deadline(5 * MS), &which), -TENON_E_TIMEOUT);
	submit_fill(cts, m, 1, NULL, &p[1]);
	ok(tenon_wait_any(p, 3, cts_soon(), &which));
	assert_int_equal(which, 1);
	tenon_error(-TENON_E_VALUE, "as asked");
	tenon_timeline_fail(p[0].timeline, -TENON_E_VALUE);
	fails(tenon_wait_any(p, 3, cts_soon(), &which), -TENON_E_VALUE);
	assert_int_equal(which, 0);
	fails(tenon_wait_all(p, 3, cts_soon(), &which), -TENON_E_VALUE);
	assert_int_equal(which, 0);
	submit_fill(cts, m, 1, NULL, &p[2]);
	ok(tenon_wait_all(p + 1, 2, cts_soon(), NULL));
	for (i = 0; i < 3; i++)
		tenon_object_unref(p[i].timeline);
	tenon_object_unref(m);
}

#define MANY 200

static void a_wait_set_gives_each_point_once(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	struct tenon_point gate = point_at(1), p = point_at(1);
	struct tenon_sync s = { &gate, 1, &p, 1 };
	struct tenon_wait_set *set;
	struct tenon_wait_result r;
	uint8_t seen[MANY] = { 0 };
	int i, events = 0;

	ok(tenon_wait_set_create(&set));
	assert_false(becomes_readable(tenon_wait_set_fd(set), 0));
	for (i = 0; i < MANY; i++) {
		p.value = (uint64_t)i + 1;
		ok(tenon_queue_fill(cts->queue, m, 0, 64, (uint32_t)i, 4, &s));
		ok(tenon_wait_set_add(set, &p, &seen[i]));
	}
	/* one before it is promised, one that is over */
	p.value = 1000;
	ok(tenon_wait_set_add(set, &p, NULL));
	p.value = 0;
	ok(tenon_wait_set_add(set, &p, &events));
	assert_int_equal(tenon_wait_set_next(set, &r), 1);
	assert_ptr_equal(r.context, &events);
	assert_int_equal(tenon_wait_set_next(set, &r), 0);
	ok(tenon_timeline_signal(gate.timeline, 1));
	while (events < MANY) {
		assert_true(becomes_readable(tenon_wait_set_fd(set), 60000));
		while (tenon_wait_set_next(set, &r)) {
			assert_int_equal(r.status, 0);
			assert_int_equal((*(uint8_t *)r.context)++, 0);
			events++;
		}
	}
	assert_false(becomes_readable(tenon_wait_set_fd(set), 0));
	ok(tenon_timeline_signal(p.timeline, 1000));
	assert_true(becomes_readable(tenon_wait_set_fd(set), 0));
	assert_int_equal(tenon_wait_set_next(set, &r), 1);
	assert_null(r.context);
	tenon_object_unref(set);
	tenon_object_unref(gate.timeline);
	tenon_object_unref(p.timeline);
	tenon_object_unref(m);
}

static void a_wait_set_lives_in_an_event_loop(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 16, 0);
	struct tenon_point p = point_at(0), foreign = { NULL, 1 }, here = point_at(1);
	struct epoll_event event = { .events = EPOLLIN };
	int loop = epoll_create1(0), frames = 0, imported = 0, fd;
	struct tenon_wait_set *set;
	struct tenon_wait_result r;

	assert_true(loop >= 0);
	ok(tenon_wait_set_create(&set));
	assert_int_equal(epoll_ctl(loop, EPOLL_CTL_ADD, tenon_wait_set_fd(set), &event), 0);
	/* a fence of another process beside the queue's */
	ok(tenon_fence_export(&here, TENON_FENCE_EVENTFD, &fd));
	ok(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &foreign.timeline));
	close(fd);
	ok(tenon_wait_set_add(set, &foreign, &imported));
	p.value = 1;
	submit_fill(cts, m, 1, NULL, &p);
	ok(tenon_wait_set_add(set, &p, &frames));
	while (frames < 30 || !imported) {
		assert_int_equal(epoll_wait(loop, &event, 1, 10000), 1);
		while (tenon_wait_set_next(set, &r)) {
			assert_int_equal(r.status, 0);
			(*(int *)r.context)++;
			if (r.context != &frames || frames >= 30)
				continue;
			/* each frame that is done starts the next */
			p.value++;
			submit_fill(cts, m, (uint32_t)frames, NULL, &p);
			ok(tenon_wait_set_add(set, &p, &frames));
			if (frames == 10)
				ok(tenon_timeline_signal(here.timeline, 1));
		}
	}
	assert_int_equal(imported, 1);
	close(loop);
	tenon_object_unref(set);
	tenon_object_unref(foreign.timeline);
	tenon_object_unref(here.timeline);
	tenon_object_unref(p.timeline);
	tenon_object_unref(m);
}

static void points_that_are_removed_do_not_come_out(struct cts *cts)
{
	struct tenon_point p = point_at(1), q = point_at(1);
	struct tenon_wait_set *set;
	struct tenon_wait_result r;
	int a, b;

	ok(tenon_wait_set_create(&set));
	ok(tenon_wait_set_add(set, &p, &a));
	ok(tenon_wait_set_add(set, &q, &a));
	ok(tenon_wait_set_add(set, &p, &b));
	ok(tenon_timeline_signal(q.timeline, 1));
	assert_int_equal(tenon_wait_set_remove(set, &a), 2);
	assert_false(becomes_readable(tenon_wait_set_fd(set), 0));
	assert_int_equal(tenon_wait_set_remove(set, &a), 0);
	ok(tenon_timeline_signal(p.timeline, 1));
	assert_int_equal(tenon_wait_set_next(set, &r), 1);
	assert_ptr_equal(r.context, &b);
	/* a set that is dropped lets its points go */
	ok(tenon_wait_set_add(set, &(struct tenon_point){ p.timeline, 9 }, &b));
	tenon_object_unref(set);
	ok(tenon_timeline_signal(p.timeline, 9));
	tenon_object_unref(p.timeline);
	tenon_object_unref(q.timeline);
	(void)cts;
}

struct adder {
	struct tenon_wait_set *set;
	struct tenon_timeline *timeline;
	int contexts[2];
};

static void *add_and_remove(void *context)
{
	struct adder *a = context;
	uint64_t i;

	for (i = 1; i <= 300; i++) {
		struct tenon_point p = { a->timeline, i };

		if (tenon_wait_set_add(a->set, &p, &a->contexts[0]) ||
		    tenon_wait_set_add(a->set, &p, &a->contexts[1]))
			return a;
		tenon_wait_set_remove(a->set, &a->contexts[1]);
	}
	return NULL;
}

static void threads_share_a_wait_set(struct cts *cts)
{
	struct adder a = { NULL, NULL, { 0, 0 } };
	struct tenon_wait_result r;
	pthread_t thread;
	void *failed;
	uint64_t i;
	int first = 0;

	ok(tenon_timeline_create(0, &a.timeline));
	ok(tenon_wait_set_create(&a.set));
	assert_int_equal(pthread_create(&thread, NULL, add_and_remove, &a), 0);
	for (i = 1; i <= 300; i++) {
		ok(tenon_timeline_signal(a.timeline, i));
		while (tenon_wait_set_next(a.set, &r))
			first += r.context == &a.contexts[0];
	}
	pthread_join(thread, &failed);
	assert_null(failed);
	while (tenon_wait_set_next(a.set, &r))
		first += r.context == &a.contexts[0];
	assert_int_equal(first, 300);
	tenon_object_unref(a.set);
	tenon_object_unref(a.timeline);
	(void)cts;
}

const struct cts_case cts_fence_cases[] = {
	CTS_CASE(an_exported_fence_signals_when_the_work_is_done),
	CTS_CASE(a_fence_that_was_reached_is_exported_as_signalled),
	CTS_CASE(an_imported_fence_orders_a_queue),
	CTS_CASE(a_failure_goes_with_an_exported_fence),
	CTS_CASE(a_fence_outlives_its_timeline),
	CTS_CASE(what_is_no_fence_is_refused),
	CTS_CASE(fences_of_the_driver_go_out_and_come_in),
	CTS_CASE(any_of_several_points_ends_a_wait),
	CTS_CASE(a_wait_set_gives_each_point_once),
	CTS_CASE(a_wait_set_lives_in_an_event_loop),
	CTS_CASE(points_that_are_removed_do_not_come_out),
	CTS_CASE(threads_share_a_wait_set),
	{ NULL, NULL },
};
