/* SPDX-License-Identifier: MIT */
/* Cases about queues: order, timestamps, functions of the host, and failures. */
#include <time.h>

#include <tenon/backend/queue.h>

#include "tests/cts/cts.h"

static void operations_run_in_the_order_they_were_submitted(struct cts *cts)
{
	struct tenon_memory *a = cts_memory(cts, 4096, 0), *b = cts_memory(cts, 4096, 0);
	uint8_t back[4096];
	uint32_t i;

	for (i = 0; i < 50; i++) {
		ok(tenon_queue_fill(cts->queue, a, 0, 4096, i, 1, NULL));
		ok(tenon_queue_copy(cts->queue, b, 0, a, 0, 4096, NULL));
		ok(tenon_queue_fill(cts->queue, b, i * 4, 4, 0xff, 1, NULL));
	}
	cts_get(cts, b, 0, back, 4096);
	for (i = 0; i < 4096; i++)
		assert_int_equal(back[i], i >= 196 && i < 200 ? 0xff : 49);
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void a_queue_that_did_nothing_is_in_step_at_once(struct cts *cts)
{
	struct tenon_queue *q;

	ok(tenon_queue_create(cts->device, &q));
	ok(tenon_queue_sync(q, 0));
	ok(tenon_queue_flush(q));
	ok(tenon_queue_join(q, NULL));
	ok(tenon_queue_sync(q, cts_soon()));
	tenon_object_unref(q);
}

static void a_queue_may_be_dropped_with_work_on_its_way(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 20, 0);
	struct tenon_queue *q;
	uint8_t back;
	int i;

	for (i = 0; i < 5; i++) {
		ok(tenon_queue_create(cts->device, &q));
		ok(tenon_queue_fill(q, m, 0, 1 << 20, (uint32_t)i, 1, NULL));
		tenon_object_unref(q);
	}
	cts_get(cts, m, 1 << 19, &back, 1);
	assert_int_equal(back, 4);
	tenon_object_unref(m);
}

static void timestamps_grow(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 20, 0);
	uint64_t before = 0, after = 0;
	int err;

	err = tenon_queue_timestamp(cts->queue, &before, NULL);
	if (err == -TENON_E_UNSUPPORTED)
		cts_skip("the device has no clock");
	ok(err);
	ok(tenon_queue_fill(cts->queue, m, 0, 1 << 20, 1, 1, NULL));
	ok(tenon_queue_timestamp(cts->queue, &after, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	assert_true(before > 0);
	assert_true(after >= before);
	/* a minute is more than this takes, and a clock in other units would say more */
	assert_true(after - before < UINT64_C(60000000000));
	tenon_object_unref(m);
}

struct seen {
	const uint8_t *bytes;
	uint8_t value;
	int calls;
};

static void look(void *context)
{
	struct seen *s = context;

	s->value = s->bytes[5];
	s->calls++;
}

static void a_host_function_sees_what_came_before_it(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	uint8_t back[4096] = { 0 };
	struct seen seen = { back, 0, 0 };

	ok(tenon_queue_fill(cts->queue, m, 0, 4096, 0x31, 1, NULL));
	ok(tenon_queue_read(cts->queue, back, m, 0, 4096, NULL));
	ok(tenon_queue_call(cts->queue, look, &seen, NULL));
	ok(tenon_queue_fill(cts->queue, m, 0, 4096, 0x32, 1, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.value, 0x31);
	cts_get(cts, m, 0, back, 1);
	assert_int_equal(back[0], 0x32);
	tenon_object_unref(m);
}

static void take_a_while(void *context)
{
	const struct timespec nap = { 0, 50 * 1000 * 1000 };

	nanosleep(&nap, NULL);
	__atomic_store_n((int *)context, 1, __ATOMIC_RELEASE);
}

/* Who is told of a failure frees what the queue was given. */
static void a_sync_waits_for_all_though_something_failed_before(struct cts *cts)
{
	const struct timespec nap = { 0, 20 * 1000 * 1000 };
	struct tenon_point never = { NULL, 1 };
	struct tenon_sync s = { &never, 1, NULL, 0 };
	int done = 0;

	ok(tenon_timeline_create(0, &never.timeline));
	ok(tenon_queue_join(cts->queue, &s));
	tenon_error(-TENON_E_IO, "the cable is too short");
	tenon_timeline_fail(never.timeline, -TENON_E_IO);
	tenon_error_clear();
	/* so that the queue takes the call itself, where it can */
	nanosleep(&nap, NULL);
	ok(tenon_queue_call(cts->queue, take_a_while, &done, NULL));
	fails(tenon_queue_sync(cts->queue, cts_soon()), -TENON_E_IO);
	assert_error("the cable is too short");
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 1);
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	tenon_object_unref(never.timeline);
}

static void an_unknown_operation_is_refused(struct cts *cts)
{
	struct tenon_operation op = { .kind = 77 };

	fails(tenon_queue_submit(cts->queue, &op, NULL), -TENON_E_UNSUPPORTED);
}

static void the_current_queue_stays_and_can_be_chosen(struct cts *cts)
{
	struct tenon_queue *first, *again;

	ok(tenon_queue_current(cts->device, &first));
	ok(tenon_queue_current(cts->device, &again));
	assert_ptr_equal(first, again);
	ok(tenon_queue_set_current(cts->device, cts->queue));
	ok(tenon_queue_current(cts->device, &again));
	assert_ptr_equal(again, cts->queue);
	ok(tenon_queue_set_current(cts->device, NULL));
	ok(tenon_queue_current(cts->device, &again));
	assert_ptr_equal(first, again);
}

static void a_queue_serves_many_operations(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	uint32_t i, back[2];

	for (i = 0; i < 5000; i++)
		ok(tenon_queue_fill(cts->queue, m, 4 * (i % 2), 4, i, 4, NULL));
	cts_get(cts, m, 0, back, 8);
	assert_int_equal(back[0], 4998);
	assert_int_equal(back[1], 4999);
	tenon_object_unref(m);
}

const struct cts_case cts_queue_cases[] = {
	CTS_CASE(operations_run_in_the_order_they_were_submitted),
	CTS_CASE(a_queue_that_did_nothing_is_in_step_at_once),
	CTS_CASE(a_queue_may_be_dropped_with_work_on_its_way),
	CTS_CASE(timestamps_grow),
	CTS_CASE(a_host_function_sees_what_came_before_it),
	CTS_CASE(a_sync_waits_for_all_though_something_failed_before),
	CTS_CASE(an_unknown_operation_is_refused),
	CTS_CASE(the_current_queue_stays_and_can_be_chosen),
	CTS_CASE(a_queue_serves_many_operations),
	{ NULL, NULL },
};
