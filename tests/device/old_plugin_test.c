/* SPDX-License-Identifier: MIT */
/* A plug-in of an older release still works: it has neither the slots nor the properties of fences (tests/device/plugin_old.c). */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>
#include <tenon/fence.h>
#include <unistd.h>

#include "tests/unit/suite.h"

static struct tenon_device *device;
static struct tenon_queue *queue;

static int open_it(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/device", getenv("TENON_BUILD"));
	setenv("TENON_BACKEND_PATH", path, 1);
	if (tenon_device_open("old:0", &device) || tenon_queue_create(device, &queue)) {
		fprintf(stderr, "%s\n", tenon_error_message());
		return -1;
	}
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	tenon_object_unref(queue);
	tenon_object_unref(device);
	tenon_device_close_all();
	return 0;
}

static struct tenon_memory *memory(void)
{
	const struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						      NULL };
	struct tenon_memory *m;

	assert_int_equal(tenon_memory_alloc(device, &request, &m), 0);
	return m;
}

static void slots_that_it_does_not_have_are_null(void **state)
{
	(void)state;
	/* this program sees today's struct; the plug-in's ends before these, and other bytes follow there */
	assert_int_equal(device->ops->queue->size, sizeof(struct tenon_queue_ops));
	assert_null(device->ops->queue->export_fence);
	assert_null(device->ops->queue->import_fence);
	assert_non_null(device->ops->queue->submit);
	assert_int_equal(device->ops->queue->calls, 1);
	assert_null(device->ops->reset);
	assert_null(device->ops->executable->argument);
	assert_int_equal(device->ops->executable->build_flags, 0);
}

static void properties_that_it_does_not_have_are_zero(void **state)
{
	struct tenon_device_properties p;

	(void)state;
	assert_int_equal(device->properties->size, sizeof(struct tenon_device_properties));
	assert_string_equal(device->properties->name, "null device of a plug-in");
	assert_int_equal(device->properties->heap_count, 1);
	assert_int_equal(device->properties->fence_imports, 0);
	assert_int_equal(device->properties->fence_exports, 0);
	memset(&p, 0xff, sizeof(p));
	assert_int_equal(tenon_backend_describe(tenon_backend_of_type(92), 0, &p), 0);
	assert_int_equal(p.heap_count, 1);
	assert_int_equal(p.fence_exports, 0);
}

static void it_fills_copies_and_signals(void **state)
{
	struct tenon_memory *a = memory(), *b = memory();
	struct tenon_point done = { NULL, 1 };
	const struct tenon_sync sync = { NULL, 0, &done, 1 };
	uint32_t back[16];
	struct pollfd p = { .events = POLLIN };

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &done.timeline), 0);
	assert_int_equal(tenon_queue_fill(queue, a, 0, 64, 0x1234, 4, NULL), 0);
	assert_int_equal(tenon_queue_copy(queue, b, 0, a, 0, 64, NULL), 0);
	assert_int_equal(tenon_fence_export(&done, TENON_FENCE_EVENTFD, &p.fd), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(tenon_queue_read(queue, back, b, 0, 64, &sync), 0);
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(back[15], 0x1234);
	close(p.fd);
	assert_int_equal(tenon_fence_export(&done, TENON_FENCE_OPAQUE_FD, &p.fd),
			 -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	tenon_object_unref(done.timeline);
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void it_waits_for_a_fence_on_the_host(void **state)
{
	struct tenon_memory *m = memory();
	struct tenon_point here = { NULL, 1 }, there = { NULL, 1 };
	const struct tenon_sync sync = { &there, 1, NULL, 0 };
	int fd;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &here.timeline), 0);
	assert_int_equal(tenon_fence_export(&here, TENON_FENCE_EVENTFD, &fd), 0);
	assert_int_equal(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &there.timeline), 0);
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 1, 4, &sync), 0);
	assert_int_equal(tenon_queue_sync(queue, 0), -TENON_E_TIMEOUT);
	assert_int_equal(tenon_timeline_signal(here.timeline, 1), 0);
	assert_int_equal(tenon_queue_sync(queue, tenon_deadline(UINT64_C(60000000000))), 0);
	close(fd);
	tenon_error_clear();
	tenon_object_unref(here.timeline);
	tenon_object_unref(there.timeline);
	tenon_object_unref(m);
}

/*
 * A plug-in has the numbers of enums in its code. abidiff does not see them: structs hold them as plain integers. Numbers may be
 * added, and none may change while TENON_PLUGIN_ABI stays.
 */
static void numbers_are_as_they_were(void **state)
{
#define WAS(name, value)                                                                           \
	{                                                                                          \
		name, value, #name                                                                 \
	}
	static const struct {
		uint32_t is, was;
		const char *name;
	} numbers[] = {
		WAS(TENON_PLUGIN_ABI, 3),
		WAS(TENON_CLASS_OTHER, 0),
		WAS(TENON_CLASS_CPU, 1),
		WAS(TENON_CLASS_GPU, 2),
		WAS(TENON_CLASS_INTEGRATED_GPU, 3),
		WAS(TENON_CLASS_ACCELERATOR, 4),
		WAS(TENON_DEVICE_ADDRESSES, 1),
		WAS(TENON_DEVICE_HOST_MEMORY, 2),
		WAS(TENON_DEVICE_STREAM_ORDERED, 4),
		WAS(TENON_DEVICE_INLINE, 8),
		WAS(TENON_HEAP_DEVICE_LOCAL, 1),
		WAS(TENON_HEAP_HOST_VISIBLE, 2),
		WAS(TENON_HEAP_HOST_COHERENT, 4),
		WAS(TENON_HEAP_HOST_CACHED, 8),
		WAS(TENON_BACKEND_FORKS, 1),
		WAS(TENON_HEAPS_MOST, 16),
		WAS(TENON_KERNEL_SHARED, 1),
		WAS(TENON_KERNEL_COOPERATIVE, 2),
		WAS(TENON_KERNEL_DEPENDENT, 4),
		WAS(TENON_KERNEL_CLUSTER, 8),
		WAS(TENON_KERNEL_PREFERRED_CLUSTER, 16),
		WAS(TENON_ARGUMENT_SCALAR, 0),
		WAS(TENON_ARGUMENT_MEMORY, 1),
		WAS(TENON_ARGUMENT_TENSOR_MAP, 2),
		WAS(TENON_TAG_GRID, 0),
		WAS(TENON_TAG_BLOCK, 3),
		WAS(TENON_TAG_CLUSTER, 6),
		WAS(TENON_TAG_PREFERRED_CLUSTER, 9),
		WAS(TENON_TAG_SHARED, 12),
		WAS(TENON_TAG_COUNT, 13),
		WAS(TENON_KERNEL_ARGUMENTS_MOST, 256),
		WAS(TENON_MEMORY_TRANSFER, 1),
		WAS(TENON_MEMORY_STORAGE, 2),
		WAS(TENON_MEMORY_MAP, 4),
		WAS(TENON_MEMORY_HOST_READ, 8),
		WAS(TENON_MEMORY_EXPORT, 16),
		WAS(TENON_HANDLE_HOST_POINTER, 0),
		WAS(TENON_HANDLE_OPAQUE_FD, 1),
		WAS(TENON_HANDLE_DMA_BUF, 2),
		WAS(TENON_MAP_READ, 1),
		WAS(TENON_MAP_WRITE, 2),
		WAS(TENON_MAP_DISCARD, 4),
		WAS(TENON_OP_COPY, 1),
		WAS(TENON_OP_WRITE, 2),
		WAS(TENON_OP_READ, 3),
		WAS(TENON_OP_FILL, 4),
		WAS(TENON_OP_DISPATCH, 5),
		WAS(TENON_OP_EXECUTE, 6),
		WAS(TENON_OP_CALL, 7),
		WAS(TENON_OP_TIMESTAMP, 8),
		WAS(TENON_OP_BARRIER, 9),
	};
#undef WAS
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i].is != numbers[i].was)
			fail_msg("%s is %u, and was %u", numbers[i].name, numbers[i].is,
				 numbers[i].was);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_as_they_were),
		cmocka_unit_test(slots_that_it_does_not_have_are_null),
		cmocka_unit_test(properties_that_it_does_not_have_are_zero),
		cmocka_unit_test(it_fills_copies_and_signals),
		cmocka_unit_test(it_waits_for_a_fence_on_the_host),
	};

	return cmocka_run_group_tests_name("a plug-in of an older release", tests, open_it,
					   close_it);
}
