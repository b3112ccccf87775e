/* SPDX-License-Identifier: MIT */
/* A plug-in that knows neither the slots nor the properties of fences (tests/device/plugin_old.c). */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
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
	/* this program sees today's struct, the plug-in filled one that ends before these two */
	assert_int_equal(device->ops->queue->size, sizeof(struct tenon_queue_ops));
	assert_null(device->ops->queue->export_fence);
	assert_null(device->ops->queue->import_fence);
	assert_non_null(device->ops->queue->submit);
	assert_int_equal(device->ops->queue->calls, 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_that_it_does_not_have_are_null),
		cmocka_unit_test(properties_that_it_does_not_have_are_zero),
		cmocka_unit_test(it_fills_copies_and_signals),
		cmocka_unit_test(it_waits_for_a_fence_on_the_host),
	};

	return cmocka_run_group_tests_name("a plug-in of older headers", tests, open_it, close_it);
}
