/* SPDX-License-Identifier: MIT */
/*
 * How the OpenCL backend ends when its driver fails, on the named fake of fake_opencl.h. Each
 * case ends in bounded time with the reason, gives back every object of OpenCL, and the next one goes on.
 */
#include "tests/opencl/opencl_rig.h"

#define SECOND UINT64_C(1000000000)

static void a_launch_reaches_the_driver_with_its_arguments(void **state)
{
	int in[64], out[64], i;
	struct rig_launch l;

	(void)state;
	for (i = 0; i < 64; i++)
		in[i] = 3 * i;
	rig_launch(&l);
	assert_int_equal(tenon_queue_write(queue, l.in, 0, in, sizeof(in), NULL), 0);
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, out, l.out, 0, sizeof(out), NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	for (i = 0; i < 64; i++)
		assert_int_equal(out[i], 3 * i + 7);
	rig_launch_drop(&l);
}

static void arguments_are_set_when_they_changed_only(void **state)
{
	struct tenon_memory *again;
	struct rig_launch l;
	long before;

	(void)state;
	rig_launch(&l);
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	before = fake->set_arguments;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	assert_int_equal(fake->set_arguments - before, 0);
	l.arguments[2] = 8;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	assert_int_equal(fake->set_arguments - before, 1);
	/* memory in the very place of memory that was freed is another */
	tenon_object_unref(l.out);
	again = rig_memory(256);
	l.out = again;
	l.arguments[0] = (uintptr_t)again;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	assert_int_equal(fake->set_arguments - before, 2);
	rig_launch_drop(&l);
}

static void an_allocation_that_fails_says_how_much_was_asked_for(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	const struct tenon_memory_request large = { sizeof(large), 1 << 21, TENON_MEMORY_DEFAULT,
						    -1, NULL };
	struct tenon_memory *m = NULL, *kept = rig_memory(64);

	(void)state;
	fake->alloc_fails_at = 2;
	tenon_object_unref(rig_memory(4096));
	assert_int_equal(tenon_memory_alloc(device, &request, &m), -TENON_E_NOMEM);
	assert_error_has("opencl:0 (Fake, accelerator): allocating 4096 bytes (at most 1048576 in "
			 "one piece): CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
	tenon_object_unref(rig_memory(4096));
	assert_int_equal(tenon_memory_alloc(device, &large, &m), -TENON_E_NOMEM);
	assert_error_has("2097152 bytes");
	tenon_object_unref(kept);
}

static void a_queue_that_cannot_be_made_is_an_error(void **state)
{
	struct tenon_queue *q = NULL;

	(void)state;
	fake->queue_fails = 1;
	assert_int_equal(tenon_queue_create(device, &q), -TENON_E_NOMEM);
	assert_error_has("making a queue: CL_OUT_OF_HOST_MEMORY (-6)");
}

static void a_launch_that_is_too_large_names_the_limit(void **state)
{
	struct rig_launch l;

	(void)state;
	rig_launch(&l);
	l.dispatch.block[0] = 65;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), -TENON_E_DEVICE);
	assert_error_has("launching kernel add with 65 x 1 x 1 threads a block (at most 64, and 64 "
			 "x 64 x 64): "
			 "CL_INVALID_WORK_GROUP_SIZE (-54)");
	rig_launch_drop(&l);
}

static void a_wait_that_never_ends_ends_at_its_deadline(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	uint64_t start, end;

	(void)state;
	fake->hangs = 1;
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, NULL), 0);
	start = tenon_deadline(0);
	assert_int_equal(tenon_queue_sync(queue, tenon_deadline(50000000)), -TENON_E_TIMEOUT);
	end = tenon_deadline(0);
	assert_true(end - start >= 50000000 && end - start < 60 * SECOND);
	assert_int_equal(tenon_queue_sync(queue, 0), -TENON_E_TIMEOUT);
	tenon_error_clear();
	/* whoever gives up on the device loses it, and then nothing waits any more */
	tenon_device_lose(device, tenon_error(-TENON_E_LOST, "the test gave up"));
	assert_int_equal(tenon_queue_sync(queue, TENON_FOREVER), -TENON_E_LOST);
	assert_error_has("the test gave up");
	tenon_object_unref(m);
}

static void a_device_lost_in_mid_queue_fails_what_was_promised(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	struct tenon_timeline *t = NULL;
	struct tenon_device *fresh = NULL;
	struct tenon_point one, two;
	struct tenon_sync first, second;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	one = (struct tenon_point){ t, 1 };
	two = (struct tenon_point){ t, 2 };
	first = (struct tenon_sync){ NULL, 0, &one, 1 };
	second = (struct tenon_sync){ NULL, 0, &two, 1 };
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, &first), 0);
	fake->lost_at = 1;
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, &second), -TENON_E_LOST);
	assert_error_has("submitting a fill: CL_INVALID_COMMAND_QUEUE (-36)");
	assert_int_equal(tenon_timeline_wait(t, 2, rig_soon()), -TENON_E_LOST);
	assert_error_has("CL_INVALID_COMMAND_QUEUE (-36)");
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, NULL), -TENON_E_LOST);
	tenon_error_clear();
	/* the way back */
	assert_int_equal(tenon_device_reopen(device, &fresh), 0);
	assert_int_equal(tenon_device_check(fresh), 0);
	tenon_object_unref(t);
	tenon_object_unref(m);
	tenon_object_unref(fresh);
}

static void a_device_lost_while_somebody_waits_ends_the_wait(void **state)
{
	struct rig_launch l;

	(void)state;
	rig_launch(&l);
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	/* the marker of the wait is the first to see it */
	fake->lost_at = 1;
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), -TENON_E_LOST);
	assert_error_has("CL_INVALID_COMMAND_QUEUE (-36)");
	rig_launch_drop(&l);
}

static void an_operation_that_failed_fails_its_points_and_no_others(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	struct tenon_timeline *good = NULL, *bad = NULL;
	struct tenon_point g, b, after;
	struct tenon_sync signal_bad, signal_good, wait_bad;
	struct tenon_queue *other = NULL;
	struct tenon_timeline *third = NULL;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &good), 0);
	assert_int_equal(tenon_timeline_create(0, &bad), 0);
	assert_int_equal(tenon_timeline_create(0, &third), 0);
	assert_int_equal(tenon_queue_create(device, &other), 0);
	b = (struct tenon_point){ bad, 1 };
	g = (struct tenon_point){ good, 1 };
	after = (struct tenon_point){ third, 1 };
	signal_bad = (struct tenon_sync){ NULL, 0, &b, 1 };
	signal_good = (struct tenon_sync){ NULL, 0, &g, 1 };
	wait_bad = (struct tenon_sync){ &b, 1, &after, 1 };
	fake->mark_fails_at = 1;
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, &signal_bad), 0);
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, &signal_good), 0);
	assert_int_equal(tenon_timeline_wait(good, 1, rig_soon()), 0);
	assert_int_equal(tenon_timeline_wait(bad, 1, rig_soon()), -TENON_E_DEVICE);
	assert_error_has("an operation failed on the device: CL_OUT_OF_RESOURCES (-5)");
	/* whoever waits for it fails with the same reason */
	tenon_queue_fill(other, m, 0, 64, 0, 4, &wait_bad);
	assert_int_equal(tenon_timeline_wait(third, 1, rig_soon()), -TENON_E_DEVICE);
	assert_error_has("CL_OUT_OF_RESOURCES (-5)");
	tenon_object_unref(other);
	tenon_object_unref(good);
	tenon_object_unref(bad);
	tenon_object_unref(third);
	tenon_object_unref(m);
}

static void an_unknown_option_of_the_uri_is_refused(void **state)
{
	struct tenon_device *d = NULL;

	(void)state;
	assert_int_equal(tenon_device_open("opencl://0?speed=high", &d), -TENON_E_VALUE);
	assert_error_has("unknown option \"speed\"; known: options");
	assert_int_equal(tenon_device_open("opencl://0?options=-cl-mad-enable", &d), 0);
	tenon_object_unref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(a_launch_reaches_the_driver_with_its_arguments),
		RIG_CASE(arguments_are_set_when_they_changed_only),
		RIG_CASE(an_allocation_that_fails_says_how_much_was_asked_for),
		RIG_CASE(a_queue_that_cannot_be_made_is_an_error),
		RIG_CASE(a_launch_that_is_too_large_names_the_limit),
		RIG_CASE(a_wait_that_never_ends_ends_at_its_deadline),
		RIG_CASE(a_device_lost_in_mid_queue_fails_what_was_promised),
		RIG_CASE(a_device_lost_while_somebody_waits_ends_the_wait),
		RIG_CASE(an_operation_that_failed_fails_its_points_and_no_others),
		RIG_CASE(an_unknown_option_of_the_uri_is_refused),
	};

	return rig_prepare() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
