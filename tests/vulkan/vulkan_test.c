/* SPDX-License-Identifier: MIT */
/* Launches, queues, and what the device says of itself. */
#include "tests/vulkan/vulkan_rig.h"

#include <pthread.h>
#include <stdio.h>
#include <tenon/backend/buffer.h>

#include "runtime/device/device_thread.h"

static struct rig *const rig = &rig_now;

static void a_launch_computes_what_its_kernel_says(void **state)
{
	struct tenon_memory *m[3];
	struct rig_kernel k;
	int i;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 3, 0, false);
	m[0] = rig_memory(rig, 256, 7, 0);
	m[1] = rig_memory(rig, 256, 1000, 3);
	m[2] = rig_memory(rig, 256, 5, 4);
	assert_int_equal(rig_launch(rig->queue, &k, 256, m, NULL), 0);
	rig_expect(rig, m[0], 256, 1005, 7);
	for (i = 0; i < 3; i++)
		tenon_object_unref(m[i]);
	rig_drop(&k);
}

/* more scalars than any device has push constants for go in a block */
static void scalars_arrive(bool block, uint32_t count)
{
	struct tenon_memory *m[2];
	struct rig_kernel k;
	uint32_t scalars[40], sum = 0, i;

	rig_sum(rig, &k, 2, count, block);
	m[0] = rig_memory(rig, 100, 0, 0);
	m[1] = rig_memory(rig, 100, 1, 1);
	for (i = 0; i < count - 1; i++)
		sum += scalars[i] = 3 + i * i;
	assert_int_equal(rig_launch(rig->queue, &k, 100, m, scalars), 0);
	rig_expect(rig, m[0], 100, 1 + sum, 1);
	/* other values without a wait in between, and fewer elements: the rest stays */
	scalars[0] += 100;
	assert_int_equal(rig_launch(rig->queue, &k, 100, m, scalars), 0);
	scalars[1] += 1000;
	assert_int_equal(rig_launch(rig->queue, &k, 50, m, scalars), 0);
	rig_expect(rig, m[0], 50, 1 + sum + 1100, 1);
	scalars[1] -= 1000;
	assert_int_equal(rig_launch(rig->queue, &k, 50, m, scalars), 0);
	rig_expect(rig, m[0], 100, 1 + sum + 100, 1);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void scalars_arrive_as_push_constants(void **state)
{
	(void)state;
	rig_needs_device();
	scalars_arrive(false, 3);
}

static void scalars_arrive_in_a_uniform_block(void **state)
{
	(void)state;
	rig_needs_device();
	scalars_arrive(true, 3);
	scalars_arrive(true, 30);
}

static void launches_in_a_row_see_what_came_before(void **state)
{
	const uint32_t one = 1;
	struct tenon_memory *m[2], *swapped[2];
	struct rig_kernel k;
	int i;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 2, false);
	m[0] = swapped[1] = rig_memory(rig, 64, 0, 0);
	m[1] = swapped[0] = rig_memory(rig, 64, 10, 1);
	for (i = 0; i < 700; i++)
		assert_int_equal(rig_launch(rig->queue, &k, 64, i % 2 ? swapped : m, &one), 0);
	rig_expect(rig, m[1], 64, 710, 1);
	rig_expect(rig, m[0], 64, 709, 1);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void launches_are_handed_over_together(void **state)
{
	struct tenon_memory *m[2];
	struct rig_kernel k;
	int i, before;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 0, false);
	m[0] = rig_memory(rig, 64, 0, 0);
	m[1] = rig_memory(rig, 64, 10, 1);
	before = rig->fake->submits;
	for (i = 0; i < 100; i++)
		assert_int_equal(rig_launch(rig->queue, &k, 64, m, NULL), 0);
	assert_int_equal(rig->fake->submits, before);
	rig_sync();
	assert_int_equal(rig->fake->submits, before + 1);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void a_device_is_named_by_its_number_and_its_name_and_its_uuid(void **state)
{
	char uri[96] = "vulkan://uuid:";
	const struct tenon_device_properties *p;
	struct tenon_device *same;
	char *to = uri + strlen(uri);
	size_t i;

	bool alone;

	rig_needs_device();
	/* options make a device of its own */
	alone = strchr(*state, '?');
	p = rig->device->properties;
	for (i = 0; i < sizeof(p->uuid); i++)
		to += sprintf(to, "%02x", p->uuid[i]);
	assert_int_equal(tenon_device_open(uri, &same), 0);
	assert_true((same == rig->device) == !alone);
	tenon_object_unref(same);
	snprintf(uri, sizeof(uri), "vulkan://%.8s", p->name);
	assert_int_equal(tenon_device_open(uri, &same), 0);
	assert_true((same == rig->device) == !alone);
	tenon_object_unref(same);
	assert_int_equal(tenon_device_open("vulkan:99", &same), -TENON_E_DEVICE);
	assert_error_has("99");
	tenon_error_clear();
}

static void one_queue_waits_for_another_on_the_device(void **state)
{
	const uint32_t one = 1;
	struct tenon_memory *m[2], *swapped[2];
	struct tenon_timeline *t;
	struct tenon_queue *second;
	struct rig_kernel k;
	struct tenon_point p;
	struct tenon_sync wait = { &p, 1, NULL, 0 }, signal = { NULL, 0, &p, 1 };
	int i;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 2, false);
	assert_int_equal(tenon_queue_create(rig->device, &second), 0);
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	m[0] = swapped[1] = rig_memory(rig, 64, 0, 0);
	m[1] = swapped[0] = rig_memory(rig, 64, 10, 1);
	p.timeline = t;
	for (i = 0; i < 50; i++) {
		struct tenon_queue *a = i % 2 ? second : rig->queue,
				   *b = i % 2 ? rig->queue : second;

		p.value = (uint64_t)i + 1;
		assert_int_equal(rig_launch(a, &k, 64, i % 2 ? swapped : m, &one), 0);
		assert_int_equal(tenon_queue_join(a, &signal), 0);
		assert_int_equal(tenon_queue_join(b, &wait), 0);
	}
	/* the one that was waited for goes while it is waited for */
	tenon_object_unref(second);
	rig_expect(rig, m[1], 64, 60, 1);
	tenon_object_unref(t);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

/* tags of arguments came with 0.20; programs have had a length in front since 0.24 */
enum form { TVM_0_19, TVM_0_23, TVM_0_24, FORMS };

static void write_payload(struct tenon_buffer *b, const struct rig_kernel *k, enum form form)
{
	uint32_t i;

	tenon_buffer_string(b, tenon_slice_of("vulkan"));
	tenon_buffer_u64(b, 1);
	tenon_buffer_string(b, k->info.name);
	tenon_buffer_string(b, tenon_slice_of(""));
	tenon_buffer_u64(b, k->info.argument_count);
	for (i = 0; i < k->info.argument_count; i++)
		tenon_buffer_append(b, &k->arguments[i].type, sizeof(DLDataType));
	tenon_buffer_u64(b, 2);
	tenon_buffer_string(b, tenon_slice_of("blockIdx.x"));
	tenon_buffer_string(b, tenon_slice_of("threadIdx.x"));
	if (form >= TVM_0_23)
		tenon_buffer_u64(b, 0);
	tenon_buffer_u64(b, 1);
	tenon_buffer_string(b, k->info.name);
	if (form >= TVM_0_24)
		tenon_buffer_u64(b, 12 + k->info.code.size);
	tenon_buffer_append(b, &k->info.code_flags, 4);
	tenon_buffer_u64(b, k->info.code.size / 4);
	tenon_buffer_append(b, k->info.code.data, k->info.code.size);
}

static void a_payload_is_loaded_and_called(enum form form, bool block)
{
	const struct spirv_sum sum = { "sum", 2, 3, block, 0 };
	struct tenon_buffer payload = TENON_BUFFER_INIT;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *function = NULL;
	struct tenon_module *module;
	struct tenon_memory *m[2];
	struct rig_kernel k;
	int err;

	rig_describe(&k, &sum);
	write_payload(&payload, &k, form);
	assert_int_equal(payload.status, 0);
	m[0] = rig_memory(rig, 64, 0, 0);
	m[1] = rig_memory(rig, 64, 7, 1);
	assert_int_equal(device_thread_choose(rig->device->id), 0);
	err = tenon_module_load_bytes("vulkan", (struct tenon_slice){ payload.data, payload.size },
				      &module);
	if (!err)
		err = tenon_module_get_function(module, "sum", &function);
	if (!err)
		err = tenon_call(function, &ret, tenon_arg_pointer(m[0]), tenon_arg_pointer(m[1]),
				 tenon_arg_int(64), tenon_arg_int(100), tenon_arg_int(1000),
				 tenon_arg_int(1), tenon_arg_int(64));
	if (!err)
		err = tenon_device_sync(rig->device, rig_soon());
	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
	rig_expect(rig, m[0], 64, 1107, 1);
	tenon_object_unref(function);
	tenon_object_unref(module);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	tenon_buffer_fini(&payload);
}

static void payloads_of_all_generations_are_loaded_and_called(void **state)
{
	int form;

	(void)state;
	rig_needs_device();
	for (form = 0; form < FORMS; form++) {
		a_payload_is_loaded_and_called(form, false);
		a_payload_is_loaded_and_called(form, true);
	}
}

/* drivers may still look at a semaphore whose value was already seen */
static void queues_come_and_go(void **state)
{
	struct tenon_memory *m;
	struct tenon_queue *q;
	uint32_t back, i;

	(void)state;
	rig_needs_device();
	m = rig_memory(rig, 64, 0, 0);
	for (i = 0; i < 300; i++) {
		assert_int_equal(tenon_queue_create(rig->device, &q), 0);
		assert_int_equal(tenon_queue_fill(q, m, 0, 256, i, 4, NULL), 0);
		assert_int_equal(tenon_queue_read(q, &back, m, 0, 4, NULL), 0);
		assert_int_equal(tenon_queue_sync(q, rig_soon()), 0);
		assert_int_equal(back, i);
		tenon_object_unref(q);
	}
	tenon_object_unref(m);
}

static void timestamps_grow_along_a_queue(void **state)
{
	uint64_t stamps[40] = { 0 };
	struct tenon_memory *m;
	int i;

	(void)state;
	rig_needs_device();
	if (!rig->device->properties->timestamp_period)
		skip();
	m = rig_memory(rig, 100000, 0, 0);
	for (i = 0; i < 40; i++) {
		assert_int_equal(tenon_queue_timestamp(rig->queue, &stamps[i], NULL), 0);
		assert_int_equal(tenon_queue_fill(rig->queue, m, 0, 400000, 0, 4, NULL), 0);
	}
	rig_sync();
	assert_true(stamps[0] > 0);
	for (i = 1; i < 40; i++)
		assert_true(stamps[i] >= stamps[i - 1]);
	assert_true(stamps[39] > stamps[0] && stamps[39] - stamps[0] < 10000000000u);
	tenon_object_unref(m);
}

struct worker {
	pthread_t thread;
	const struct rig_kernel *kernel;
	struct tenon_memory *m[2];
	int failed;
};

/* each has its own queue; the kernel is everybody's */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct tenon_memory *swapped[2] = { w->m[1], w->m[0] };
	const uint32_t one = 1;
	struct tenon_queue *q;
	int i;

	w->failed = tenon_queue_current(rig->device, &q);
	for (i = 0; i < 200 && !w->failed; i++) {
		w->failed = rig_launch(q, w->kernel, 64, i % 2 ? swapped : w->m, &one);
		if (!w->failed && i % 50 == 49)
			w->failed = tenon_queue_sync(q, rig_soon());
	}
	return NULL;
}

static void threads_launch_one_kernel_on_queues_of_their_own(void **state)
{
	struct worker workers[4];
	struct rig_kernel k;
	uint32_t i;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 2, false);
	for (i = 0; i < 4; i++) {
		workers[i].kernel = &k;
		workers[i].m[0] = rig_memory(rig, 64, 0, 0);
		workers[i].m[1] = rig_memory(rig, 64, 1000 * i, 1);
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].failed, 0);
		rig_expect(rig, workers[i].m[1], 64, 1000 * i + 200, 1);
		tenon_object_unref(workers[i].m[0]);
		tenon_object_unref(workers[i].m[1]);
	}
	rig_drop(&k);
}

static void nothing_is_made_once_it_is_warm(void **state)
{
	struct tenon_memory *m[2][2];
	struct rig_kernel k;
	uint32_t scalars[30] = { 0 };
	int i, live = 0, round;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 30, true);
	for (i = 0; i < 2; i++) {
		m[i][0] = rig_memory(rig, 64, 0, 0);
		m[i][1] = rig_memory(rig, 64, 10, 1);
	}
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 200; i++) {
			scalars[5] = (uint32_t)i;
			assert_int_equal(rig_launch(rig->queue, &k, 64, m[i % 2], scalars), 0);
		}
		rig_sync();
		if (round == 3)
			live = rig->fake->live;
	}
	assert_int_equal(rig->fake->live, live);
	for (i = 0; i < 2; i++) {
		tenon_object_unref(m[i][0]);
		tenon_object_unref(m[i][1]);
	}
	rig_drop(&k);
}

static void properties_say_what_the_device_is(void **state)
{
	const struct tenon_device_properties *p;
	uint64_t free_bytes;

	(void)state;
	rig_needs_device();
	p = rig->device->properties;
	assert_true(p->name[0] && p->driver[0]);
	assert_true(p->max_threads >= 128 && p->max_block[0] >= 128 && p->max_grid[0] >= 65535);
	assert_true(p->max_shared >= 16384 && p->warp_size >= 1 && p->queues >= 1);
	assert_true(p->total_memory > 0 && p->max_allocation >= 1 << 26 && p->heap_count >= 1);
	assert_int_equal(p->alignment & (p->alignment - 1), 0);
	assert_int_equal(rig->device->ops->available_memory(rig->device, &free_bytes), 0);
	assert_true(free_bytes > 0);
	assert_non_null(rig->device->ops->native(rig->device));
	assert_int_equal(rig->device->id.device_type, kDLVulkan);
}

static void what_a_launch_cannot_take_is_refused(void **state)
{
	struct tenon_memory *m[2] = { NULL, NULL };
	uint64_t arguments[RIG_ARGUMENTS];
	struct tenon_dispatch d;
	struct tenon_operation op;
	struct rig_kernel k;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 0, false);
	m[0] = rig_memory(rig, 64, 0, 0);
	assert_int_not_equal(rig_launch(rig->queue, &k, 64, m, NULL), 0);
	tenon_error_clear();
	m[1] = rig_memory(rig, 64, 3, 0);
	op = rig_operation(&d, &k, 64, m, NULL, arguments);
	d.grid[1] = UINT32_MAX;
	assert_int_equal(tenon_queue_submit(rig->queue, &op, NULL), -TENON_E_VALUE);
	assert_error_has("sum: grid of 1 x 4294967295 x 1");
	/* and the queue goes on */
	assert_int_equal(rig_launch(rig->queue, &k, 64, m, NULL), 0);
	rig_expect(rig, m[0], 64, 3, 0);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void a_kernel_of_many_buffers_works(void **state)
{
	struct tenon_memory *m[40];
	struct rig_kernel k;
	uint32_t i, n = 30;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, n, 3, true);
	for (i = 0; i < n; i++)
		m[i] = rig_memory(rig, 64, i, 1);
	assert_int_equal(rig_launch(rig->queue, &k, 64, m, (const uint32_t[]){ 1000, 2000 }), 0);
	rig_expect(rig, m[0], 64, 3000 + n * (n - 1) / 2, n - 1);
	for (i = 0; i < n; i++)
		tenon_object_unref(m[i]);
	rig_drop(&k);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		RIG_CASE(properties_say_what_the_device_is),
		RIG_CASE(a_launch_computes_what_its_kernel_says),
		RIG_CASE(scalars_arrive_as_push_constants),
		RIG_CASE(scalars_arrive_in_a_uniform_block),
		RIG_CASE(launches_in_a_row_see_what_came_before),
		RIG_CASE(launches_are_handed_over_together),
		RIG_CASE(a_device_is_named_by_its_number_and_its_name_and_its_uuid),
		RIG_CASE(one_queue_waits_for_another_on_the_device),
		RIG_CASE(payloads_of_all_generations_are_loaded_and_called),
		RIG_CASE(queues_come_and_go),
		RIG_CASE(timestamps_grow_along_a_queue),
		RIG_CASE(threads_launch_one_kernel_on_queues_of_their_own),
		RIG_CASE(nothing_is_made_once_it_is_warm),
		RIG_CASE(what_a_launch_cannot_take_is_refused),
		RIG_CASE(a_kernel_of_many_buffers_works),
	};

	return rig_group("Vulkan", cases, sizeof(cases) / sizeof(cases[0]));
}
