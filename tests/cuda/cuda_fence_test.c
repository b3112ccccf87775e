/* SPDX-License-Identifier: MIT */
/* Fences of another API, on the named fake of fake_cuda.h: its opaque fd is an eventfd that a case signals. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/cuda/cuda_rig.h"
#include "tests/device/foreign_fence.h"

#define MS UINT64_C(1000000)

/* enum cu_status */
enum { OUT_OF_MEMORY = 2, INVALID_HANDLE = 400, LAUNCH_FAILED = 719 };

/* A fill behind @wait that moves @done to 1. */
static int fill(struct tenon_queue *queue, struct tenon_memory *m, struct tenon_timeline *wait,
		struct tenon_timeline *done)
{
	const struct tenon_point before = { wait, 1 }, after = { done, 1 };
	const struct tenon_sync sync = { &before, 1, &after, done != NULL };

	return tenon_queue_fill(queue, m, 0, 64, 7, 4, &sync);
}

static void an_opaque_fd_holds_back_all_that_wait_for_it(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	struct tenon_memory *memory_of_other = rig_memory(64);
	struct tenon_timeline *done[2], *there;
	struct tenon_queue *other;
	int fd, i;

	(void)state;
	there = foreign_fence(TENON_FENCE_OPAQUE_FD, &fd);
	assert_int_equal(tenon_queue_create(rig.device, &other), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(tenon_timeline_create(0, &done[i]), 0);
		assert_int_equal(
			fill(i ? other : rig.queue, i ? memory_of_other : m, there, done[i]), 0);
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(tenon_timeline_wait(done[i], 1, tenon_deadline(20 * MS)),
				 -TENON_E_TIMEOUT);
		tenon_error_clear();
	}
	signal_foreign(fd);
	for (i = 0; i < 2; i++) {
		assert_int_equal(tenon_timeline_wait(done[i], 1, rig_soon()), 0);
		tenon_object_unref(done[i]);
	}
	assert_int_equal(tenon_timeline_wait(there, 1, rig_soon()), 0);
	assert_int_equal(rig_word(m, 15), 7);
	assert_int_equal(rig_word(memory_of_other, 15), 7);
	close(fd);
	tenon_object_unref(there);
	tenon_object_unref(other);
	tenon_object_unref(memory_of_other);
	tenon_object_unref(m);
}

static void what_is_no_semaphore_fails_the_operation(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	struct tenon_timeline *there;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(tenon_fence_import(TENON_FENCE_OPAQUE_FD, ends[0], &there), 0);
	assert_int_equal(fill(rig.queue, m, there, NULL), -TENON_E_DEVICE);
	assert_error_has("importing a fence");
	tenon_error_clear();
	close(ends[0]);
	close(ends[1]);
	tenon_object_unref(there);
	tenon_object_unref(m);
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

static void each_call_fails_once(void **state)
{
	static const struct {
		const char *function;
		int result, status;
	} faults[] = {
		{ "cuImportExternalSemaphore", OUT_OF_MEMORY, -TENON_E_NOMEM },
		{ "cuImportExternalSemaphore", INVALID_HANDLE, -TENON_E_DEVICE },
		{ "cuWaitExternalSemaphoresAsync", OUT_OF_MEMORY, -TENON_E_NOMEM },
		{ "cuWaitExternalSemaphoresAsync", LAUNCH_FAILED, -TENON_E_LOST },
	};
	struct tenon_memory *m = rig_memory(64);
	struct tenon_timeline *there;
	int fd, before = descriptors();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		there = foreign_fence(TENON_FENCE_OPAQUE_FD, &fd);
		rig_fail(faults[i].function, 1, faults[i].result);
		assert_int_equal(fill(rig.queue, m, there, NULL), faults[i].status);
		tenon_error_clear();
		signal_foreign(fd);
		close(fd);
		tenon_object_unref(there);
		/* one that a stream could not wait for is kept until the stream has passed */
		if (i < 2)
			assert_int_equal(descriptors(), before);
	}
	tenon_object_unref(m);
}

static void cuda_exports_no_fences_and_takes_no_sync_files(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	struct tenon_point point = { NULL, 1 };
	const struct tenon_sync sync = { NULL, 0, &point, 1 };
	int fd;

	(void)state;
	assert_int_equal(rig.device->properties->fence_imports, 1u << TENON_FENCE_OPAQUE_FD);
	assert_int_equal(rig.device->properties->fence_exports, 0);
	assert_int_equal(tenon_timeline_create(0, &point.timeline), 0);
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 7, 4, &sync), 0);
	assert_int_equal(tenon_fence_export(&point, TENON_FENCE_OPAQUE_FD, &fd),
			 -TENON_E_UNSUPPORTED);
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(tenon_timeline_wait(point.timeline, 1, rig_soon()), 0);
	tenon_object_unref(point.timeline);
	tenon_object_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(an_opaque_fd_holds_back_all_that_wait_for_it),
		RIG_CASE(what_is_no_semaphore_fails_the_operation),
		RIG_CASE(cuda_exports_no_fences_and_takes_no_sync_files),
		RIG_CASE(each_call_fails_once),
	};

	if (rig_start("threads"))
		return 1;
	return cmocka_run_group_tests_name("CUDA fences", tests, NULL, NULL);
}
