/* SPDX-License-Identifier: MIT */
/* What happens when a device goes away, and how work goes on. These come last. */
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/backend/backend.h>
#include <tenon/probe.h>
#include <tenon/tensor.h>

#include "tests/cts/cts.h"

/* The suite goes on with a fresh device. */
static void reopen(struct cts *cts)
{
	struct tenon_device *fresh = NULL;

	tenon_object_unref(cts->queue);
	cts->queue = NULL;
	ok(tenon_device_reopen(cts->device, &fresh));
	assert_ptr_not_equal(fresh, cts->device);
	assert_int_equal(fresh->id.device_type, cts->device->id.device_type);
	assert_int_equal(fresh->id.device_id, cts->device->id.device_id);
	tenon_object_unref(cts->executable);
	cts->executable = NULL;
	tenon_object_unref(cts->device);
	cts->device = fresh;
	if (fresh->ops->executable)
		ok(tenon_executable_create(fresh, cts->program, NULL, &cts->executable));
	ok(tenon_queue_create(fresh, &cts->queue));
}

static void lose(struct cts *cts)
{
	tenon_error(-TENON_E_DEVICE, "somebody pulled the plug");
	fails(tenon_device_lose(cts->device, -TENON_E_DEVICE), -TENON_E_LOST);
	tenon_error_clear();
}

static void a_lost_device_says_so_and_why(struct cts *cts)
{
	struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m = cts_memory(cts, 64, 0), *n;
	struct tenon_timeline *t;
	struct tenon_point signal;
	struct tenon_sync s = { NULL, 0, &signal, 1 };
	struct tenon_queue *q;

	ok(tenon_timeline_create(0, &t));
	signal = (struct tenon_point){ t, 1 };
	lose(cts);
	fails(tenon_device_check(cts->device), -TENON_E_LOST);
	assert_error_has("somebody pulled the plug");
	fails(tenon_memory_alloc(cts->device, &request, &n), -TENON_E_LOST);
	fails(tenon_queue_create(cts->device, &q), -TENON_E_LOST);
	fails(tenon_queue_fill(cts->queue, m, 0, 64, 0, 4, &s), -TENON_E_LOST);
	assert_error_has("somebody pulled the plug");
	/* whoever waits for what will never come learns why */
	fails(tenon_timeline_wait(t, 1, TENON_FOREVER), -TENON_E_LOST);
	assert_error_has("somebody pulled the plug");
	tenon_object_unref(t);
	tenon_object_unref(m);
	reopen(cts);
	m = cts_memory(cts, 64, 0);
	cts_put(cts, m, 0);
	tenon_object_unref(m);
}

static void what_waits_on_the_host_ends_with_the_device(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	struct tenon_timeline *never, *t;
	struct tenon_point wait, signal;
	struct tenon_sync s = { &wait, 1, &signal, 1 };

	ok(tenon_timeline_create(0, &never));
	ok(tenon_timeline_create(0, &t));
	wait = (struct tenon_point){ never, 1 };
	signal = (struct tenon_point){ t, 1 };
	ok(tenon_queue_fill(cts->queue, m, 0, 64, 0, 4, &s));
	lose(cts);
	fails(tenon_timeline_wait(t, 1, cts_soon()), -TENON_E_LOST);
	tenon_object_unref(m);
	tenon_object_unref(never);
	tenon_object_unref(t);
	reopen(cts);
}

static void kernels_run_again_on_a_reopened_device(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m;
	uint64_t args[1];
	struct tenon_dispatch d;
	int32_t back = 0;

	lose(cts);
	reopen(cts);
	k = cts_kernel(cts, "bump");
	m = cts_memory(cts, 64, 0);
	args[0] = cts_argument(m);
	d = cts_dispatch(k, args);
	ok(tenon_queue_fill(cts->queue, m, 0, 64, 41, 4, NULL));
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, m, 0, &back, 4);
	assert_int_equal(back, 42);
	tenon_object_unref(m);
}

static void a_child_is_told_that_the_device_is_its_parents(struct cts *cts)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(tenon_device_check(cts->device) == -TENON_E_LOST ? 0 : 1);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ok(tenon_device_check(cts->device));
}

/* What a child does with what it inherited; the line where that went wrong. */
static int inherit(struct cts *cts, struct tenon_memory *m, struct tenon_timeline *t)
{
	uint8_t byte;

	if (tenon_queue_read(cts->queue, &byte, m, 0, 1, NULL) != -TENON_E_LOST)
		return __LINE__;
	if (!message_has("opened by the parent process"))
		return __LINE__;
	if (tenon_queue_sync(cts->queue, TENON_FOREVER) != -TENON_E_LOST)
		return __LINE__;
	if (tenon_timeline_wait(t, 1, tenon_deadline(1000)) == 0)
		return __LINE__;
	/* all of it may go, as at the end of a program, and no thread of a driver is waited for */
	tenon_object_unref(m);
	tenon_object_unref(cts->queue);
	tenon_object_unref(cts->executable);
	tenon_object_unref(cts->device);
	tenon_device_close_all();
	return 0;
}

static void a_child_drops_what_its_parent_goes_on_with(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	struct tenon_timeline *t;
	struct tenon_point never, signal;
	struct tenon_sync s = { &never, 1, &signal, 1 };
	struct tenon_queue *q;
	uint8_t back = 0;
	pid_t child;
	int status;

	ok(tenon_timeline_create(0, &t));
	ok(tenon_timeline_create(0, &never.timeline));
	never.value = 1;
	signal = (struct tenon_point){ t, 1 };
	ok(tenon_queue_current(cts->device, &q));
	cts_put(cts, m, 6);
	/* a thread of the parent's waits to submit this */
	ok(tenon_queue_fill(cts->queue, m, 0, 4096, 0x44, 1, &s));
	child = fork();
	if (!child) {
		alarm(120);
		_exit(inherit(cts, m, t) & 0xff);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ok(tenon_timeline_signal(never.timeline, 1));
	ok(tenon_timeline_wait(t, 1, cts_soon()));
	cts_get(cts, m, 4095, &back, 1);
	assert_int_equal(back, 0x44);
	tenon_object_unref(never.timeline);
	tenon_object_unref(t);
	tenon_object_unref(m);
}

/* What a child finds that opens the device anew; the line where that went wrong. */
static int open_anew(bool forks)
{
	struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_device *d;
	struct tenon_queue *q;
	struct tenon_memory *m;
	uint8_t byte = 0;
	int err = tenon_device_open(cts_backend.uri, &d);

	if (!forks)
		return err == -TENON_E_DEVICE && message_has("before fork()") ? 0 : __LINE__;
	if (err || tenon_queue_create(d, &q) || tenon_memory_alloc(d, &request, &m))
		return __LINE__;
	if (tenon_queue_fill(q, m, 0, 4096, 0x29, 1, NULL) ||
	    tenon_queue_read(q, &byte, m, 4095, 1, NULL) || tenon_queue_sync(q, cts_soon()))
		return __LINE__;
	tenon_object_unref(m);
	tenon_object_unref(q);
	tenon_object_unref(d);
	return byte == 0x29 ? 0 : __LINE__;
}

/* A driver's threads stay behind: whoever used it there would wait for ever. */
static void a_child_that_opens_the_device_anew_has_it_or_hears_why_not(struct cts *cts)
{
	bool forks = cts->device->backend->flags & TENON_BACKEND_FORKS;
	pid_t child;
	int status;

#ifdef __SANITIZE_THREAD__
	if (forks)
		cts_skip("a child makes no threads under the sanitizer of threads");
#endif
	child = fork();
	if (!child) {
		alarm(120);
		_exit(open_anew(forks) & 0xff);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ok(tenon_device_check(cts->device));
}

const struct cts_case cts_loss_cases[] = {
	CTS_CASE(a_child_is_told_that_the_device_is_its_parents),
	CTS_CASE(a_child_drops_what_its_parent_goes_on_with),
	CTS_CASE(a_child_that_opens_the_device_anew_has_it_or_hears_why_not),
	CTS_CASE(a_lost_device_says_so_and_why),
	CTS_CASE(what_waits_on_the_host_ends_with_the_device),
	CTS_CASE(kernels_run_again_on_a_reopened_device),
	{ NULL, NULL },
};
