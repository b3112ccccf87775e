/* SPDX-License-Identifier: MIT */
/* Queues, timelines, and what is given back late, on queues that move when the test says so. */
#include <pthread.h>

#include "tests/device/fake_device.h"

#define MS UINT64_C(1000000)

static uint64_t soon(void)
{
	return tenon_deadline(60000 * MS);
}

static struct tenon_timeline *timeline(void)
{
	struct tenon_timeline *t = NULL;

	assert_int_equal(tenon_timeline_create(0, &t), 0);
	return t;
}

static struct tenon_memory *memory(struct tenon_device *d, uint64_t size)
{
	struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m = NULL;

	assert_int_equal(tenon_memory_alloc(d, &request, &m), 0);
	return m;
}

static int fill(struct tenon_queue *q, struct tenon_memory *m, const struct tenon_point *wait,
		const struct tenon_point *signal)
{
	const struct tenon_sync s = { wait, wait ? 1 : 0, signal, signal ? 1 : 0 };

	return tenon_queue_fill(q, m, 0, 16, 0, 4, &s);
}

static void end(struct tenon_queue *q, struct tenon_device *d)
{
	fake_finish(q);
	tenon_object_unref(q);
	tenon_object_unref(d);
}

static void a_point_is_reached_when_its_queue_is(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);
	struct tenon_timeline *t = timeline();
	struct tenon_point first = { t, 3 }, second = { t, 7 };
	uint64_t value, start;

	(void)state;
	assert_int_equal(fill(q, m, NULL, &first), 0);
	assert_int_equal(fill(q, m, NULL, &second), 0);
	assert_int_equal(tenon_timeline_value(t, &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(tenon_timeline_wait(t, 1, 0), -TENON_E_TIMEOUT);
	start = tenon_deadline(0);
	assert_int_equal(tenon_timeline_wait(t, 7, tenon_deadline(20 * MS)), -TENON_E_TIMEOUT);
	assert_true(tenon_deadline(0) - start >= 20 * MS);
	assert_error("the timeline did not reach 7 in time");
	fake_queue(q)->done = 1;
	assert_int_equal(tenon_timeline_wait(t, 2, 0), 0);
	assert_int_equal(tenon_timeline_value(t, &value), 0);
	assert_int_equal(value, 3);
	assert_int_equal(tenon_timeline_wait(t, 4, 0), -TENON_E_TIMEOUT);
	tenon_error_clear();
	fake_queue(q)->done = 2;
	assert_int_equal(tenon_timeline_wait(t, 7, 0), 0);
	tenon_object_unref(t);
	tenon_object_unref(m);
	end(q, d);
}

static void every_wait_ends_by_its_deadline(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);
	uint64_t start = tenon_deadline(0);

	(void)state;
	assert_int_equal(fill(q, m, NULL, NULL), 0);
	/* a deadline is a time of the clock, not a length: one that is past asks once */
	assert_int_equal(tenon_queue_sync(q, 0), -TENON_E_TIMEOUT);
	assert_int_equal(tenon_queue_sync(q, start), -TENON_E_TIMEOUT);
	assert_int_equal(tenon_device_sync(d, tenon_deadline(10 * MS)), -TENON_E_TIMEOUT);
	assert_true(tenon_deadline(0) - start >= 10 * MS);
	assert_true(tenon_deadline(0) - start < 60000 * MS);
	assert_true(tenon_deadline(TENON_FOREVER) == TENON_FOREVER);
	assert_true(tenon_deadline(TENON_FOREVER - 1) == TENON_FOREVER);
	fake_finish(q);
	assert_int_equal(tenon_device_sync(d, 0), 0);
	tenon_error_clear();
	tenon_object_unref(m);
	end(q, d);
}

static void queues_of_one_device_are_ordered_there(void **state)
{
	struct tenon_queue *q, *other;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);
	struct tenon_timeline *t = timeline();
	struct tenon_point one = { t, 1 }, two = { t, 2 };

	(void)state;
	assert_int_equal(tenon_queue_create(d, &other), 0);
	assert_int_equal(fill(q, m, NULL, &one), 0);
	assert_int_equal(fill(other, m, &one, &two), 0);
	/* submitted at once, though nothing is done */
	assert_int_equal(fake.orders, 1);
	assert_int_equal(fake_queue(other)->given, 1);
	/* its own point needs no order */
	assert_int_equal(fill(q, m, &one, NULL), 0);
	assert_int_equal(fake.orders, 1);
	/* nor one that is reached */
	fake_finish(q);
	assert_int_equal(fill(other, m, &one, NULL), 0);
	assert_int_equal(fake.orders, 1);
	tenon_object_unref(t);
	tenon_object_unref(m);
	fake_finish(other);
	tenon_object_unref(other);
	end(q, d);
}

static void what_the_device_cannot_order_waits_on_the_host(void **state)
{
	struct tenon_queue *q, *other;
	struct tenon_device *d;
	struct tenon_memory *m;
	struct tenon_timeline *t = timeline();
	struct tenon_point one = { t, 1 }, two = { t, 2 };

	(void)state;
	fake.no_order = true;
	d = fake_open("fake:0", &q);
	m = memory(d, 64);
	assert_int_equal(tenon_queue_create(d, &other), 0);
	assert_int_equal(fill(q, m, NULL, &one), 0);
	assert_int_equal(fill(other, m, &one, &two), 0);
	/* what comes later goes behind it */
	assert_int_equal(fill(other, m, NULL, NULL), 0);
	assert_int_equal(tenon_queue_sync(other, tenon_deadline(5 * MS)), -TENON_E_TIMEOUT);
	assert_int_equal(__atomic_load_n(&fake_queue(other)->given, __ATOMIC_ACQUIRE), 0);
	fake_finish(q);
	while (__atomic_load_n(&fake_queue(other)->given, __ATOMIC_ACQUIRE) < 2)
		;
	fake_finish(other);
	assert_int_equal(tenon_timeline_wait(t, 2, soon()), 0);
	assert_int_equal(tenon_queue_sync(other, soon()), 0);
	assert_int_equal(fake.orders, 0);
	tenon_object_unref(t);
	tenon_object_unref(m);
	tenon_object_unref(other);
	end(q, d);
}

static void a_failure_travels_through_wait_lists_with_its_reason(void **state)
{
	struct tenon_queue *q, *there;
	struct tenon_device *d = fake_open("fake:0", &q), *e = fake_open("fake:1", &there);
	struct tenon_memory *m = memory(d, 64), *n = memory(e, 64);
	struct tenon_timeline *a = timeline(), *b = timeline(), *c = timeline();
	struct tenon_point first = { a, 1 }, second = { b, 1 }, third = { c, 1 };

	(void)state;
	assert_int_equal(fill(q, m, NULL, &first), 0);
	assert_int_equal(fill(there, n, &first, &second), 0);
	assert_int_equal(fill(q, m, &second, &third), 0);
	__atomic_store_n(&fake_queue(q)->failed, 1, __ATOMIC_RELEASE);
	assert_int_equal(tenon_timeline_wait(c, 1, soon()), -TENON_E_DEVICE);
	assert_error("operation 1 of the fake failed");
	assert_int_equal(tenon_timeline_wait(b, 1, soon()), -TENON_E_DEVICE);
	assert_error("operation 1 of the fake failed");
	/* it stays, whatever comes */
	assert_int_equal(tenon_timeline_signal(a, 5), -TENON_E_DEVICE);
	assert_int_equal(tenon_queue_sync(there, soon()), -TENON_E_DEVICE);
	assert_error("operation 1 of the fake failed");
	/* what waited was not run */
	assert_int_equal(fake_queue(there)->given, 0);
	assert_int_equal(tenon_queue_sync(there, soon()), 0);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(c);
	tenon_object_unref(m);
	tenon_object_unref(n);
	end(there, e);
	end(q, d);
}

/* Three fills; the fake has no recordings of its own. */
static struct tenon_commands *recording(struct tenon_device *d, struct tenon_memory *m)
{
	struct tenon_commands *c = NULL;
	int i;

	assert_int_equal(tenon_commands_create(d, &c), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(tenon_commands_fill(c, tenon_range(m, 0), 16, 0, 4), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	return c;
}

/* a recording of which the fake refuses an operation, and the timeline that it would signal */
struct refused {
	struct tenon_device *d;
	struct tenon_queue *q;
	struct tenon_memory *m;
	struct tenon_commands *c;
	struct tenon_timeline *t;
};

/* Submit it: @taken operations are taken before the one that is refused, and @status is returned. */
static void begin_refused(struct refused *r, int taken, int status)
{
	struct tenon_point signal = { timeline(), 1 };
	struct tenon_sync s = { NULL, 0, &signal, 1 };

	r->t = signal.timeline;
	r->d = fake_open("fake:0", &r->q);
	r->m = memory(r->d, 64);
	r->c = recording(r->d, r->m);
	fake.submits_left = taken;
	assert_int_equal(tenon_queue_execute(r->q, r->c, NULL, 0, &s), status);
}

static void end_refused(struct refused *r)
{
	tenon_object_unref(r->t);
	tenon_object_unref(r->c);
	tenon_object_unref(r->m);
	end(r->q, r->d);
}

static void a_recording_that_is_refused_at_once_leaves_nothing(void **state)
{
	struct refused r;

	(void)state;
	begin_refused(&r, 0, -TENON_E_VALUE);
	assert_error("fake: no operation 4");
	assert_int_equal(fake_queue(r.q)->given, 0);
	assert_int_equal(tenon_timeline_wait(r.t, 1, 0), -TENON_E_TIMEOUT);
	assert_int_equal(tenon_queue_sync(r.q, soon()), 0);
	end_refused(&r);
}

static void a_recording_that_is_refused_half_way_is_an_operation_that_failed(void **state)
{
	struct refused r;

	(void)state;
	begin_refused(&r, 1, -TENON_E_VALUE);
	assert_error("fake: no operation 4");
	assert_int_equal(fake_queue(r.q)->given, 1);
	assert_int_equal(tenon_timeline_wait(r.t, 1, 0), -TENON_E_VALUE);
	assert_error("fake: no operation 4");
	/* what was taken runs */
	assert_int_equal(tenon_queue_sync(r.q, tenon_deadline(MS)), -TENON_E_TIMEOUT);
	tenon_error_clear();
	fake_finish(r.q);
	assert_int_equal(tenon_queue_sync(r.q, soon()), 0);
	end_refused(&r);
}

static void a_loss_ends_what_is_held(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);
	struct tenon_timeline *never = timeline(), *t = timeline();
	struct tenon_point wait = { never, 1 }, signal = { t, 1 };

	(void)state;
	assert_int_equal(fill(q, m, &wait, &signal), 0);
	tenon_error(-TENON_E_DEVICE, "the cable came off");
	tenon_device_lose(d, -TENON_E_DEVICE);
	assert_int_equal(tenon_timeline_wait(t, 1, soon()), -TENON_E_LOST);
	assert_error("fake:0 is lost: the cable came off. Reopen it");
	assert_int_equal(tenon_queue_sync(q, soon()), -TENON_E_LOST);
	tenon_error_clear();
	tenon_object_unref(never);
	tenon_object_unref(t);
	tenon_object_unref(m);
	tenon_object_unref(q);
	tenon_object_unref(d);
}

static void count_call(void *context)
{
	__atomic_add_fetch((int *)context, 1, __ATOMIC_RELAXED);
}

static void a_host_function_waits_where_the_queue_takes_none(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);
	int calls = 0;

	(void)state;
	assert_int_equal(fill(q, m, NULL, NULL), 0);
	assert_int_equal(tenon_queue_call(q, count_call, &calls, NULL), 0);
	assert_int_equal(tenon_queue_sync(q, tenon_deadline(5 * MS)), -TENON_E_TIMEOUT);
	assert_int_equal(__atomic_load_n(&calls, __ATOMIC_RELAXED), 0);
	fake_finish(q);
	assert_int_equal(tenon_queue_sync(q, soon()), 0);
	assert_int_equal(calls, 1);
	tenon_object_unref(m);
	end(q, d);
}

static void memory_goes_back_when_every_queue_is_past_it(void **state)
{
	struct tenon_queue *q, *other;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64), *n = memory(d, 64);

	(void)state;
	assert_int_equal(tenon_queue_create(d, &other), 0);
	assert_int_equal(fill(q, m, NULL, NULL), 0);
	assert_int_equal(fill(other, m, NULL, NULL), 0);
	tenon_object_unref(m);
	assert_int_equal(fake.frees, 0);
	fake_finish(q);
	tenon_object_unref(memory(d, 8));
	assert_int_equal(fake.frees, 0);
	fake_finish(other);
	/* an allocation looks, and so does whatever is dropped next */
	tenon_object_unref(n);
	assert_int_equal(fake.frees, 3);
	fake_finish(other);
	tenon_object_unref(other);
	end(q, d);
}

static void a_queue_that_ends_holds_no_memory_back(void **state)
{
	struct tenon_queue *q, *other;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);

	(void)state;
	assert_int_equal(tenon_queue_create(d, &other), 0);
	assert_int_equal(fill(other, m, NULL, NULL), 0);
	tenon_object_unref(m);
	assert_int_equal(fake.frees, 0);
	fake_finish(other);
	tenon_object_unref(other);
	tenon_object_unref(memory(d, 8));
	assert_int_equal(fake.frees, 2);
	end(q, d);
}

static void memory_stays_while_a_queue_cannot_be_marked(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64), *n = memory(d, 64);

	(void)state;
	assert_int_equal(fill(q, m, NULL, NULL), 0);
	tenon_error_clear();
	fake.marks_fail = 100;
	tenon_object_unref(m);
	assert_int_equal(fake.frees, 0);
	assert_string_equal(tenon_error_message(), "");
	/* still not marked when the operation is done, and then marked */
	fake_finish(q);
	tenon_object_unref(n);
	assert_int_equal(fake.frees, 0);
	fake.marks_fail = 0;
	tenon_object_unref(memory(d, 8));
	assert_int_equal(fake.frees, 3);
	assert_int_equal(tenon_device_check(d), 0);
	end(q, d);
}

static void a_queue_that_cannot_be_marked_at_its_end_loses_the_device(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);

	(void)state;
	assert_int_equal(fill(q, m, NULL, NULL), 0);
	tenon_error_clear();
	fake.marks_fail = 1;
	tenon_object_unref(q);
	assert_int_equal(fake.queues_gone, 1);
	assert_string_equal(tenon_error_message(), "");
	assert_true(tenon_device_check(d) < 0);
	assert_error_has("fake: no memory for a mark");
	tenon_error_clear();
	tenon_object_unref(m);
	tenon_object_unref(d);
}

static void a_lost_device_holds_no_memory_back(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64), *n = memory(d, 64);

	(void)state;
	assert_int_equal(fill(q, m, NULL, NULL), 0);
	tenon_object_unref(m);
	assert_int_equal(fake.frees, 0);
	tenon_error(-TENON_E_DEVICE, "gone");
	tenon_device_lose(d, -TENON_E_DEVICE);
	tenon_error_clear();
	tenon_object_unref(n);
	assert_int_equal(fake.frees, 2);
	tenon_object_unref(q);
	tenon_object_unref(d);
}

/* The fake would take it: that it does not get there is the library's doing. */
static void a_lost_device_takes_no_launch(void **state)
{
	static const struct tenon_kernel_info info = { .name = { "f", 1 }, .dimensions = 1 };
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_executable executable = { .device = d };
	struct tenon_kernel kernel = { &executable, &info };
	struct tenon_dispatch dispatch = { .kernel = &kernel,
					   .grid = { 1, 1, 1 },
					   .block = { 1, 1, 1 } };

	(void)state;
	assert_int_equal(tenon_queue_dispatch(q, &dispatch, NULL), 0);
	assert_int_equal(fake_queue(q)->given, 1);
	tenon_error(-TENON_E_DEVICE, "the cable came off");
	tenon_device_lose(d, -TENON_E_DEVICE);
	tenon_error_clear();
	assert_int_equal(tenon_queue_dispatch(q, &dispatch, NULL), -TENON_E_LOST);
	assert_error("fake:0 is lost: the cable came off. Reopen it");
	assert_int_equal(fake_queue(q)->given, 1);
	end(q, d);
}

static void a_pool_asks_for_memory_in_the_queues_order(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *a, *b, *c;

	(void)state;
	assert_int_equal(tenon_memory_take(q, 1000, &a), 0);
	assert_int_equal(a->size, 1024);
	assert_ptr_equal(fake.last_request.queue, q);
	assert_int_equal(tenon_memory_take(q, 1, &b), 0);
	assert_int_equal(b->size, 256);
	tenon_memory_give(q, a);
	assert_int_equal(tenon_memory_take(q, 513, &c), 0);
	assert_ptr_equal(c, a);
	assert_int_equal(fake.allocations, 2);
	/* of another size, and nothing of this pool's */
	tenon_memory_give(q, NULL);
	tenon_memory_give(q, b);
	tenon_memory_give(q, b);
	tenon_memory_give(q, c);
	assert_int_equal(fake.frees, 0);
	tenon_memory_trim(q);
	assert_int_equal(fake.frees, 2);
	end(q, d);
}

static void a_pool_gives_up_what_lies_idle_before_it_fails(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *a, *b;

	(void)state;
	assert_int_equal(tenon_memory_take(q, 300, &a), 0);
	tenon_memory_give(q, a);
	fake.allocations_left = 0;
	assert_int_equal(tenon_memory_take(q, 1300, &b), -TENON_E_NOMEM);
	assert_error("fake: no memory for 1300 bytes");
	assert_null(b);
	assert_int_equal(fake.frees, 1);
	/* rounded up it is more than there is in one piece; as it is, it fits */
	fake.allocations_left = -1;
	d->properties->max_allocation = 1500;
	assert_int_equal(tenon_memory_take(q, 1300, &b), 0);
	assert_int_equal(b->size, 1300);
	tenon_memory_give(q, b);
	/* nobody else could use it */
	assert_int_equal(fake.frees, 2);
	end(q, d);
}

/* a signal may come from a function in the queue, which the queue's end would wait for */
static void a_signal_lets_no_queue_go(void **state)
{
	struct tenon_queue *queue;
	struct tenon_device *device = fake_open("fake:0", &queue);
	struct tenon_timeline *t;
	struct tenon_point signal;
	struct tenon_sync sync = { NULL, 0, &signal, 1 };
	const struct tenon_operation barrier = { .kind = TENON_OP_BARRIER };
	uint64_t value;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	signal = (struct tenon_point){ t, 1 };
	assert_int_equal(tenon_queue_submit(queue, &barrier, &sync), 0);
	fake_finish(queue);
	tenon_object_unref(queue);
	assert_int_equal(tenon_timeline_signal(t, 2), 0);
	assert_int_equal(fake.queues_gone, 0);
	assert_int_equal(tenon_timeline_value(t, &value), 0);
	assert_int_equal(value, 2);
	assert_int_equal(fake.queues_gone, 1);
	tenon_object_unref(t);
	tenon_object_unref(device);
}

/* another thread, as a sync sees it: each call does a step; it gives up after many */
struct feeder {
	struct tenon_queue *queue;
	struct tenon_memory *memory;
	struct tenon_timeline *timeline;
	int steps;
};

#define STEPS_MOST 40

/* One operation is done, and one more is submitted: there are always two. */
static int feed(void *context)
{
	struct feeder *f = context;

	assert_int_equal(fill(f->queue, f->memory, NULL, NULL), 0);
	__atomic_fetch_add(&fake_queue(f->queue)->done, 1, __ATOMIC_RELEASE);
	return ++f->steps == STEPS_MOST;
}

static void a_sync_waits_for_nothing_that_was_submitted_after_it_began(void **state)
{
	struct feeder f = { NULL, NULL, NULL, 0 };
	struct tenon_device *d = fake_open("fake:0", &f.queue);

	(void)state;
	f.memory = memory(d, 64);
	assert_int_equal(fill(f.queue, f.memory, NULL, NULL), 0);
	assert_int_equal(fill(f.queue, f.memory, NULL, NULL), 0);
	assert_int_equal(tenon_queue_sync_or_stop(f.queue, soon(), feed, &f), 0);
	assert_int_equal(f.steps, 2);
	f.steps = 0;
	assert_int_equal(tenon_device_sync_or_stop(d, TENON_FOREVER, feed, &f), 0);
	assert_int_equal(f.steps, 2);
	tenon_object_unref(f.memory);
	end(f.queue, d);
}

/* As feed(), of operations that the queue holds. */
static int feed_held(void *context)
{
	struct feeder *f = context;
	const struct tenon_point next = { f->timeline, (uint64_t)f->steps + 2 };

	fake_finish(f->queue);
	assert_int_equal(fill(f->queue, f->memory, &next, NULL), 0);
	assert_int_equal(tenon_timeline_signal(f->timeline, next.value - 1), 0);
	return ++f->steps == STEPS_MOST;
}

static int finish(void *context)
{
	fake_finish(((struct feeder *)context)->queue);
	return 0;
}

static void a_sync_waits_for_nothing_that_a_queue_holds_since_it_began(void **state)
{
	struct feeder f = { NULL, NULL, timeline(), 0 };
	struct tenon_device *d = fake_open("fake:0", &f.queue);
	const struct tenon_point first = { f.timeline, 1 };

	(void)state;
	f.memory = memory(d, 64);
	assert_int_equal(fill(f.queue, f.memory, &first, NULL), 0);
	assert_int_equal(tenon_queue_sync_or_stop(f.queue, TENON_FOREVER, feed_held, &f), 0);
	assert_int_equal(tenon_device_sync_or_stop(d, TENON_FOREVER, feed_held, &f), 0);
	assert_int_equal(tenon_timeline_signal(f.timeline, (uint64_t)f.steps + 1), 0);
	assert_int_equal(tenon_queue_sync_or_stop(f.queue, TENON_FOREVER, finish, &f), 0);
	tenon_object_unref(f.timeline);
	tenon_object_unref(f.memory);
	end(f.queue, d);
}

static int stop(void *context)
{
	++*(int *)context;
	return 1;
}

static void a_sync_ends_when_its_caller_stops_it(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *m = memory(d, 64);
	int stops = 0;

	(void)state;
	assert_int_equal(fill(q, m, NULL, NULL), 0);
	assert_int_equal(tenon_queue_sync_or_stop(q, TENON_FOREVER, stop, &stops),
			 -TENON_E_TIMEOUT);
	assert_int_equal(tenon_device_sync_or_stop(d, soon(), stop, &stops), -TENON_E_TIMEOUT);
	assert_int_equal(stops, 2);
	/* a deadline comes first */
	assert_int_equal(tenon_queue_sync_or_stop(q, 0, stop, &stops), -TENON_E_TIMEOUT);
	assert_int_equal(stops, 2);
	tenon_error_clear();
	tenon_object_unref(m);
	end(q, d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_point_is_reached_when_its_queue_is, fake_reset),
		cmocka_unit_test_setup(every_wait_ends_by_its_deadline, fake_reset),
		cmocka_unit_test_setup(queues_of_one_device_are_ordered_there, fake_reset),
		cmocka_unit_test_setup(what_the_device_cannot_order_waits_on_the_host, fake_reset),
		cmocka_unit_test_setup(a_failure_travels_through_wait_lists_with_its_reason,
				       fake_reset),
		cmocka_unit_test_setup(a_recording_that_is_refused_at_once_leaves_nothing,
				       fake_reset),
		cmocka_unit_test_setup(
			a_recording_that_is_refused_half_way_is_an_operation_that_failed,
			fake_reset),
		cmocka_unit_test_setup(a_loss_ends_what_is_held, fake_reset),
		cmocka_unit_test_setup(a_host_function_waits_where_the_queue_takes_none,
				       fake_reset),
		cmocka_unit_test_setup(memory_goes_back_when_every_queue_is_past_it, fake_reset),
		cmocka_unit_test_setup(a_queue_that_ends_holds_no_memory_back, fake_reset),
		cmocka_unit_test_setup(memory_stays_while_a_queue_cannot_be_marked, fake_reset),
		cmocka_unit_test_setup(a_queue_that_cannot_be_marked_at_its_end_loses_the_device,
				       fake_reset),
		cmocka_unit_test_setup(a_lost_device_holds_no_memory_back, fake_reset),
		cmocka_unit_test_setup(a_lost_device_takes_no_launch, fake_reset),
		cmocka_unit_test_setup(a_pool_asks_for_memory_in_the_queues_order, fake_reset),
		cmocka_unit_test_setup(a_pool_gives_up_what_lies_idle_before_it_fails, fake_reset),
		cmocka_unit_test_setup(a_signal_lets_no_queue_go, fake_reset),
		cmocka_unit_test_setup(a_sync_waits_for_nothing_that_was_submitted_after_it_began,
				       fake_reset),
		cmocka_unit_test_setup(a_sync_waits_for_nothing_that_a_queue_holds_since_it_began,
				       fake_reset),
		cmocka_unit_test_setup(a_sync_ends_when_its_caller_stops_it, fake_reset),
	};

	return cmocka_run_group_tests_name("queues, timelines and pools", tests, fake_setup,
					   fake_reset);
}
