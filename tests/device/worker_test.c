/* SPDX-License-Identifier: MIT */
/* The queue with a thread of the processor's own device. */
#include <time.h>

#include <tenon/backend/executable.h>
#include <tenon/backend/queue.h>

#include "tests/unit/suite.h"

static int refuse(const struct tenon_host_block *b)
{
	(void)b;
	return tenon_error(-TENON_E_VALUE, "a kernel that fails");
}

static void take_a_while(void *context)
{
	const struct timespec nap = { 0, 50 * 1000 * 1000 };

	nanosleep(&nap, NULL);
	__atomic_store_n((int *)context, 1, __ATOMIC_RELEASE);
}

static void a_mark_fails_when_all_in_front_of_it_is_done(void **state)
{
	static const tenon_host_kernel functions[] = { refuse };
	const struct tenon_kernel_info info = { .name = tenon_slice_of("f"), .dimensions = 1 };
	const struct tenon_program program = {
		.kind = tenon_slice_of("functions"),
		.format = tenon_slice_of("functions"),
		.code = { (const char *)functions, sizeof(functions) },
		.kernels = (struct tenon_kernel_info *)(uintptr_t)&info,
		.kernel_count = 1,
		.label = "test",
	};
	struct tenon_dispatch dispatch = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
	struct tenon_executable *e;
	struct tenon_device *d;
	struct tenon_queue *q;
	int done = 0;

	(void)state;
	assert_int_equal(tenon_device_open("cpu://0?queue=worker", &d), 0);
	assert_int_equal(tenon_queue_create(d, &q), 0);
	assert_int_equal(tenon_executable_create(d, &program, NULL, &e), 0);
	assert_int_equal(tenon_executable_kernel(e, 0, &dispatch.kernel), 0);
	assert_int_equal(tenon_queue_dispatch(q, &dispatch, NULL), 0);
	assert_int_equal(tenon_queue_call(q, take_a_while, &done, NULL), 0);
	assert_int_equal(tenon_queue_sync(q, TENON_FOREVER), -TENON_E_VALUE);
	assert_error("a kernel that fails");
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 1);
	tenon_object_unref(e);
	tenon_object_unref(q);
	tenon_object_unref(d);
	tenon_device_close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_fails_when_all_in_front_of_it_is_done),
	};

	return cmocka_run_group_tests_name("the processor's queue with a thread", tests, NULL,
					   NULL);
}
