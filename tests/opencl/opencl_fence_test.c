/* SPDX-License-Identifier: MIT */
/* Fences of cl_khr_external_semaphore, on the named fake of fake_opencl.h, whose descriptors are eventfds. */
#include "tests/opencl/opencl_rig.h"

#include <dirent.h>
#include <unistd.h>

#include "devices/opencl/opencl_device.h"
#include "runtime/device/device_thread.h"
#include "tests/device/foreign_fence.h"

#define MS   UINT64_C(1000000)
#define BOTH (1u << TENON_FENCE_SYNC_FILE | 1u << TENON_FENCE_OPAQUE_FD)

static struct tenon_memory *memory;

static int setup(void **state)
{
	int err = rig_setup(state);

	if (err)
		return err;
	fake->fences = 1;
	rig_reopen();
	memory = rig_memory(64);
	return 0;
}

static int teardown(void **state)
{
	long complaints = fake->complaints;

	tenon_object_unref(memory);
	if (complaints)
		print_error("%ld complaints about semaphores\n", complaints);
	return rig_teardown(state) || complaints ? -1 : 0;
}

static struct tenon_timeline *timeline(void)
{
	struct tenon_timeline *t;

	assert_int_equal(tenon_timeline_create(0, &t), 0);
	return t;
}

static int fill(struct tenon_queue *on, struct tenon_timeline *wait, struct tenon_timeline *done)
{
	const struct tenon_point before = { wait, 1 }, after = { done, 1 };
	const struct tenon_sync sync = { &before, wait != NULL, &after, done != NULL };

	return tenon_queue_fill(on, memory, 0, 64, 7, 4, &sync);
}

static void holds_back(uint32_t type, long imports)
{
	struct tenon_timeline *done[2], *there;
	struct tenon_queue *other;
	int fd, i;

	there = foreign_fence(type, &fd);
	assert_int_equal(tenon_queue_create(device, &other), 0);
	for (i = 0; i < 2; i++) {
		done[i] = timeline();
		assert_int_equal(fill(i ? other : queue, there, done[i]), 0);
		assert_int_equal(tenon_timeline_wait(done[0], 1, tenon_deadline(10 * MS)),
				 -TENON_E_TIMEOUT);
		tenon_error_clear();
	}
	assert_int_equal(fake->fence_imports, imports);
	signal_foreign(fd);
	for (i = 0; i < 2; i++) {
		assert_int_equal(tenon_timeline_wait(done[i], 1, rig_soon()), 0);
		tenon_object_unref(done[i]);
	}
	assert_int_equal(tenon_timeline_wait(there, 1, rig_soon()), 0);
	close(fd);
	tenon_object_unref(there);
	tenon_object_unref(other);
}

static void an_imported_sync_file_holds_back_each_queue_that_waits(void **state)
{
	(void)state;
	holds_back(TENON_FENCE_SYNC_FILE, 2);
}

static void an_opaque_fd_is_imported_once_and_holds_back_all_that_wait(void **state)
{
	(void)state;
	holds_back(TENON_FENCE_OPAQUE_FD, 1);
}

static void an_exported_fence_signals_when_the_queue_gets_there(void **state)
{
	uint32_t type;

	(void)state;
	for (type = TENON_FENCE_SYNC_FILE; type <= TENON_FENCE_OPAQUE_FD; type++) {
		struct tenon_timeline *done = timeline();
		const struct tenon_point point = { done, 1 };
		int fd;

		fake->slow = 10;
		assert_int_equal(fill(queue, NULL, done), 0);
		assert_int_equal(tenon_fence_export(&point, type, &fd), 0);
		assert_true(becomes_readable(fd, 0));
		close(fd);
		assert_int_equal(tenon_timeline_wait(done, 1, rig_soon()), 0);
		tenon_object_unref(done);
		fake->slow = 0;
	}
	assert_int_equal(fake->fence_exports, 2);
}

/* Let @native wait for a descriptor, as code of the program's own does; the driver owns it then. */
static int hold(ocl_queue native)
{
	const struct opencl_device *d = (struct opencl_device *)device;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), status;
	const uint64_t properties[] = { OCL_SEMAPHORE_TYPE, OCL_SEMAPHORE_BINARY,
					OCL_SEMAPHORE_OPAQUE_FD, (uint64_t)fd, 0 };
	ocl_semaphore semaphore = d->fences.create(d->context, properties, &status);

	assert_non_null(semaphore);
	assert_int_equal(d->fences.wait(native, 1, &semaphore, NULL, 0, NULL, NULL), 0);
	d->fences.release(semaphore);
	return fd;
}

static void what_the_program_puts_on_a_queue_whose_handle_it_was_given_is_waited_for(void **state)
{
	int fd, i;

	(void)state;
	assert_int_equal(tenon_queue_set_current(device, queue), 0);
	/* behind a fill before the handle was given, and after it, and behind nothing else */
	for (i = 0; i < 3; i++) {
		if (i < 2)
			assert_int_equal(fill(queue, NULL, NULL), 0);
		fd = hold(device_thread_stream(device->id));
		assert_int_equal(tenon_queue_sync(queue, tenon_deadline(10 * MS)),
				 -TENON_E_TIMEOUT);
		tenon_error_clear();
		signal_foreign(fd);
		assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	}
	assert_int_equal(tenon_queue_set_current(device, NULL), 0);
}

static void a_platform_without_the_extension_has_no_fences(void **state)
{
	static const char *const needed[] = { "clCreateSemaphoreWithPropertiesKHR",
					      "clReleaseSemaphoreKHR", "clEnqueueWaitSemaphoresKHR",
					      "clEnqueueSignalSemaphoresKHR",
					      "clGetSemaphoreHandleForTypeKHR" };
	size_t i;

	(void)state;
	tenon_object_unref(memory);
	memory = NULL;
	assert_int_equal(device->properties->fence_imports, BOTH);
	assert_int_equal(device->properties->fence_exports, BOTH);
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		fake->lacks = needed[i];
		rig_reopen();
		assert_int_equal(device->properties->fence_imports, 0);
		assert_int_equal(device->properties->fence_exports, 0);
	}
	fake->lacks = NULL;
	fake->fences = 0;
	rig_reopen();
	assert_int_equal(device->properties->fence_imports, 0);
}

/* Import, work, export; the first failure. */
static int program(void)
{
	struct tenon_timeline *done = timeline(), *there;
	const struct tenon_point point = { done, 1 };
	int err, fd, out = -1;

	there = foreign_fence(TENON_FENCE_OPAQUE_FD, &fd);
	err = fill(queue, there, done);
	if (!err)
		err = tenon_fence_export(&point, TENON_FENCE_SYNC_FILE, &out);
	signal_foreign(fd);
	if (!err)
		err = tenon_timeline_wait(done, 1, rig_soon());
	if (out >= 0)
		close(out);
	close(fd);
	tenon_object_unref(there);
	tenon_object_unref(done);
	return err;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void each_call_may_fail(void **state)
{
	static const int statuses[] = { -6, -36 }; /* out of memory; the queue is gone */
	int before = descriptors();
	long at = 0, calls;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < 2; i++) {
		do {
			fake->failure = statuses[i];
			calls = fake->calls;
			fake->fails_at = calls + ++at;
			err = program();
			calls = fake->calls - calls;
			fake->fails_at = 0;
			if (at <= calls && err)
				assert_true(strlen(tenon_error_message()) > 0);
			tenon_error_clear();
			tenon_object_unref(memory);
			rig_reopen();
			assert_int_equal(descriptors(), before);
			memory = rig_memory(64);
		} while (at <= calls);
		assert_int_equal(err, 0);
		assert_true(at > 5);
		at = 0;
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_imported_sync_file_holds_back_each_queue_that_waits),
		CASE(an_opaque_fd_is_imported_once_and_holds_back_all_that_wait),
		CASE(an_exported_fence_signals_when_the_queue_gets_there),
		CASE(what_the_program_puts_on_a_queue_whose_handle_it_was_given_is_waited_for),
		CASE(a_platform_without_the_extension_has_no_fences),
		CASE(each_call_may_fail),
	};

	if (!rig_prepare())
		return 77;
	return cmocka_run_group_tests_name("OpenCL fences", tests, NULL, NULL);
}
