/* SPDX-License-Identifier: MIT */
/*
 * Fences of the driver's own, on the named fake of fake_vulkan.h, whose descriptors are eventfds: a case signals
 * and watches them itself.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/device/foreign_fence.h"
#include "tests/vulkan/vulkan_rig.h"

/* VkResult, without the header of Vulkan */
enum { NO_HOST_MEMORY = -1, DEVICE_LOST = -4 };

#define MS UINT64_C(1000000)

static struct rig rig;
static struct tenon_memory *memory;

static int open_it(void **state)
{
	(void)state;
	if (rig_unavailable())
		return 0;
	rig_find(&rig);
	rig.fake->fences = 1;
	if (rig_open(&rig, "vulkan:0"))
		return -1;
	memory = rig_memory(&rig, 64, 0, 0);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	if (rig_unavailable())
		return 0;
	tenon_object_unref(memory);
	return rig_close(&rig);
}

static void needs_device(void)
{
	if (rig_unavailable())
		skip();
}

static struct tenon_timeline *timeline(void)
{
	struct tenon_timeline *t;

	assert_int_equal(tenon_timeline_create(0, &t), 0);
	return t;
}

/* A fill behind @wait that moves @signal to 1; either may be NULL. */
static int fill(struct tenon_queue *queue, struct tenon_timeline *wait,
		struct tenon_timeline *signal, uint32_t pattern)
{
	const struct tenon_point before = { wait, 1 }, after = { signal, 1 };
	const struct tenon_sync sync = { &before, wait != NULL, &after, signal != NULL };

	return tenon_queue_fill(queue, memory, 0, 256, pattern, 4, &sync);
}

static void is_reached(struct tenon_timeline *t)
{
	int err = tenon_timeline_wait(t, 1, rig_soon());

	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
}

static void is_not_reached(struct tenon_timeline *t)
{
	assert_int_equal(tenon_timeline_wait(t, 1, tenon_deadline(20 * MS)), -TENON_E_TIMEOUT);
	tenon_error_clear();
}

static void an_imported_fence_holds_back(uint32_t type, int imports)
{
	struct tenon_timeline *first = timeline(), *second = timeline(), *there;
	struct tenon_queue *other;
	int fd;

	needs_device();
	there = foreign_fence(type, &fd);
	assert_int_equal(tenon_queue_create(rig.device, &other), 0);
	assert_int_equal(fill(rig.queue, there, first, 3), 0);
	assert_int_equal(fill(other, there, second, 3), 0);
	is_not_reached(first);
	is_not_reached(second);
	is_not_reached(there);
	assert_int_equal(rig.fake->imports, imports);
	signal_foreign(fd);
	is_reached(first);
	is_reached(second);
	is_reached(there);
	rig_expect(&rig, memory, 64, 3, 0);
	close(fd);
	tenon_object_unref(other);
	tenon_object_unref(first);
	tenon_object_unref(second);
	tenon_object_unref(there);
}

static void an_imported_sync_file_holds_back_each_queue_that_waits(void **state)
{
	(void)state;
	an_imported_fence_holds_back(TENON_FENCE_SYNC_FILE, 2);
}

/* The fake consumes what it waits for: a second import would never be reached. */
static void an_opaque_fd_is_imported_once_and_holds_back_all_that_wait(void **state)
{
	(void)state;
	an_imported_fence_holds_back(TENON_FENCE_OPAQUE_FD, 1);
}

static void an_opaque_fd_is_waited_for_on_the_host_once_a_queue_does(void **state)
{
	struct tenon_timeline *there;
	struct tenon_wait_result result;
	struct tenon_wait_set *set;
	int fd;

	(void)state;
	needs_device();
	there = foreign_fence(TENON_FENCE_OPAQUE_FD, &fd);
	assert_int_equal(tenon_timeline_wait(there, 1, 0), -TENON_E_UNSUPPORTED);
	assert_int_equal(tenon_wait_set_create(&set), 0);
	assert_int_equal(tenon_wait_set_add(set, &(struct tenon_point){ there, 1 }, &fd),
			 -TENON_E_UNSUPPORTED);
	assert_int_equal(fill(rig.queue, there, NULL, 3), 0);
	assert_int_equal(tenon_wait_set_add(set, &(struct tenon_point){ there, 1 }, &fd), 0);
	assert_false(becomes_readable(tenon_wait_set_fd(set), 10));
	signal_foreign(fd);
	assert_true(becomes_readable(tenon_wait_set_fd(set), 60000));
	assert_int_equal(tenon_wait_set_next(set, &result), 1);
	assert_int_equal(result.status, 0);
	is_reached(there);
	tenon_object_unref(set);
	tenon_object_unref(there);
	close(fd);
}

static void an_exported_fence_signals_behind_what_it_stands_for(void **state)
{
	uint32_t type;

	(void)state;
	needs_device();
	for (type = TENON_FENCE_SYNC_FILE; type <= TENON_FENCE_OPAQUE_FD; type++) {
		struct tenon_timeline *done = timeline(), *gate;
		const struct tenon_point point = { done, 1 };
		int in, out;

		gate = foreign_fence(TENON_FENCE_SYNC_FILE, &in);
		assert_int_equal(fill(rig.queue, gate, done, type), 0);
		assert_int_equal(tenon_fence_export(&point, type, &out), 0);
		assert_int_equal(rig.fake->exports, (int)type);
		assert_false(becomes_readable(out, 20));
		signal_foreign(in);
		assert_true(becomes_readable(out, 60000));
		is_reached(done);
		/* what was reached has nothing that a driver could make a fence of */
		close(out);
		assert_int_equal(tenon_fence_export(&point, type, &out), -TENON_E_UNSUPPORTED);
		assert_int_equal(out, -1);
		tenon_error_clear();
		close(in);
		tenon_object_unref(gate);
		tenon_object_unref(done);
	}
}

static void a_driver_without_the_functions_has_no_fences(void **state)
{
	const uint32_t both = 1u << TENON_FENCE_SYNC_FILE | 1u << TENON_FENCE_OPAQUE_FD;
	struct tenon_device *d;

	(void)state;
	needs_device();
	assert_int_equal(rig.device->properties->fence_exports, both);
	assert_int_equal(rig.device->properties->fence_imports, both);
	rig.fake->missing = "GetSemaphoreFdKHR";
	assert_int_equal(tenon_device_open("vulkan://0?without=host-memory", &d), 0);
	assert_int_equal(d->properties->fence_exports, 0);
	assert_int_equal(d->properties->fence_imports, both);
	tenon_object_unref(d);
	rig.fake->missing = "ImportSemaphoreFdKHR";
	assert_int_equal(tenon_device_open("vulkan://0?without=1.2", &d), 0);
	assert_int_equal(d->properties->fence_exports, both);
	assert_int_equal(d->properties->fence_imports, 0);
	tenon_object_unref(d);
	rig.fake->missing = NULL;
}

static void a_descriptor_that_the_driver_refuses_fails_the_operation(void **state)
{
	struct tenon_timeline *there;
	int ends[2];

	(void)state;
	needs_device();
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(tenon_fence_import(TENON_FENCE_OPAQUE_FD, ends[0], &there), 0);
	assert_int_equal(fill(rig.queue, there, NULL, 1), -TENON_E_DEVICE);
	assert_error_has("vkImportSemaphoreFdKHR");
	tenon_error_clear();
	assert_int_equal(fill(rig.queue, NULL, NULL, 8), 0);
	rig_expect(&rig, memory, 64, 8, 0);
	tenon_object_unref(there);
	close(ends[0]);
	close(ends[1]);
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

static void *signal_soon(void *fd)
{
	usleep(50000);
	signal_foreign(*(int *)fd);
	return NULL;
}

/* Import, work, export; the first failure. A submission that fails waits for what was submitted before. */
static int program(int *out)
{
	struct tenon_timeline *done = timeline(), *there;
	const struct tenon_point point = { done, 1 };
	pthread_t thread;
	int err, fd;

	*out = -1;
	there = foreign_fence(TENON_FENCE_OPAQUE_FD, &fd);
	assert_int_equal(pthread_create(&thread, NULL, signal_soon, &fd), 0);
	err = fill(rig.queue, there, done, 5);
	if (!err)
		err = tenon_fence_export(&point, TENON_FENCE_SYNC_FILE, out);
	pthread_join(thread, NULL);
	if (!err)
		err = tenon_timeline_wait(done, 1, rig_soon());
	close(fd);
	tenon_object_unref(there);
	tenon_object_unref(done);
	return err;
}

static void each_call_fails_once(int result)
{
	static const char *const functions[] = { "CreateSemaphore", "ImportSemaphoreFdKHR",
						 "GetSemaphoreFdKHR", "QueueSubmit",
						 "EndCommandBuffer" };
	int before, at, out, err;
	size_t i;

	needs_device();
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		for (at = 1; at < 10; at++) {
			close_it(NULL);
			before = descriptors();
			assert_int_equal(open_it(NULL), 0);
			rig.fake->failing = functions[i];
			rig.fake->fail_at = at;
			rig.fake->result = result;
			err = program(&out);
			if (out >= 0)
				close(out);
			if (!rig.fake->failures)
				break;
			assert_true(err < 0);
			assert_error_has(functions[i]);
			tenon_object_unref(memory);
			assert_int_equal(rig_close(&rig), 0);
			assert_int_equal(descriptors(), before);
			assert_int_equal(open_it(NULL), 0);
		}
		assert_true(at > 1 && at < 10);
		assert_int_equal(err, 0);
	}
	rig.fake->failing = NULL;
}

static void every_call_may_run_out_of_memory(void **state)
{
	(void)state;
	each_call_fails_once(NO_HOST_MEMORY);
}

static void every_call_may_find_the_device_lost(void **state)
{
	(void)state;
	each_call_fails_once(DEVICE_LOST);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_imported_sync_file_holds_back_each_queue_that_waits),
		CASE(an_opaque_fd_is_imported_once_and_holds_back_all_that_wait),
		CASE(an_opaque_fd_is_waited_for_on_the_host_once_a_queue_does),
		CASE(an_exported_fence_signals_behind_what_it_stands_for),
		CASE(a_driver_without_the_functions_has_no_fences),
		CASE(a_descriptor_that_the_driver_refuses_fails_the_operation),
		CASE(every_call_may_run_out_of_memory),
		CASE(every_call_may_find_the_device_lost),
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests_name("Vulkan fences", tests, NULL, NULL);
}
