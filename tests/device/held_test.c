/* SPDX-License-Identifier: MIT */
/* Operations that wait on the host, and what others see of them: syncs, copies, orders. */
#include <sched.h>

#include "tests/device/fake_device.h"

#define MS UINT64_C(1000000)

static const DLDevice first = { (DLDeviceType)FAKE_TYPE, 0 };

/* two queues of a device, a timeline that is not signalled yet, memory */
struct scene {
	struct tenon_device *device;
	struct tenon_queue *q, *other;
	struct tenon_timeline *t;
	struct tenon_memory *m;
};

static uint64_t soon(void)
{
	return tenon_deadline(60000 * MS);
}

static struct scene begin(void)
{
	struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct scene s;

	s.device = fake_open("fake:0", &s.q);
	assert_int_equal(tenon_queue_create(s.device, &s.other), 0);
	assert_int_equal(tenon_timeline_create(0, &s.t), 0);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &s.m), 0);
	return s;
}

static void end(struct scene *s)
{
	fake_finish(s->q);
	fake_finish(s->other);
	tenon_object_unref(s->m);
	tenon_object_unref(s->t);
	tenon_object_unref(s->q);
	tenon_object_unref(s->other);
	tenon_object_unref(s->device);
}

/* Submit a fill; @t: that waits for this timeline's 1. */
static void fill(struct scene *s, struct tenon_queue *q, struct tenon_timeline *t)
{
	const struct tenon_point wait = { t, 1 };
	const struct tenon_sync sync = { &wait, t ? 1 : 0, NULL, 0 };

	assert_int_equal(tenon_queue_fill(q, s->m, 0, 16, 0, 4, &sync), 0);
}

static void fail_with(struct scene *s, const char *why)
{
	tenon_error(-TENON_E_VALUE, "%s", why);
	tenon_timeline_fail(s->t, -TENON_E_VALUE);
	tenon_error_clear();
}

static uint64_t given(struct tenon_queue *q)
{
	return __atomic_load_n(&fake_queue(q)->given, __ATOMIC_ACQUIRE);
}

static void wait_given(struct tenon_queue *q, uint64_t count)
{
	const uint64_t deadline = soon();

	while (given(q) < count && tenon_now() < deadline)
		sched_yield();
	assert_int_equal(given(q), count);
}

static void a_sync_that_tells_of_a_failure_has_waited_for_all(void **state)
{
	struct scene s = begin();

	(void)state;
	fill(&s, s.q, s.t);
	fail_with(&s, "what came first");
	fill(&s, s.q, NULL);
	wait_given(s.q, 1);
	assert_int_equal(tenon_queue_sync(s.q, tenon_deadline(10 * MS)), -TENON_E_TIMEOUT);
	fake_finish(s.q);
	assert_int_equal(tenon_queue_sync(s.q, soon()), -TENON_E_VALUE);
	assert_error("what came first");
	assert_int_equal(tenon_queue_sync(s.q, soon()), 0);
	end(&s);
}

static void of_two_failures_a_sync_tells_the_first(void **state)
{
	struct scene s = begin();

	(void)state;
	fill(&s, s.q, s.t);
	fail_with(&s, "what came first");
	fill(&s, s.q, NULL);
	wait_given(s.q, 1);
	__atomic_store_n(&fake_queue(s.q)->failed, 1, __ATOMIC_RELEASE);
	assert_int_equal(tenon_queue_sync(s.q, soon()), -TENON_E_VALUE);
	assert_error("what came first");
	assert_int_equal(tenon_queue_sync(s.q, soon()), -TENON_E_DEVICE);
	end(&s);
}

static void a_sync_of_the_device_waits_for_the_queues_behind_one_that_failed(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct scene s = begin();
		struct tenon_queue *failed = i ? s.q : s.other, *slow = i ? s.other : s.q;

		fill(&s, slow, NULL);
		fill(&s, failed, s.t);
		fail_with(&s, "one of them");
		assert_int_equal(tenon_device_sync(s.device, tenon_deadline(10 * MS)),
				 -TENON_E_TIMEOUT);
		fake_finish(slow);
		assert_int_equal(tenon_device_sync(s.device, soon()), -TENON_E_VALUE);
		assert_error("one of them");
		assert_int_equal(tenon_device_sync(s.device, soon()), 0);
		end(&s);
	}
}

static void a_sync_of_the_device_tells_one_failure_at_a_time(void **state)
{
	struct scene s = begin();

	(void)state;
	fill(&s, s.q, s.t);
	fail_with(&s, "a held one");
	fill(&s, s.other, NULL);
	__atomic_store_n(&fake_queue(s.other)->failed, 1, __ATOMIC_RELEASE);
	/* the newest queue is asked first */
	assert_int_equal(tenon_device_sync(s.device, soon()), -TENON_E_DEVICE);
	assert_error("operation 1 of the fake failed");
	assert_int_equal(tenon_queue_sync(s.q, soon()), -TENON_E_VALUE);
	assert_error("a held one");
	end(&s);
}

static void a_sync_of_a_lost_device_ends(void **state)
{
	struct scene s = begin();

	(void)state;
	fill(&s, s.q, NULL);
	fill(&s, s.other, s.t);
	tenon_error(-TENON_E_DEVICE, "the cable came off");
	tenon_device_lose(s.device, -TENON_E_DEVICE);
	assert_int_equal(tenon_device_sync(s.device, soon()), -TENON_E_LOST);
	assert_error("fake:0 is lost: the cable came off. Reopen it");
	end(&s);
}

/* Copy within the device, on the thread's own queue. */
static int copy_within(void)
{
	const int64_t n = 16;
	const DLDataType byte = tenon_dtype(TENON_DTYPE_UINT, 8, 1);
	struct tenon_tensor *a, *b;
	int err;

	assert_int_equal(tenon_tensor_create_on(first, &n, 1, byte, &a), 0);
	assert_int_equal(tenon_tensor_create_on(first, &n, 1, byte, &b), 0);
	err = tenon_tensor_copy(&a->dl, &b->dl);
	tenon_object_unref(a);
	tenon_object_unref(b);
	return err;
}

static void a_copy_leaves_the_failure_of_another_queue_to_its_owner(void **state)
{
	struct scene s = begin();
	struct tenon_queue *mine;

	(void)state;
	fill(&s, s.other, s.t);
	fail_with(&s, "the other's own");
	assert_int_equal(copy_within(), 0);
	assert_int_equal(tenon_queue_sync(s.other, soon()), -TENON_E_VALUE);
	assert_error("the other's own");
	assert_int_equal(tenon_queue_sync(s.other, soon()), 0);
	assert_int_equal(tenon_queue_current(s.device, &mine), 0);
	fake_finish(mine);
	end(&s);
}

static void where_no_queue_is_ordered_a_copy_leaves_failures_too(void **state)
{
	struct tenon_queue *mine;
	struct scene s;

	(void)state;
	fake.no_order = true;
	s = begin();
	fill(&s, s.other, NULL);
	__atomic_store_n(&fake_queue(s.other)->failed, 1, __ATOMIC_RELEASE);
	assert_int_equal(copy_within(), 0);
	assert_int_equal(tenon_queue_sync(s.other, soon()), -TENON_E_DEVICE);
	assert_error("operation 1 of the fake failed");
	assert_int_equal(tenon_queue_current(s.device, &mine), 0);
	fake_finish(mine);
	end(&s);
}

/* The thread that waits submits to the queue meanwhile, which nobody else may. */
static void behind_what_a_queue_holds_an_order_is_held_too(void **state)
{
	struct scene s = begin();
	struct tenon_queue *mine;

	(void)state;
	assert_int_equal(tenon_queue_current(s.device, &mine), 0);
	fill(&s, s.other, NULL);
	fill(&s, mine, s.t);
	assert_int_equal(copy_within(), 0);
	assert_int_equal(fake.orders, 0);
	assert_int_equal(given(mine), 0);
	assert_int_equal(tenon_timeline_signal(s.t, 1), 0);
	wait_given(mine, 1);
	fake_finish(mine);
	/* the copy comes behind the other queue all the same */
	assert_int_equal(tenon_queue_sync(mine, tenon_deadline(20 * MS)), -TENON_E_TIMEOUT);
	assert_int_equal(given(mine), 1);
	fake_finish(s.other);
	wait_given(mine, 2);
	fake_finish(mine);
	assert_int_equal(tenon_queue_sync(mine, soon()), 0);
	/* nothing is held any more: the device does it */
	assert_int_equal(copy_within(), 0);
	assert_int_not_equal(fake.orders, 0);
	fake_finish(mine);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_sync_that_tells_of_a_failure_has_waited_for_all,
				       fake_reset),
		cmocka_unit_test_setup(of_two_failures_a_sync_tells_the_first, fake_reset),
		cmocka_unit_test_setup(
			a_sync_of_the_device_waits_for_the_queues_behind_one_that_failed,
			fake_reset),
		cmocka_unit_test_setup(a_sync_of_the_device_tells_one_failure_at_a_time,
				       fake_reset),
		cmocka_unit_test_setup(a_sync_of_a_lost_device_ends, fake_reset),
		cmocka_unit_test_setup(a_copy_leaves_the_failure_of_another_queue_to_its_owner,
				       fake_reset),
		cmocka_unit_test_setup(where_no_queue_is_ordered_a_copy_leaves_failures_too,
				       fake_reset),
		cmocka_unit_test_setup(behind_what_a_queue_holds_an_order_is_held_too, fake_reset),
	};

	return cmocka_run_group_tests_name("operations that wait on the host", tests, fake_setup,
					   fake_reset);
}
