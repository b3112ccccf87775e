/* SPDX-License-Identifier: MIT */
/* Jobs: kernels with a deadline and a priority, and tensors for their arguments. */
#include <poll.h>
#include <unistd.h>

#include <tenon/fence.h>

#include "tests/device/fake_device.h"

#define MS UINT64_C(1000000)

static uint64_t soon(void)
{
	return tenon_deadline(60000 * MS);
}

/**
 * struct scene - a device with a queue, and a kernel of its
 * @t: what jobs signal, at @done
 * @gate: what jobs may wait for, at @open
 */
struct scene {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_timeline *t;
	struct tenon_timeline *gate;
	struct tenon_point done;
	struct tenon_point open;
};

static const struct tenon_argument arguments[] = {
	{ .kind = TENON_ARGUMENT_MEMORY, .size = 8 },
	{ .kind = TENON_ARGUMENT_SCALAR, .size = 4 },
};
static struct tenon_kernel_info info = { .name = { "k", 1 }, .arguments = arguments };
static struct tenon_executable executable;
static struct tenon_kernel kernel = { &executable, &info };

static struct scene begin(void)
{
	struct scene s;

	s.device = fake_open("fake:0", &s.queue);
	assert_int_equal(tenon_timeline_create(0, &s.t), 0);
	assert_int_equal(tenon_timeline_create(0, &s.gate), 0);
	s.done = (struct tenon_point){ s.t, 1 };
	s.open = (struct tenon_point){ s.gate, 1 };
	executable.device = s.device;
	return s;
}

static void end(struct scene *s)
{
	fake_finish(s->queue);
	tenon_object_unref(s->t);
	tenon_object_unref(s->gate);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->device);
	tenon_error_clear();
}

static int launch(struct scene *s, uint64_t deadline, bool waits, int32_t priority)
{
	const struct tenon_job job = { .size = sizeof(job),
				       .sync = { &s->open, waits, &s->done, 1 },
				       .deadline = deadline,
				       .priority = priority };
	const struct tenon_dispatch d = { .kernel = &kernel,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 } };

	return tenon_queue_launch(s->queue, &d, &job);
}

static void a_job_that_is_done_in_time_signals(void **state)
{
	struct scene s = begin();

	(void)state;
	assert_int_equal(launch(&s, soon(), false, 0), 0);
	assert_int_equal(tenon_timeline_wait(s.t, 1, 0), -TENON_E_TIMEOUT);
	fake_finish(s.queue);
	assert_int_equal(tenon_timeline_wait(s.t, 1, soon()), 0);
	end(&s);
}

static void a_late_job_fails_its_signals_once_and_for_all(void **state)
{
	struct scene s = begin();
	uint64_t value;

	(void)state;
	assert_int_equal(launch(&s, tenon_deadline(20 * MS), false, 0), 0);
	assert_int_equal(tenon_timeline_wait(s.t, 1, soon()), -TENON_E_TIMEOUT);
	assert_error_has("the operation was not done by its deadline");
	/* what comes later changes nothing, and the queue itself has not failed */
	fake_finish(s.queue);
	assert_int_equal(tenon_timeline_value(s.t, &value), -TENON_E_TIMEOUT);
	assert_int_equal(value, 0);
	assert_int_equal(tenon_queue_sync(s.queue, soon()), 0);
	end(&s);
}

static void a_job_that_was_done_before_it_was_looked_at_is_in_time(void **state)
{
	struct scene s = begin();

	(void)state;
	assert_int_equal(launch(&s, 1, false, 0), 0);
	fake_finish(s.queue);
	assert_int_equal(tenon_timeline_wait(s.t, 1, 0), 0);
	end(&s);
}

static void a_wait_may_end_before_the_deadline_of_the_job(void **state)
{
	struct scene s = begin();

	(void)state;
	assert_int_equal(launch(&s, soon(), false, 0), 0);
	assert_int_equal(tenon_timeline_wait(s.t, 1, tenon_deadline(20 * MS)), -TENON_E_TIMEOUT);
	assert_error("the timeline did not reach 1 in time");
	fake_finish(s.queue);
	assert_int_equal(tenon_timeline_wait(s.t, 1, soon()), 0);
	end(&s);
}

static void what_waits_for_a_late_job_does_not_run(void **state)
{
	struct scene s = begin();
	struct tenon_timeline *last;
	struct tenon_point then;
	struct tenon_sync sync = { &s.done, 1, &then, 1 };
	struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &last), 0);
	then = (struct tenon_point){ last, 1 };
	assert_int_equal(tenon_memory_alloc(s.device, &request, &m), 0);
	assert_int_equal(launch(&s, 1, false, 0), 0);
	assert_int_equal(tenon_queue_fill(s.queue, m, 0, 16, 0, 4, &sync), -TENON_E_TIMEOUT);
	assert_int_equal(tenon_timeline_wait(last, 1, soon()), -TENON_E_TIMEOUT);
	assert_int_equal(fake_queue(s.queue)->given, 1);
	tenon_object_unref(m);
	tenon_object_unref(last);
	end(&s);
}

static void a_job_that_still_waits_at_its_deadline_does_not_run(void **state)
{
	struct scene s = begin();

	(void)state;
	assert_int_equal(launch(&s, tenon_deadline(20 * MS), true, 0), 0);
	assert_int_equal(tenon_timeline_wait(s.t, 1, soon()), -TENON_E_TIMEOUT);
	assert_error_has("the operation did not start by its deadline");
	assert_int_equal(tenon_timeline_signal(s.gate, 1), 0);
	assert_int_equal(tenon_queue_sync(s.queue, soon()), -TENON_E_TIMEOUT);
	assert_int_equal(fake_queue(s.queue)->given, 0);
	end(&s);
}

static void an_exported_fence_signals_at_the_deadline(void **state)
{
	struct scene s = begin();
	struct pollfd p = { .fd = -1, .events = POLLIN };
	struct tenon_timeline *there;

	(void)state;
	assert_int_equal(launch(&s, tenon_deadline(50 * MS), false, 0), 0);
	assert_int_equal(tenon_fence_export(&s.done, TENON_FENCE_EVENTFD, &p.fd), 0);
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(tenon_fence_import(TENON_FENCE_EVENTFD, p.fd, &there), 0);
	assert_int_equal(tenon_timeline_wait(there, 1, soon()), -TENON_E_TIMEOUT);
	tenon_object_unref(there);
	close(p.fd);
	end(&s);
}

static void the_backend_sees_the_priority(void **state)
{
	struct scene s = begin();

	(void)state;
	assert_int_equal(launch(&s, 0, false, -3), 0);
	assert_int_equal(fake_queue(s.queue)->last_priority, -3);
	end(&s);
}

/* ---- tensors */

static int run(struct scene *s, DLDevice on, size_t count)
{
	int64_t extent = 16;
	char bytes[16];
	DLTensor t = { .data = bytes,
		       .device = on,
		       .ndim = 1,
		       .dtype = tenon_dtype(TENON_DTYPE_INT, 8, 1),
		       .shape = &extent };
	const DLTensor *tensors[] = { &t, &t };

	return tenon_queue_run(s->queue, &kernel, tensors, count, NULL);
}

static void tensors_are_checked(void **state)
{
	static const DLDevice elsewhere = { kDLCUDA, 0 };
	struct scene s = begin();

	(void)state;
	info.argument_count = 1;
	assert_int_equal(run(&s, elsewhere, 2), -TENON_E_TYPE);
	assert_error("k takes 1 tensors; 2 given");
	assert_int_equal(run(&s, elsewhere, 1), -TENON_E_VALUE);
	assert_error_has("k: argument 0: it lies on cuda:0");
	info.arguments = arguments + 1;
	info.argument_count = 1;
	assert_int_equal(run(&s, elsewhere, 1), -TENON_E_TYPE);
	assert_error_has("scalar");
	info.arguments = arguments;
	info.argument_count = 0;
	end(&s);
}

#define CASE(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(a_job_that_is_done_in_time_signals),
		CASE(a_late_job_fails_its_signals_once_and_for_all),
		CASE(a_job_that_was_done_before_it_was_looked_at_is_in_time),
		CASE(a_wait_may_end_before_the_deadline_of_the_job),
		CASE(what_waits_for_a_late_job_does_not_run),
		CASE(a_job_that_still_waits_at_its_deadline_does_not_run),
		CASE(an_exported_fence_signals_at_the_deadline),
		CASE(the_backend_sees_the_priority),
		CASE(tensors_are_checked),
	};

	return cmocka_run_group_tests(tests, fake_setup, NULL);
}
