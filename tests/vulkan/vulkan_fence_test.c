/* SPDX-License-Identifier: MIT */
/*
 * Fences of the driver's own, on the named fake of fake_vulkan.h, whose descriptors are eventfds: a case signals
 * and watches them itself.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "devices/vulkan/vulkan_device.h"
#include "runtime/device/device_thread.h"
#include "tests/device/foreign_fence.h"
#include "tests/vulkan/vulkan_rig.h"

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

/* Let @port wait for a descriptor, as code of the program's own does; the driver owns it then. */
static VkSemaphore hold(VkQueue port, int *fd)
{
	const struct vulkan_device *d = vulkan_device_of(rig.device);
	const VkSemaphoreCreateInfo made = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO };
	const VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &(uint64_t){ 0 },
	};
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	VkImportSemaphoreFdInfoKHR from = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
		.flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
	};
	VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &values,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &from.semaphore,
		.pWaitDstStageMask = &stage,
	};

	*fd = from.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(d->api.CreateSemaphore(d->handle, &made, NULL, &from.semaphore), 0);
	assert_int_equal(d->api.ImportSemaphoreFdKHR(d->handle, &from), 0);
	assert_int_equal(d->api.QueueSubmit(port, 1, &submit, VK_NULL_HANDLE), 0);
	return from.semaphore;
}

static void what_the_program_puts_on_a_queue_whose_handle_it_was_given_is_waited_for(void **state)
{
	const struct vulkan_device *d;
	VkSemaphore semaphore;
	uint32_t word = 0, seen;
	int fd, i, early;

	(void)state;
	needs_device();
	d = vulkan_device_of(rig.device);
	assert_int_equal(tenon_queue_set_current(rig.device, rig.queue), 0);
	/* behind a fill before the handle was given, and after it, and behind nothing else */
	for (i = 0; i < 4; i++) {
		if (i < 2)
			assert_int_equal(fill(rig.queue, NULL, NULL, 7), 0);
		semaphore = hold(device_thread_stream(rig.device->id), &fd);
		/* memory that the host sees is not read before the program's work is done */
		if (i == 3)
			assert_int_equal(tenon_queue_read(rig.queue, &word, memory, 0, 4, NULL), 0);
		early = tenon_queue_sync(rig.queue, tenon_deadline(20 * MS));
		/* signal before any assertion: if one fails, closing the device waits for this work */
		seen = word;
		signal_foreign(fd);
		assert_int_equal(early, -TENON_E_TIMEOUT);
		assert_int_equal(seen, 0);
		tenon_error_clear();
		assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
		d->api.DestroySemaphore(d->handle, semaphore, NULL);
	}
	assert_int_equal(word, 7);
	assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
}

static void a_queue_whose_handle_was_given_hands_over_each_operation_at_once(void **state)
{
	struct tenon_timeline *there;
	int before, fd;

	(void)state;
	needs_device();
	assert_int_equal(tenon_queue_set_current(rig.device, rig.queue), 0);
	before = rig.fake->submits;
	assert_int_equal(fill(rig.queue, NULL, NULL, 7), 0);
	assert_int_equal(rig.fake->submits, before);
	assert_non_null(device_thread_stream(rig.device->id));
	assert_int_equal(rig.fake->submits, before + 1);
	assert_int_equal(fill(rig.queue, NULL, NULL, 8), 0);
	assert_int_equal(rig.fake->submits, before + 2);
	/* a wait, too, so that it holds back what the program submits */
	there = foreign_fence(TENON_FENCE_SYNC_FILE, &fd);
	assert_int_equal(fill(rig.queue, there, NULL, 9), 0);
	assert_true(rig.fake->submits >= before + 4);
	signal_foreign(fd);
	rig_expect(&rig, memory, 64, 9, 0);
	assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
	tenon_object_unref(there);
	close(fd);
}

static void a_queue_whose_handle_was_given_is_marked_without_anything_that_may_run_out(void **state)
{
	static const char *const functions[] = { "CreateCommandPool", "AllocateCommandBuffers",
						 "BeginCommandBuffer", "EndCommandBuffer" };
	size_t i;

	(void)state;
	needs_device();
	assert_int_equal(tenon_queue_set_current(rig.device, rig.queue), 0);
	assert_non_null(device_thread_stream(rig.device->id));
	rig.fake->result = VK_ERROR_OUT_OF_HOST_MEMORY;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		rig.fake->failing = functions[i];
		rig.fake->fail_at = 1;
		assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	}
	assert_int_equal(rig.fake->failures, 0);
	rig.fake->failing = NULL;
	assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
}

static void *drop_memory(void *memory)
{
	tenon_object_unref(memory);
	return NULL;
}

static void another_thread_submits_nothing_to_the_handle_when_it_drops_memory(void **state)
{
	struct tenon_memory *dropped;
	struct tenon_timeline *there;
	int submits, live, kept, fd;
	pthread_t thread;

	(void)state;
	needs_device();
	dropped = rig_memory(&rig, 64, 0, 0);
	assert_int_equal(tenon_queue_set_current(rig.device, rig.queue), 0);
	assert_non_null(device_thread_stream(rig.device->id));
	there = foreign_fence(TENON_FENCE_SYNC_FILE, &fd);
	assert_int_equal(fill(rig.queue, there, NULL, 9), 0);
	live = rig.fake->live;
	submits = rig.fake->submits;
	assert_int_equal(pthread_create(&thread, NULL, drop_memory, dropped), 0);
	pthread_join(thread, NULL);
	kept = rig.fake->live;
	signal_foreign(fd);
	assert_int_equal(rig.fake->submits, submits);
	assert_int_equal(kept, live);
	assert_int_equal(tenon_device_sync(rig.device, rig_soon()), 0);
	assert_true(rig.fake->live < live);
	assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
	tenon_object_unref(there);
	close(fd);
}

static void *sync_device(void *result)
{
	*(int *)result = tenon_device_sync(rig.device, rig_soon());
	return NULL;
}

static void another_thread_submits_nothing_to_the_handle_when_it_waits_for_the_device(void **state)
{
	int submits, err = -1;
	pthread_t thread;

	(void)state;
	needs_device();
	assert_int_equal(tenon_queue_set_current(rig.device, rig.queue), 0);
	assert_non_null(device_thread_stream(rig.device->id));
	assert_int_equal(fill(rig.queue, NULL, NULL, 9), 0);
	submits = rig.fake->submits;
	assert_int_equal(pthread_create(&thread, NULL, sync_device, &err), 0);
	pthread_join(thread, NULL);
	assert_int_equal(err, 0);
	assert_int_equal(rig.fake->submits, submits);
	/* the thread of the queue may, and waits for what its code submitted */
	assert_int_equal(tenon_device_sync(rig.device, rig_soon()), 0);
	assert_int_equal(rig.fake->submits, submits + 1);
	assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
}

static void barriers_beside_the_programs_work_are_for_all_of_it(void **state)
{
	int wide;

	(void)state;
	needs_device();
	assert_int_equal(tenon_queue_set_current(rig.device, rig.queue), 0);
	assert_int_equal(fill(rig.queue, NULL, NULL, 7), 0);
	assert_int_equal(rig.fake->wide_barriers, 0);
	/* what was submitted before the handle was given ends with one, too */
	assert_non_null(device_thread_stream(rig.device->id));
	assert_int_equal(rig.fake->wide_barriers, 1);
	rig.fake->narrow_barriers = 0;
	wide = rig.fake->wide_barriers;
	assert_int_equal(fill(rig.queue, NULL, NULL, 8), 0);
	/* before it and behind it */
	assert_int_equal(rig.fake->wide_barriers, wide + 2);
	assert_int_equal(rig.fake->narrow_barriers, 0);
	assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
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

static void give_no_descriptor(enum fake_vulkan_answer what, void *fd)
{
	if (what == FAKE_VULKAN_FD) {
		close(*(int *)fd);
		*(int *)fd = -1;
	}
}

static void a_fence_that_was_reached_has_no_descriptor(void **state)
{
	struct tenon_timeline *done = timeline(), *gate;
	const struct tenon_point point = { done, 1 };
	int in, fd, err;

	(void)state;
	needs_device();
	/* hold it back until the driver was asked: a point that is reached asks no driver */
	gate = foreign_fence(TENON_FENCE_SYNC_FILE, &in);
	assert_int_equal(fill(rig.queue, gate, done, 5), 0);
	rig.fake->says = give_no_descriptor;
	err = tenon_fence_export(&point, TENON_FENCE_OPAQUE_FD, &fd);
	rig.fake->says = NULL;
	signal_foreign(in);
	assert_int_equal(err, -TENON_E_UNSUPPORTED);
	assert_error_has("the fence was reached before it could be exported");
	assert_int_equal(tenon_timeline_wait(done, 1, rig_soon()), 0);
	close(in);
	tenon_object_unref(gate);
	tenon_object_unref(done);
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

/* Give the handle of the case's queue away, with an operation in its batch. */
static int share(void)
{
	int err = fill(rig.queue, NULL, NULL, 4);

	if (!err)
		err = tenon_queue_set_current(rig.device, rig.queue);
	if (!err)
		assert_non_null(device_thread_stream(rig.device->id));
	return err ? err : tenon_device_check(rig.device);
}

/* Import, work, export; the first failure. A submission that fails waits for what was submitted before. */
static int program(bool shared, int *out)
{
	struct tenon_timeline *done = timeline(), *there;
	const struct tenon_point point = { done, 1 };
	pthread_t thread;
	int err, fd;

	*out = -1;
	there = foreign_fence(TENON_FENCE_OPAQUE_FD, &fd);
	assert_int_equal(pthread_create(&thread, NULL, signal_soon, &fd), 0);
	err = shared ? share() : 0;
	if (!err)
		err = fill(rig.queue, there, done, 5);
	if (!err)
		err = tenon_fence_export(&point, TENON_FENCE_SYNC_FILE, out);
	pthread_join(thread, NULL);
	if (shared)
		assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
	if (!err)
		err = tenon_timeline_wait(done, 1, rig_soon());
	close(fd);
	tenon_object_unref(there);
	tenon_object_unref(done);
	return err;
}

static void each_call_of_a_queue_fails_once(int result, bool shared)
{
	static const char *const functions[] = { "CreateSemaphore",   "ImportSemaphoreFdKHR",
						 "GetSemaphoreFdKHR", "QueueSubmit",
						 "CreateCommandPool", "BeginCommandBuffer",
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
			err = program(shared, &out);
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

static void each_call_fails_once(int result)
{
	each_call_of_a_queue_fails_once(result, false);
	each_call_of_a_queue_fails_once(result, true);
}

static void every_call_may_run_out_of_memory(void **state)
{
	(void)state;
	each_call_fails_once(VK_ERROR_OUT_OF_HOST_MEMORY);
}

static void every_call_may_find_the_device_lost(void **state)
{
	(void)state;
	each_call_fails_once(VK_ERROR_DEVICE_LOST);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_imported_sync_file_holds_back_each_queue_that_waits),
		CASE(an_opaque_fd_is_imported_once_and_holds_back_all_that_wait),
		CASE(an_opaque_fd_is_waited_for_on_the_host_once_a_queue_does),
		CASE(an_exported_fence_signals_behind_what_it_stands_for),
		CASE(what_the_program_puts_on_a_queue_whose_handle_it_was_given_is_waited_for),
		CASE(a_queue_whose_handle_was_given_hands_over_each_operation_at_once),
		CASE(a_queue_whose_handle_was_given_is_marked_without_anything_that_may_run_out),
		CASE(another_thread_submits_nothing_to_the_handle_when_it_drops_memory),
		CASE(another_thread_submits_nothing_to_the_handle_when_it_waits_for_the_device),
		CASE(barriers_beside_the_programs_work_are_for_all_of_it),
		CASE(a_driver_without_the_functions_has_no_fences),
		CASE(a_descriptor_that_the_driver_refuses_fails_the_operation),
		CASE(a_fence_that_was_reached_has_no_descriptor),
		CASE(every_call_may_run_out_of_memory),
		CASE(every_call_may_find_the_device_lost),
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests_name("Vulkan fences", tests, NULL, NULL);
}
