/* SPDX-License-Identifier: MIT */
/* What not every OpenCL has: recordings in both shapes, dma-bufs, queues of somebody else's. */
#include "tests/opencl/opencl_rig.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/opencl/opencl_api.h"

/* Record a fill, a launch and a copy, run it twice, look at what came out. */
static void record_and_run(bool with_slot, long native)
{
	struct tenon_memory *copy = rig_memory(256);
	struct tenon_commands *c = NULL;
	struct rig_launch l;
	int32_t slots[3] = { -1, with_slot ? 0 : -1, -1 };
	int32_t in[64], out[64];
	int i;

	for (i = 0; i < 64; i++)
		in[i] = i;
	rig_launch(&l);
	l.dispatch.slots = slots;
	assert_int_equal(tenon_queue_write(queue, l.in, 0, in, sizeof(in), NULL), 0);
	assert_int_equal(tenon_commands_create(device, &c), 0);
	assert_int_equal(tenon_commands_fill(c, tenon_range(copy, 0), 256, 0x5a, 1), 0);
	assert_int_equal(tenon_commands_dispatch(c, &l.dispatch), 0);
	assert_int_equal(tenon_commands_barrier(c), 0);
	assert_int_equal(tenon_commands_copy(c, tenon_range(copy, 4), tenon_range(l.out, 0), 128),
			 0);
	assert_int_equal(tenon_commands_copy(c, tenon_range(copy, 0), tenon_range(l.out, 0), 0), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	assert_int_equal(tenon_queue_execute(queue, c, &l.in, with_slot, NULL), 0);
	assert_int_equal(tenon_queue_execute(queue, c, &l.in, with_slot, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, out, copy, 0, 256, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	assert_int_equal(out[0], 0x5a5a5a5a);
	assert_int_equal(out[1], 7);
	assert_int_equal(out[32], 31 + 7);
	assert_int_equal(out[33], 0x5a5a5a5a);
	assert_int_equal(fake->replays, native);
	/* what it holds is dropped before a run is done */
	assert_int_equal(tenon_queue_execute(queue, c, &l.in, with_slot, NULL), 0);
	tenon_object_unref(copy);
	rig_launch_drop(&l);
	tenon_object_unref(c);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
}

static void recordings_are_native_before_and_after_0_9_5(void **state)
{
	(void)state;
	fake->command_buffer = 9;
	rig_reopen();
	record_and_run(false, 2);
	fake->command_buffer = 95;
	fake->replays = 0;
	rig_reopen();
	record_and_run(false, 2);
}

static void recordings_with_slots_or_without_the_extension_are_kept_lists(void **state)
{
	(void)state;
	record_and_run(false, 0);
	fake->command_buffer = 95;
	rig_reopen();
	record_and_run(true, 0);
	fake->lacks = "clCommandFillBufferKHR";
	rig_reopen();
	record_and_run(false, 0);
}

static void a_kernel_recorded_twice_keeps_both_arguments(void **state)
{
	struct tenon_memory *second;
	struct tenon_commands *c = NULL;
	struct rig_launch l;
	int32_t one = 0, two = 0;

	(void)state;
	fake->command_buffer = 9;
	rig_reopen();
	second = rig_memory(256);
	rig_launch(&l);
	assert_int_equal(tenon_queue_fill(queue, l.in, 0, 256, 1, 4, NULL), 0);
	assert_int_equal(tenon_commands_create(device, &c), 0);
	assert_int_equal(tenon_commands_dispatch(c, &l.dispatch), 0);
	l.arguments[0] = (uintptr_t)second;
	l.arguments[2] = 20;
	assert_int_equal(tenon_commands_dispatch(c, &l.dispatch), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	assert_int_equal(tenon_queue_execute(queue, c, NULL, 0, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, &one, l.out, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, &two, second, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	assert_int_equal(one, 8);
	assert_int_equal(two, 21);
	tenon_object_unref(c);
	tenon_object_unref(second);
	rig_launch_drop(&l);
}

static void a_dma_buf_is_imported_and_acquired_where_that_is_offered(void **state)
{
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_DMA_BUF,
					    .fd = 42,
					    .bytes = 4096,
					    .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m = NULL;
	int word = 0;

	(void)state;
	assert_int_equal(tenon_memory_import(device, &from, &m), -TENON_E_UNSUPPORTED);
	assert_error_has("cannot use a dma-buf as its memory");
	fake->dma_buf = 1;
	rig_reopen();
	assert_int_equal(tenon_memory_import(device, &from, &m), 0);
	assert_int_equal(fake->imported_fd, 42);
	assert_int_equal(fake->acquired, 1);
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0x01020304, 4, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, &word, m, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	assert_int_equal(word & 0xff, 4);
	tenon_object_unref(m);
	/* a driver that cannot after all says so */
	fake->alloc_fails_at = 1;
	assert_int_equal(tenon_memory_import(device, &from, &m), -TENON_E_NOMEM);
	assert_error_has("importing 4096 bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
}

static void host_memory_that_is_not_aligned_is_refused(void **state)
{
	static _Alignas(64) char bytes[256];
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_HOST_POINTER,
					    .fd = -1,
					    .pointer = bytes + 4,
					    .bytes = 128,
					    .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m = NULL;

	(void)state;
	assert_int_equal(tenon_memory_import(device, &from, &m), -TENON_E_VALUE);
	assert_error_has("want a multiple of 64");
	from.pointer = bytes + 64;
	assert_int_equal(tenon_memory_import(device, &from, &m), 0);
	tenon_object_unref(m);
}

static void a_part_that_is_not_aligned_is_refused(void **state)
{
	struct tenon_memory *m = rig_memory(256), *part = NULL, *within = NULL;

	(void)state;
	assert_int_equal(tenon_memory_subrange(m, 4, 64, &part), -TENON_E_VALUE);
	assert_error_has("a part of 64 bytes at 4: want at least one byte, at a multiple of 64");
	assert_int_equal(tenon_memory_subrange(m, 64, 192, &part), 0);
	assert_int_equal(tenon_memory_subrange(part, 64, 64, &within), 0);
	assert_int_equal(within->offset, 128);
	assert_ptr_equal(within->parent, m);
	tenon_object_unref(within);
	tenon_object_unref(part);
	tenon_object_unref(m);
}

static void no_memory_is_no_argument(void **state)
{
	struct rig_launch l;

	(void)state;
	rig_launch(&l);
	l.arguments[1] = 0;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), -TENON_E_VALUE);
	assert_error_has("argument 1 of kernel add is no memory");
	l.arguments[1] = (uintptr_t)l.in;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	l.arguments[1] = 0;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), -TENON_E_VALUE);
	rig_launch_drop(&l);
}

static void an_argument_that_was_not_given_is_not_taken_for_given(void **state)
{
	struct rig_launch l;
	int32_t out = 0;

	(void)state;
	rig_launch(&l);
	assert_int_equal(tenon_queue_fill(queue, l.in, 0, 256, 0, 4, NULL), 0);
	fake->fails_at = fake->calls + 1;
	fake->failure = OCL_OUT_OF_RESOURCES;
	l.arguments[2] = 0;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), -TENON_E_DEVICE);
	assert_error_has("setting argument 0 of kernel add: CL_OUT_OF_RESOURCES (-5)");
	l.arguments[2] = UINT64_MAX;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, &out, l.out, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	assert_int_equal(out, -1);
	rig_launch_drop(&l);
}

static void a_queue_of_somebody_elses_is_used_or_refused(void **state)
{
	void *handle = dlopen(getenv("TENON_OPENCL_LIBRARY"), RTLD_NOW);
	ocl_context context = NULL, foreign;
	struct tenon_queue *q = NULL;
	ocl_queue native;
	struct ocl_api cl;
	int word = 5, back = 0;

	(void)state;
	*(void **)&cl.CreateContext = dlsym(handle, "clCreateContext");
	*(void **)&cl.ReleaseContext = dlsym(handle, "clReleaseContext");
	*(void **)&cl.CreateCommandQueue = dlsym(handle, "clCreateCommandQueue");
	*(void **)&cl.ReleaseCommandQueue = dlsym(handle, "clReleaseCommandQueue");
	*(void **)&cl.GetCommandQueueInfo = dlsym(handle, "clGetCommandQueueInfo");
	cl.GetCommandQueueInfo(queue->native, OCL_QUEUE_CONTEXT, sizeof(context), &context, NULL);

	native = cl.CreateCommandQueue(context, NULL, 0, NULL);
	assert_int_equal(device->ops->queue->wrap(device, native, &q), 0);
	cl.ReleaseCommandQueue(native);
	tenon_object_unref(q);

	native = cl.CreateCommandQueue(context, NULL, OCL_QUEUE_OUT_OF_ORDER, NULL);
	assert_int_equal(device->ops->queue->wrap(device, native, &q), -TENON_E_VALUE);
	assert_error_has("want an in-order queue of this device's context");
	cl.ReleaseCommandQueue(native);

	foreign = cl.CreateContext(NULL, 0, NULL, NULL, NULL, NULL);
	native = cl.CreateCommandQueue(foreign, NULL, 0, NULL);
	assert_int_equal(device->ops->queue->wrap(device, native, &q), -TENON_E_VALUE);
	assert_error_has("want an in-order queue of this device's context");
	cl.ReleaseCommandQueue(native);
	cl.ReleaseContext(foreign);
	/* the device is as well as before */
	{
		struct tenon_memory *m = rig_memory(64);

		assert_int_equal(tenon_queue_write(queue, m, 0, &word, 4, NULL), 0);
		assert_int_equal(tenon_queue_read(queue, &back, m, 0, 4, NULL), 0);
		assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
		assert_int_equal(back, 5);
		tenon_object_unref(m);
	}
}

static void *give_up(void *unused)
{
	(void)unused;
	usleep(50000);
	tenon_device_lose(device, tenon_error(-TENON_E_LOST, "the test gave up"));
	tenon_error_clear();
	return NULL;
}

static void a_mapping_that_never_comes_ends_with_the_device(void **state)
{
	struct tenon_memory *m = rig_memory(256);
	pthread_t thread;
	void *at = NULL;

	(void)state;
	fake->hangs = 1;
	assert_int_equal(pthread_create(&thread, NULL, give_up, NULL), 0);
	assert_int_equal(tenon_memory_map(m, TENON_MAP_READ, 0, 64, &at), -TENON_E_LOST);
	assert_error_has("the test gave up");
	pthread_join(thread, NULL);
	tenon_object_unref(m);
}

static void an_unmap_that_fails_loses_the_device(void **state)
{
	struct tenon_memory *m = rig_memory(256);
	void *at = NULL;

	(void)state;
	assert_int_equal(tenon_memory_map(m, TENON_MAP_WRITE, 0, 64, &at), 0);
	fake->fails_at = fake->calls + 1;
	fake->failure = OCL_OUT_OF_RESOURCES;
	tenon_memory_unmap(m, at, TENON_MAP_WRITE, 0, 64);
	assert_int_equal(tenon_device_check(device), -TENON_E_LOST);
	assert_error_has("unmapping 64 bytes: CL_OUT_OF_RESOURCES (-5)");
	tenon_object_unref(m);
}

static void a_device_that_does_not_open_is_not_lost(void **state)
{
	struct tenon_device *d = NULL;

	(void)state;
	fake->queue_fails = 1;
	assert_int_equal(tenon_device_open("opencl://0?options=-DX", &d), -TENON_E_NOMEM);
	assert_error_has("opening the device: CL_OUT_OF_HOST_MEMORY (-6)");
	assert_int_equal(tenon_device_check(device), 0);
}

static void a_child_is_told_that_opencl_is_its_parents(void **state)
{
	pid_t child = fork();
	int status = 0;

	(void)state;
	if (!child) {
		struct tenon_device *d = NULL;
		int err = tenon_device_open("opencl:0", &d);

		_exit(err == -TENON_E_DEVICE && strstr(tenon_error_message(), "before fork()") ? 0
											       : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(recordings_are_native_before_and_after_0_9_5),
		RIG_CASE(recordings_with_slots_or_without_the_extension_are_kept_lists),
		RIG_CASE(a_kernel_recorded_twice_keeps_both_arguments),
		RIG_CASE(a_dma_buf_is_imported_and_acquired_where_that_is_offered),
		RIG_CASE(host_memory_that_is_not_aligned_is_refused),
		RIG_CASE(a_part_that_is_not_aligned_is_refused),
		RIG_CASE(no_memory_is_no_argument),
		RIG_CASE(an_argument_that_was_not_given_is_not_taken_for_given),
		RIG_CASE(a_queue_of_somebody_elses_is_used_or_refused),
		RIG_CASE(a_mapping_that_never_comes_ends_with_the_device),
		RIG_CASE(an_unmap_that_fails_loses_the_device),
		RIG_CASE(a_device_that_does_not_open_is_not_lost),
		RIG_CASE(a_child_is_told_that_opencl_is_its_parents),
	};

	return rig_prepare() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
