/* SPDX-License-Identifier: MIT */
/* Cases about tensors on devices: copies between devices and queues, workspaces, attributes. */
#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>

#include "tests/cts/cts.h"

static const DLDataType int32 = { TENON_DTYPE_INT, 32, 1 };

static struct tenon_tensor *on_device(struct cts *cts, int64_t n)
{
	struct tenon_tensor *t = NULL;

	ok(tenon_tensor_create_on(cts->device->id, &n, 1, int32, &t));
	return t;
}

static struct tenon_tensor *on_host(int64_t n, int32_t first)
{
	struct tenon_tensor *t = NULL;
	int64_t i;

	ok(tenon_tensor_create(&n, 1, int32, &t));
	for (i = 0; i < n; i++)
		((int32_t *)t->dl.data)[i] = first + (int32_t)i;
	return t;
}

static void a_tensor_goes_to_the_device_and_comes_back(struct cts *cts)
{
	struct tenon_tensor *d = on_device(cts, 1000), *e = on_device(cts, 1000);
	struct tenon_tensor *a = on_host(1000, 5), *b = on_host(1000, 0);
	int i;

	assert_int_equal(d->dl.device.device_type, cts->device->id.device_type);
	assert_int_equal(d->dl.device.device_id, cts->device->id.device_id);
	ok(tenon_tensor_copy(&a->dl, &d->dl));
	/* within the device, then back */
	ok(tenon_tensor_copy(&d->dl, &e->dl));
	ok(tenon_tensor_copy(&e->dl, &b->dl));
	for (i = 0; i < 1000; i++)
		assert_int_equal(((int32_t *)b->dl.data)[i], 5 + i);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(d);
	tenon_object_unref(e);
}

static void byte_offsets_of_both_sides_count(struct cts *cts)
{
	struct tenon_tensor *d = on_device(cts, 100), *a = on_host(100, 0), *b = on_host(100, 0);
	int64_t ten = 10;
	DLTensor from = a->dl, to = d->dl;
	int i;

	ok(tenon_tensor_copy(&a->dl, &d->dl));
	from.shape = to.shape = &ten;
	from.strides = to.strides = NULL;
	from.byte_offset = 4 * 50;
	to.byte_offset = 4 * 7;
	ok(tenon_tensor_copy(&from, &to));
	ok(tenon_tensor_copy(&d->dl, &b->dl));
	for (i = 0; i < 100; i++)
		assert_int_equal(((int32_t *)b->dl.data)[i], i >= 7 && i < 17 ? i + 43 : i);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(d);
}

static void a_copy_comes_after_what_other_queues_were_given(struct cts *cts)
{
	struct tenon_tensor *d = on_device(cts, 1 << 18), *b = on_host(1 << 18, 0);
	struct tenon_memory *m, room;
	int i;

	ok(tenon_memory_of_data(cts->device, d->dl.data, &room, &m));
	for (i = 0; i < 20; i++)
		ok(tenon_queue_fill(cts->queue, m, 0, 4 << 18, (uint32_t)i, 4, NULL));
	ok(tenon_tensor_copy(&d->dl, &b->dl));
	assert_int_equal(((int32_t *)b->dl.data)[0], 19);
	assert_int_equal(((int32_t *)b->dl.data)[(1 << 18) - 1], 19);
	tenon_object_unref(b);
	tenon_object_unref(d);
}

/* Two threads at one queue: the sanitizer sees it where the numbers do not. */
static void a_copy_comes_after_what_its_own_queue_holds(struct cts *cts)
{
	struct tenon_tensor *d, *e, *b;
	struct tenon_memory *m, room, *n;
	struct tenon_queue *q;
	uint32_t i, k;

	if (cts->device->id.device_type == kDLCPU && !cts->device->id.device_id)
		cts_skip("tensors of cpu:0 have no queue");
	d = on_device(cts, 1 << 16);
	e = on_device(cts, 1 << 16);
	b = on_host(1 << 16, 0);
	n = cts_memory(cts, 4 << 20, 0);
	ok(tenon_memory_of_data(cts->device, d->dl.data, &room, &m));
	ok(tenon_queue_current(cts->device, &q));
	for (i = 0; i < 6; i++) {
		struct tenon_point go = { NULL, 1 };
		struct tenon_sync s = { &go, 1, NULL, 0 };

		ok(tenon_timeline_create(0, &go.timeline));
		for (k = 0; k < 20; k++)
			ok(tenon_queue_fill(q, m, 0, 4 << 16, 100 * i + k, 4, &s));
		/* something to be ordered behind */
		for (k = 0; k < 4; k++)
			ok(tenon_queue_fill(cts->queue, n, 0, 4 << 20, k, 1, NULL));
		ok(tenon_timeline_signal(go.timeline, 1));
		ok(tenon_tensor_copy(&d->dl, &e->dl));
		ok(tenon_tensor_copy(&e->dl, &b->dl));
		assert_int_equal(((int32_t *)b->dl.data)[(1 << 16) - 1], 100 * i + 19);
		tenon_object_unref(go.timeline);
	}
	tenon_object_unref(n);
	tenon_object_unref(b);
	tenon_object_unref(d);
	tenon_object_unref(e);
}

static void sizes_that_differ_are_refused(struct cts *cts)
{
	struct tenon_tensor *d = on_device(cts, 10), *a = on_host(11, 0);

	fails(tenon_tensor_copy(&a->dl, &d->dl), -TENON_E_VALUE);
	tenon_object_unref(a);
	tenon_object_unref(d);
}

static void a_copy_that_fails_holds_nothing(struct cts *cts)
{
	struct tenon_tensor *d, *a;
	struct tenon_queue *q;
	unsigned int before;
	DLTensor nowhere;

	if (cts->device->id.device_type == kDLCPU && !cts->device->id.device_id)
		cts_skip("tensors of cpu:0 have no queue");
	d = on_device(cts, 10);
	a = on_host(10, 0);
	nowhere = d->dl;
	/* made before they are counted: a thread's queue holds the device too */
	ok(tenon_queue_current(cts->device, &q));
	ok(tenon_device_sync(cts->device, cts_soon()));
	before = strong_count(cts->device);
	nowhere.data = NULL;
	fails(tenon_tensor_copy(&a->dl, &nowhere), -TENON_E_VALUE);
	fails(tenon_tensor_copy(&nowhere, &a->dl), -TENON_E_VALUE);
	assert_int_equal(strong_count(cts->device), before);
	tenon_object_unref(a);
	tenon_object_unref(d);
}

static void a_tensor_goes_from_one_device_to_another(struct cts *cts)
{
	DLDevice null = { (DLDeviceType)TENON_DL_NULL, 0 };
	struct tenon_tensor *d = on_device(cts, 3 << 20), *other = NULL, *a, *b;
	int64_t n = 3 << 20;

	if (tenon_tensor_create_on(null, &n, 1, int32, &other)) {
		tenon_object_unref(d);
		cts_skip("no second device: %s", tenon_error_message());
	}
	a = on_host(n, 9);
	b = on_host(n, 0);
	ok(tenon_tensor_copy(&a->dl, &d->dl));
	ok(tenon_tensor_copy(&d->dl, &other->dl));
	ok(tenon_tensor_copy(&a->dl, &d->dl));
	ok(tenon_tensor_copy(&other->dl, &d->dl));
	ok(tenon_tensor_copy(&d->dl, &b->dl));
	assert_memory_equal(a->dl.data, b->dl.data, (size_t)n * 4);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(d);
	tenon_object_unref(other);
}

static void workspace_comes_from_the_device_and_is_used_again(struct cts *cts)
{
	void *a, *b, *c;

	if (cts->device->id.device_type == kDLCPU)
		cts_skip("workspace of kDLCPU is the processor's own");
	a = tenon_workspace_alloc(cts->device->id, 5000);
	b = tenon_workspace_alloc(cts->device->id, 100);
	if (!a || !b)
		print_error("%s\n", tenon_error_message());
	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
	ok(tenon_workspace_free(cts->device->id, b));
	ok(tenon_workspace_free(cts->device->id, a));
	c = tenon_workspace_alloc(cts->device->id, 5000);
	assert_ptr_equal(a, c);
	ok(tenon_workspace_free(cts->device->id, c));
}

static void attributes_are_answered(struct cts *cts)
{
	struct tenon_value v;
	struct tenon_slice text;
	int kind;

	ok(tenon_device_attribute(cts->device->id, TENON_ATTRIBUTE_EXISTS, &v));
	assert_int_equal(v.type, TENON_TYPE_INT);
	assert_int_equal(v.as.integer, 1);
	ok(tenon_device_attribute(cts->device->id, TENON_ATTRIBUTE_NAME, &v));
	ok(tenon_value_text(&v, &text));
	assert_int_equal(text.size, strlen(cts->device->properties->name));
	tenon_value_release(&v);
	for (kind = 0; kind < 20; kind++) {
		ok(tenon_device_attribute(cts->device->id, kind, &v));
		tenon_value_release(&v);
	}
}

const struct cts_case cts_tensor_cases[] = {
	CTS_CASE(a_tensor_goes_to_the_device_and_comes_back),
	CTS_CASE(byte_offsets_of_both_sides_count),
	CTS_CASE(a_copy_comes_after_what_other_queues_were_given),
	CTS_CASE(a_copy_comes_after_what_its_own_queue_holds),
	CTS_CASE(sizes_that_differ_are_refused),
	CTS_CASE(a_copy_that_fails_holds_nothing),
	CTS_CASE(a_tensor_goes_from_one_device_to_another),
	CTS_CASE(workspace_comes_from_the_device_and_is_used_again),
	CTS_CASE(attributes_are_answered),
	{ NULL, NULL },
};
