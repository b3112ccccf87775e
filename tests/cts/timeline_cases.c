/* SPDX-License-Identifier: MIT */
/* Cases about timelines: points that operations and the host signal and wait for, and deadlines. */
#include <pthread.h>
#include <time.h>

#include "tests/cts/cts.h"

#define MS UINT64_C(1000000)

static struct tenon_sync sync_of(const struct tenon_point *wait, const struct tenon_point *signal)
{
	struct tenon_sync s = { wait, wait ? 1 : 0, signal, signal ? 1 : 0 };

	return s;
}

static struct tenon_timeline *timeline(uint64_t value)
{
	struct tenon_timeline *t = NULL;

	ok(tenon_timeline_create(value, &t));
	return t;
}

static void a_signal_is_reached_when_its_operation_is_done(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 20, 0);
	struct tenon_timeline *t = timeline(3);
	struct tenon_point p = { t, 8 };
	struct tenon_sync s = sync_of(NULL, &p);
	static uint8_t back[1 << 20];
	uint64_t value;

	ok(tenon_timeline_value(t, &value));
	assert_int_equal(value, 3);
	ok(tenon_queue_fill(cts->queue, m, 0, 1 << 20, 0x42, 1, NULL));
	ok(tenon_queue_read(cts->queue, back, m, 0, 1 << 20, &s));
	ok(tenon_timeline_wait(t, 8, cts_soon()));
	assert_int_equal(back[0], 0x42);
	assert_int_equal(back[(1 << 20) - 1], 0x42);
	ok(tenon_timeline_value(t, &value));
	assert_int_equal(value, 8);
	/* a lower value is reached too */
	ok(tenon_timeline_wait(t, 5, 0));
	tenon_object_unref(t);
	tenon_object_unref(m);
}

static void an_operation_waits_for_what_the_host_signals_later(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 256, 0);
	struct tenon_timeline *go = timeline(0), *done = timeline(0);
	struct tenon_point wait = { go, 1 }, signal = { done, 1 };
	struct tenon_sync s = sync_of(&wait, &signal);
	uint8_t back = 0;

	ok(tenon_queue_fill(cts->queue, m, 0, 256, 1, 1, NULL));
	ok(tenon_queue_fill(cts->queue, m, 0, 256, 2, 1, &s));
	/* behind one that waits everything waits */
	ok(tenon_queue_read(cts->queue, &back, m, 9, 1, NULL));
	fails(tenon_timeline_wait(done, 1, tenon_deadline(20 * MS)), -TENON_E_TIMEOUT);
	fails(tenon_queue_sync(cts->queue, tenon_deadline(20 * MS)), -TENON_E_TIMEOUT);
	assert_int_equal(back, 0);
	ok(tenon_timeline_signal(go, 1));
	ok(tenon_timeline_wait(done, 1, cts_soon()));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	assert_int_equal(back, 2);
	tenon_object_unref(go);
	tenon_object_unref(done);
	tenon_object_unref(m);
}

static void two_queues_take_turns_by_a_timeline(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	struct tenon_timeline *t = timeline(0);
	struct tenon_queue *other;
	uint32_t i, back[1024];

	ok(tenon_queue_create(cts->device, &other));
	for (i = 0; i < 40; i++) {
		struct tenon_point wait = { t, i }, signal = { t, i + 1 };
		struct tenon_sync s = sync_of(i ? &wait : NULL, &signal);

		ok(tenon_queue_fill(i % 2 ? other : cts->queue, m, 0, 4096, i, 4, &s));
	}
	ok(tenon_timeline_wait(t, 40, cts_soon()));
	cts_get(cts, m, 0, back, 4096);
	assert_int_equal(back[0], 39);
	assert_int_equal(back[1023], 39);
	tenon_object_unref(other);
	tenon_object_unref(t);
	tenon_object_unref(m);
}

static void an_operation_waits_for_several_and_signals_several(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	struct tenon_timeline *t[4] = { timeline(0), timeline(0), timeline(0), timeline(0) };
	struct tenon_point waits[2] = { { t[0], 1 }, { t[1], 1 } };
	struct tenon_point signals[2] = { { t[2], 5 }, { t[3], 6 } };
	struct tenon_sync s = { waits, 2, signals, 2 };
	int i;

	ok(tenon_queue_fill(cts->queue, m, 0, 64, 7, 1, &s));
	ok(tenon_timeline_signal(t[1], 1));
	fails(tenon_timeline_wait(t[2], 5, tenon_deadline(10 * MS)), -TENON_E_TIMEOUT);
	ok(tenon_timeline_signal(t[0], 1));
	ok(tenon_timeline_wait(t[2], 5, cts_soon()));
	ok(tenon_timeline_wait(t[3], 6, cts_soon()));
	for (i = 0; i < 4; i++)
		tenon_object_unref(t[i]);
	tenon_object_unref(m);
}

static void a_join_carries_waits_and_signals_alone(struct cts *cts)
{
	struct tenon_timeline *a = timeline(0), *b = timeline(0);
	struct tenon_point wait = { a, 2 }, signal = { b, 9 };
	struct tenon_sync s = sync_of(&wait, &signal);

	ok(tenon_queue_join(cts->queue, &s));
	ok(tenon_timeline_signal(a, 2));
	ok(tenon_timeline_wait(b, 9, cts_soon()));
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void values_only_grow(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	struct tenon_timeline *t = timeline(4);
	struct tenon_point signal = { t, 4 };
	struct tenon_sync s = sync_of(NULL, &signal);
	uint8_t back;

	fails(tenon_timeline_signal(t, 4), -TENON_E_VALUE);
	ok(tenon_timeline_signal(t, 6));
	fails(tenon_timeline_signal(t, 5), -TENON_E_VALUE);
	fails(tenon_queue_join(cts->queue, &s), -TENON_E_VALUE);
	/* an operation that cannot signal is not submitted, and harms no timeline */
	cts_put(cts, m, 1);
	fails(tenon_queue_fill(cts->queue, m, 0, 64, 0xee, 1, &s), -TENON_E_VALUE);
	cts_get(cts, m, 0, &back, 1);
	assert_int_equal(back, cts_byte(0, 1));
	signal.value = 7;
	ok(tenon_queue_fill(cts->queue, m, 0, 64, 0xee, 1, &s));
	ok(tenon_timeline_wait(t, 7, cts_soon()));
	tenon_object_unref(m);
	tenon_object_unref(t);
}

static void a_deadline_ends_a_wait(struct cts *cts)
{
	struct tenon_timeline *t = timeline(0);
	uint64_t start = tenon_deadline(0);

	(void)cts;
	fails(tenon_timeline_wait(t, 1, 0), -TENON_E_TIMEOUT);
	fails(tenon_timeline_wait(t, 1, 1), -TENON_E_TIMEOUT);
	fails(tenon_timeline_wait(t, 1, tenon_deadline(30 * MS)), -TENON_E_TIMEOUT);
	assert_true(tenon_deadline(0) - start >= 30 * MS);
	assert_true(tenon_deadline(0) - start < 60000 * MS);
	tenon_object_unref(t);
}

static void a_failure_stays_and_says_why(struct cts *cts)
{
	struct tenon_timeline *t = timeline(2);
	uint64_t value = 0;

	(void)cts;
	tenon_error(-TENON_E_IO, "the disk is full");
	tenon_timeline_fail(t, -TENON_E_IO);
	tenon_error(-TENON_E_NOMEM, "something later");
	tenon_timeline_fail(t, -TENON_E_NOMEM);
	fails(tenon_timeline_wait(t, 3, cts_soon()), -TENON_E_IO);
	assert_error("the disk is full");
	fails(tenon_timeline_signal(t, 3), -TENON_E_IO);
	fails(tenon_timeline_value(t, &value), -TENON_E_IO);
	assert_int_equal(value, 2);
	/* what was reached before stays reached */
	ok(tenon_timeline_wait(t, 2, 0));
	tenon_object_unref(t);
}

static void what_waits_for_a_failure_does_not_run_and_fails_alike(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	struct tenon_timeline *bad = timeline(0), *next = timeline(0), *last = timeline(0);
	struct tenon_point wait = { bad, 1 }, middle = { next, 1 }, end = { last, 1 };
	struct tenon_sync first = sync_of(&wait, &middle), second = sync_of(&middle, &end);
	uint8_t back;

	cts_put(cts, m, 0);
	/* one that waits already, and one that comes when it has failed */
	ok(tenon_queue_fill(cts->queue, m, 0, 64, 0xaa, 1, &first));
	tenon_error(-TENON_E_IO, "the sensor was unplugged");
	tenon_timeline_fail(bad, -TENON_E_IO);
	fails(tenon_timeline_wait(next, 1, cts_soon()), -TENON_E_IO);
	assert_error("the sensor was unplugged");
	fails(tenon_queue_sync(cts->queue, cts_soon()), -TENON_E_IO);
	assert_error("the sensor was unplugged");
	fails(tenon_queue_fill(cts->queue, m, 0, 64, 0xbb, 1, &second), -TENON_E_IO);
	fails(tenon_timeline_wait(last, 1, 0), -TENON_E_IO);
	assert_error("the sensor was unplugged");
	/* the queue goes on */
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	cts_get(cts, m, 0, &back, 1);
	assert_int_equal(back, cts_byte(0, 0));
	tenon_object_unref(bad);
	tenon_object_unref(next);
	tenon_object_unref(last);
	tenon_object_unref(m);
}

static void *signal_later(void *context)
{
	struct timespec nap = { 0, 20 * 1000 * 1000 };

	nanosleep(&nap, NULL);
	if (tenon_timeline_signal(context, 1))
		return context;
	return NULL;
}

static void one_thread_waits_for_what_another_signals(struct cts *cts)
{
	struct tenon_timeline *t = timeline(0);
	pthread_t thread;
	void *failed;

	(void)cts;
	assert_int_equal(pthread_create(&thread, NULL, signal_later, t), 0);
	ok(tenon_timeline_wait(t, 1, TENON_FOREVER));
	pthread_join(thread, &failed);
	assert_null(failed);
	tenon_object_unref(t);
}

static void a_queue_waits_for_one_of_another_device(struct cts *cts)
{
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_memory *m, *n;
	struct tenon_timeline *t;
	struct tenon_point there = { NULL, 0 }, here = { NULL, 0 };
	struct tenon_sync a = sync_of(NULL, &there), b = sync_of(&there, &here);
	struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						NULL };
	uint8_t bytes[64], back[64];

	if (tenon_device_open("cpu://0?queue=worker", &device))
		cts_skip("no second device: %s", tenon_error_message());
	m = cts_memory(cts, 64, 0);
	t = timeline(0);
	there = (struct tenon_point){ t, 1 };
	here = (struct tenon_point){ t, 2 };
	ok(tenon_queue_create(device, &queue));
	ok(tenon_memory_alloc(device, &request, &n));
	ok(tenon_queue_fill(queue, n, 0, 64, 0x17, 1, NULL));
	ok(tenon_queue_read(queue, bytes, n, 0, 64, &a));
	ok(tenon_queue_write(cts->queue, m, 0, bytes, 64, &b));
	ok(tenon_timeline_wait(t, 2, cts_soon()));
	cts_get(cts, m, 0, back, 64);
	assert_int_equal(back[63], 0x17);
	if (device != cts->device)
		fails(tenon_queue_copy(queue, n, 0, m, 0, 64, NULL), -TENON_E_VALUE);
	tenon_object_unref(n);
	tenon_object_unref(queue);
	tenon_object_unref(device);
	tenon_object_unref(t);
	tenon_object_unref(m);
}

const struct cts_case cts_timeline_cases[] = {
	CTS_CASE(a_signal_is_reached_when_its_operation_is_done),
	CTS_CASE(an_operation_waits_for_what_the_host_signals_later),
	CTS_CASE(two_queues_take_turns_by_a_timeline),
	CTS_CASE(an_operation_waits_for_several_and_signals_several),
	CTS_CASE(a_join_carries_waits_and_signals_alone),
	CTS_CASE(values_only_grow),
	CTS_CASE(a_deadline_ends_a_wait),
	CTS_CASE(a_failure_stays_and_says_why),
	CTS_CASE(what_waits_for_a_failure_does_not_run_and_fails_alike),
	CTS_CASE(one_thread_waits_for_what_another_signals),
	CTS_CASE(a_queue_waits_for_one_of_another_device),
	{ NULL, NULL },
};
