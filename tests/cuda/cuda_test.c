/* SPDX-License-Identifier: MIT */
/* What CUDA has beside other devices, on the fake libcuda: what is asked of the driver, and when. */
#include "tests/cuda/cuda_rig.h"

#include <stdlib.h>

#include "driver/cuda/cuda_api.h"
#include "runtime/device/device_thread.h"

/* peek(int *out, map): the word of a tensor map at a place */
#define PEEK(place)                                                                                \
	RIG_PTX("peek", ".param .u64 out, .param .align 64 .b8 map[128]",                          \
		"ld.param.u64 %rd1, [out];\n"                                                      \
		"cvta.to.global.u64 %rd1, %rd1;\n"                                                 \
		"ld.param.u32 %r1, [map+" place "];\n"                                             \
		"st.global.u32 [%rd1], %r1;\n")

static void a_tensor_map_is_copied_at_the_launch(void **state)
{
	static const char text[] = PEEK("124");
	struct tenon_memory *m = rig_memory(64);
	_Alignas(64) uint32_t map[32] = { [31] = 4711 };
	const uint64_t args[] = { m->address, (uintptr_t)map };
	struct tenon_dispatch d = rig_dispatch(rig_kernel(text, "peek", "pm", 0), args);
	struct tenon_commands *c = NULL;

	(void)state;
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	map[31] = 1;
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(rig_word(m, 0), 4711);
	map[31] = 2;
	assert_int_equal(tenon_commands_create(rig.device, &c), 0);
	assert_int_equal(tenon_commands_dispatch(c, &d), 0);
	map[31] = 3;
	assert_int_equal(tenon_commands_finish(c), 0);
	assert_int_equal(tenon_queue_execute(rig.queue, c, NULL, 0, NULL), 0);
	assert_int_equal(rig_word(m, 0), 2);
	tenon_object_unref(c);
	tenon_object_unref(m);
}

static void a_tensor_map_is_copied_when_the_launch_has_to_wait_too(void **state)
{
	static const char text[] = PEEK("0");
	struct tenon_memory *m = rig_memory(64);
	_Alignas(64) uint32_t map[32] = { 4712 };
	const uint64_t args[] = { m->address, (uintptr_t)map };
	struct tenon_dispatch d = rig_dispatch(rig_kernel(text, "peek", "pm", 0), args);
	struct tenon_timeline *t = NULL;
	struct tenon_point wait;
	struct tenon_sync sync;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	wait = (struct tenon_point){ t, 1 };
	sync = (struct tenon_sync){ &wait, 1, NULL, 0 };
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, &sync), 0);
	map[0] = 1;
	assert_int_equal(tenon_timeline_signal(t, 1), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	assert_int_equal(rig_word(m, 0), 4712);
	tenon_object_unref(t);
	tenon_object_unref(m);
}

static void much_shared_memory_is_asked_for_at_the_first_launch(void **state)
{
	static const char text[] = RIG_PTX("last", ".param .u64 out, .param .u32 at",
					   "ld.param.u64 %rd1, [out];\n"
					   "cvta.to.global.u64 %rd1, %rd1;\n"
					   "ld.param.u32 %r1, [at];\n"
					   "mov.u32 %r2, dynamic;\n"
					   "add.s32 %r1, %r1, %r2;\n"
					   "st.shared.u32 [%r1], 99;\n"
					   "ld.shared.u32 %r3, [%r1];\n"
					   "st.global.u32 [%rd1], %r3;\n");
	struct tenon_memory *m = rig_memory(64);
	uint64_t args[] = { m->address, 100000 - 4 };
	struct tenon_dispatch d =
		rig_dispatch(rig_kernel(text, "last", "pi", TENON_KERNEL_SHARED), args);

	(void)state;
	d.shared = 100000;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	assert_int_equal(rig.fake->shared, 100000);
	assert_int_equal(rig_word(m, 0), 99);
	/* once is enough: this would fail if it were asked again */
	rig_fail("cuFuncSetAttribute", 1, CU_INVALID_VALUE);
	d.shared = 200000;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	d.shared = 232449;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), -TENON_E_VALUE);
	assert_error_has("kernel last is launched with 232449 bytes of dynamic shared memory; the "
			 "device has 232448 for it");
	assert_int_equal(rig.fake->fail_at, 1);
	tenon_object_unref(m);
}

static void launch_tags_become_attributes(void **state)
{
	const uint32_t all = TENON_KERNEL_COOPERATIVE | TENON_KERNEL_DEPENDENT |
			     TENON_KERNEL_CLUSTER | TENON_KERNEL_PREFERRED_CLUSTER;
	struct tenon_memory *m = rig_memory(256);
	const uint64_t args[] = { m->address };
	struct tenon_dispatch d = rig_dispatch(rig_kernel(rig_bump, "bump", "p", 0), args);
	const struct fake_cuda *fake = rig.fake;

	(void)state;
	d.grid[0] = 32;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	assert_int_equal(fake->cooperative | fake->programmatic | (int)fake->cluster[0], 0);
	d.kernel = rig_kernel(rig_bump, "bump", "p", all);
	d.cluster[0] = 16;
	d.preferred_cluster[0] = 32;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	assert_int_equal(fake->cooperative, 1);
	assert_int_equal(fake->programmatic, 1);
	assert_int_equal(fake->cluster[0], 16);
	assert_int_equal(fake->cluster[1], 1);
	assert_int_equal(fake->preferred[0], 32);
	d.kernel = rig_kernel(rig_bump, "bump", "p", TENON_KERNEL_DEPENDENT);
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	assert_int_equal(fake->cooperative, 0);
	assert_int_equal(fake->programmatic, 1);
	d.kernel = rig_kernel(rig_bump, "bump", "p", TENON_KERNEL_CLUSTER);
	d.cluster[0] = 5;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), -TENON_E_DEVICE);
	tenon_error_clear();
	tenon_object_unref(m);
}

static void clusters_are_recorded_too(void **state)
{
	struct tenon_memory *m = rig_memory(256);
	const uint64_t args[] = { m->address };
	struct tenon_dispatch d =
		rig_dispatch(rig_kernel(rig_bump, "bump", "p", TENON_KERNEL_CLUSTER), args);
	struct tenon_commands *c = NULL;

	(void)state;
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 256, 0, 4, NULL), 0);
	d.grid[0] = 32;
	d.cluster[0] = 4;
	assert_int_equal(tenon_commands_create(rig.device, &c), 0);
	assert_int_equal(tenon_commands_dispatch(c, &d), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	assert_int_equal(tenon_queue_execute(rig.queue, c, NULL, 0, NULL), 0);
	assert_int_equal(rig_word(m, 31), 1);
	tenon_object_unref(c);
	assert_int_equal(tenon_commands_create(rig.device, &c), 0);
	d.cluster[0] = 5;
	assert_int_equal(tenon_commands_dispatch(c, &d), 0);
	assert_int_equal(tenon_commands_finish(c), -TENON_E_DEVICE);
	tenon_error_clear();
	tenon_object_unref(c);
	tenon_object_unref(m);
}

static struct tenon_commands *bump_a_slot(void)
{
	static const int32_t slots[] = { 0 };
	static const uint64_t args[] = { 0 };
	struct tenon_dispatch d = rig_dispatch(rig_kernel(rig_bump, "bump", "p", 0), args);
	struct tenon_commands *c = NULL;

	d.slots = slots;
	assert_int_equal(tenon_commands_create(rig.device, &c), 0);
	assert_int_equal(tenon_commands_fill(c, tenon_slot(0, 0), 16, 41, 4), 0);
	assert_int_equal(tenon_commands_barrier(c), 0);
	assert_int_equal(tenon_commands_dispatch(c, &d), 0);
	assert_int_equal(tenon_commands_barrier(c), 0);
	assert_int_equal(tenon_commands_copy(c, tenon_slot(1, 0), tenon_slot(0, 0), 16), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	return c;
}

static void other_bindings_change_the_graph_and_not_its_runs(void **state)
{
	struct tenon_memory *m[4];
	struct tenon_commands *c = bump_a_slot();
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		m[i] = rig_memory(64);
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_execute(rig.queue, c, &m[0], 2, NULL), 0);
	assert_int_equal(rig.fake->instantiations, 1);
	assert_int_equal(rig.fake->graph_changes, 0);
	/* the first run has not begun */
	assert_int_equal(tenon_queue_execute(rig.queue, c, &m[2], 2, NULL), 0);
	assert_int_equal(rig.fake->graph_changes, 3);
	assert_int_equal(tenon_queue_execute(rig.queue, c, &m[2], 2, NULL), 0);
	assert_int_equal(rig.fake->graph_changes, 3);
	assert_int_equal(rig.fake->instantiations, 1);
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(rig_word(m[1], 0), 42);
	assert_int_equal(rig_word(m[3], 0), 42);
	assert_int_equal(rig_word(m[3], 1), 41);
	tenon_object_unref(c);
	for (i = 0; i < 4; i++)
		tenon_object_unref(m[i]);
}

static void a_graph_that_does_not_change_is_made_anew(void **state)
{
	struct tenon_memory *m[4];
	struct tenon_commands *c = bump_a_slot();
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		m[i] = rig_memory(64);
	rig.fake->graph_change_fails = 1;
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_execute(rig.queue, c, &m[0], 2, NULL), 0);
	assert_int_equal(tenon_queue_execute(rig.queue, c, &m[2], 2, NULL), 0);
	assert_int_equal(rig.fake->instantiations, 2);
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(rig_word(m[1], 0), 42);
	assert_int_equal(rig_word(m[3], 0), 42);
	tenon_object_unref(c);
	for (i = 0; i < 4; i++)
		tenon_object_unref(m[i]);
}

static void memory_of_a_queue_is_ordered_on_its_stream(void **state)
{
	struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT, -1,
						rig.queue };
	struct tenon_memory *m = NULL, *kept = NULL;
	struct tenon_queue *q = NULL;

	(void)state;
	assert_true(rig.device->properties->flags & TENON_DEVICE_STREAM_ORDERED);
	rig_fail("cuMemAlloc_v2", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	rig.fake->fail_at = 0;
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 4096, 1, 4, NULL), 0);
	/* neither waits nor takes it away from the fill */
	tenon_object_unref(m);
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	/* the stream outlives the queue as long as there is memory of it */
	assert_int_equal(tenon_queue_create(rig.device, &q), 0);
	request.queue = q;
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &kept), 0);
	tenon_object_unref(q);
	tenon_object_unref(kept);
}

static int64_t available(void)
{
	struct tenon_value v;

	assert_int_equal(
		tenon_device_attribute(rig.device->id, TENON_ATTRIBUTE_AVAILABLE_MEMORY, &v), 0);
	return v.as.integer;
}

/* Memory of the queue @first, used by rig.queue behind it, and dropped before that has begun. */
static void drop_while_another_queue_uses_it(struct tenon_queue *first, bool keep)
{
	const struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT,
						      -1, first };
	struct tenon_memory *m = NULL, *n = rig_memory(4096);
	int64_t before = available();

	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	assert_int_equal(tenon_queue_fill(first, m, 0, 4096, 1, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(first, rig_soon()), 0);
	if (!keep)
		tenon_object_unref(first);
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 4096, 7, 4, NULL), 0);
	assert_int_equal(tenon_queue_copy(rig.queue, n, 0, m, 0, 4096, NULL), 0);
	tenon_object_unref(m);
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(rig_word(n, 1023), 7);
	/* what is retired is looked at by whoever waits for the device */
	assert_int_equal(tenon_device_sync(rig.device, rig_soon()), 0);
	if (keep)
		assert_int_equal(tenon_queue_sync(first, rig_soon()), 0);
	assert_int_equal(available(), before);
	tenon_object_unref(n);
}

static void memory_of_a_queue_stays_while_another_uses_it(void **state)
{
	struct tenon_queue *q = NULL;

	(void)state;
	/* the fake moves the younger stream first */
	assert_int_equal(tenon_queue_create(rig.device, &q), 0);
	drop_while_another_queue_uses_it(q, true);
	drop_while_another_queue_uses_it(q, false);
}

static void memory_of_the_only_queue_goes_in_its_order(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT,
						      -1, rig.queue };
	struct tenon_memory *m = NULL;
	struct tenon_queue *q = NULL;
	long live, events;

	(void)state;
	/* one that is gone counts no more */
	assert_int_equal(tenon_queue_create(rig.device, &q), 0);
	tenon_object_unref(q);
	live = rig.fake->live;
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 4096, 1, 4, NULL), 0);
	events = rig.fake->events;
	tenon_object_unref(m);
	assert_int_equal(rig.fake->events, events);
	assert_int_equal(rig.fake->live, live);
}

static void neither_reads_nor_large_writes_wait(void **state)
{
	const size_t size = (5u << 20) + 3;
	struct tenon_memory *m = rig_memory(size);
	uint8_t *from = malloc(size), *to = calloc(1, size);
	size_t i;

	(void)state;
	for (i = 0; i < size; i++)
		from[i] = (uint8_t)(i * 31);
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_write(rig.queue, m, 0, from, size, NULL), 0);
	assert_int_equal(tenon_queue_read(rig.queue, to, m, 0, size, NULL), 0);
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	assert_int_equal(rig.fake->waits, 0);
	assert_memory_equal(from, to, size);
	free(from);
	free(to);
	tenon_object_unref(m);
}

static void pinned_memory_is_copied_by_the_driver(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 1 << 20,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP, -1,
						      NULL };
	struct tenon_memory *m = rig_memory(1 << 20), *host = NULL;

	(void)state;
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &host), 0);
	assert_non_null(host->host);
	assert_int_equal(tenon_queue_write(rig.queue, m, 0, host->host, 1 << 20, NULL), 0);
	assert_int_equal(tenon_queue_read(rig.queue, host->host, m, 0, 1 << 20, NULL), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	assert_int_equal(rig.fake->host_functions, 0);
	assert_int_equal(rig.fake->waits, 0);
	tenon_object_unref(host);
	tenon_object_unref(m);
}

static void the_context_is_switched_when_another_is_current_and_only_then(void **state)
{
	int (*set_current)(cu_context) = NULL;
	struct tenon_memory *m = rig_memory(64);
	long before;

	(void)state;
	*(void **)&set_current = rig_function("cuCtxSetCurrent");
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), 0);
	before = rig.fake->context_switches;
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), 0);
	assert_int_equal(rig.fake->context_switches, before);
	assert_int_equal(set_current(NULL), 0);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 3, 4, NULL), 0);
	assert_int_equal(rig.fake->context_switches, before + 2);
	assert_int_equal(rig_word(m, 0), 3);
	tenon_object_unref(m);
}

static void two_devices_work_side_by_side_in_a_thread(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						      NULL };
	struct tenon_memory *a = rig_memory(64), *b = NULL;
	struct tenon_device *other = NULL;
	struct tenon_queue *q = NULL;
	int32_t word = 0;

	(void)state;
	assert_int_equal(tenon_device_open("cuda:1", &other), 0);
	assert_memory_not_equal(other->properties->uuid, rig.device->properties->uuid, 16);
	assert_int_equal(tenon_queue_create(other, &q), 0);
	assert_int_equal(tenon_memory_alloc(other, &request, &b), 0);
	assert_int_equal(tenon_queue_fill(rig.queue, a, 0, 64, 1, 4, NULL), 0);
	assert_int_equal(tenon_queue_fill(q, b, 0, 64, 2, 4, NULL), 0);
	assert_int_equal(rig_word(a, 0), 1);
	assert_int_equal(tenon_queue_read(q, &word, b, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(q, rig_soon()), 0);
	assert_int_equal(word, 2);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(q);
	tenon_object_unref(other);
}

static void a_stream_of_somebody_elses_is_used_and_left_alone(void **state)
{
	int (*create)(cu_stream *, uint32_t) = NULL, (*destroy)(cu_stream) = NULL;
	struct tenon_memory *m = rig_memory(64);
	struct tenon_queue *q = NULL;
	cu_stream stream = NULL;
	int32_t word = 0;

	(void)state;
	*(void **)&create = rig_function("cuStreamCreate");
	*(void **)&destroy = rig_function("cuStreamDestroy_v2");
	assert_int_equal(create(&stream, 0), 0);
	assert_int_equal(device_thread_set_stream(rig.device->id, stream, NULL), 0);
	assert_ptr_equal(device_thread_stream(rig.device->id), stream);
	assert_int_equal(tenon_queue_current(rig.device, &q), 0);
	assert_ptr_equal(q->native, stream);
	assert_int_equal(tenon_queue_fill(q, m, 0, 64, 8, 4, NULL), 0);
	assert_int_equal(tenon_queue_read(q, &word, m, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(q, rig_soon()), 0);
	assert_int_equal(word, 8);
	assert_int_equal(device_thread_set_stream(rig.device->id, NULL, NULL), 0);
	assert_int_equal(tenon_queue_current(rig.device, &q), 0);
	assert_ptr_not_equal(q->native, stream);
	assert_int_equal(destroy(stream), 0);
	tenon_object_unref(m);
}

static void note(void *context)
{
	__atomic_store_n((int *)context, 1, __ATOMIC_RELEASE);
}

static void what_the_program_puts_on_a_stream_that_it_was_given_is_waited_for(void **state)
{
	int (*call)(cu_stream, void (*)(void *), void *) = NULL;
	int called = 0;

	(void)state;
	*(void **)&call = rig_function("cuLaunchHostFunc");
	assert_int_equal(tenon_queue_set_current(rig.device, rig.queue), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(call(device_thread_stream(rig.device->id), note, &called), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, tenon_deadline(10000000)), -TENON_E_TIMEOUT);
	tenon_error_clear();
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	assert_int_equal(__atomic_load_n(&called, __ATOMIC_ACQUIRE), 1);
	assert_int_equal(tenon_queue_set_current(rig.device, NULL), 0);
}

static void marks_use_their_events_again(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), 0);
		assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	}
	assert_true(rig.fake->events < 5);
	tenon_object_unref(m);
}

static void a_device_says_what_it_is(void **state)
{
	const struct tenon_device_properties *p = rig.device->properties;
	struct tenon_value v;

	(void)state;
	assert_string_equal(p->compute_version, "9.0");
	assert_string_equal(p->architecture, "sm_90");
	assert_int_equal(p->api_version, 12080);
	assert_int_equal(p->max_shared, 49152);
	assert_int_equal(p->pci[1], 0x41);
	assert_int_equal(p->uuid[0], 0x20);
	assert_int_equal(tenon_device_attribute(rig.device->id, TENON_ATTRIBUTE_WARP_SIZE, &v), 0);
	assert_int_equal(v.as.integer, 32);
	assert_int_equal(
		tenon_device_attribute(rig.device->id, TENON_ATTRIBUTE_AVAILABLE_MEMORY, &v), 0);
	assert_true(v.as.integer > 0 && v.as.integer <= 1 << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(a_device_says_what_it_is),
		RIG_CASE(a_tensor_map_is_copied_at_the_launch),
		RIG_CASE(a_tensor_map_is_copied_when_the_launch_has_to_wait_too),
		RIG_CASE(much_shared_memory_is_asked_for_at_the_first_launch),
		RIG_CASE(launch_tags_become_attributes),
		RIG_CASE(clusters_are_recorded_too),
		RIG_CASE(other_bindings_change_the_graph_and_not_its_runs),
		RIG_CASE(a_graph_that_does_not_change_is_made_anew),
		RIG_CASE(memory_of_a_queue_is_ordered_on_its_stream),
		RIG_CASE(memory_of_a_queue_stays_while_another_uses_it),
		RIG_CASE(memory_of_the_only_queue_goes_in_its_order),
		RIG_CASE(neither_reads_nor_large_writes_wait),
		RIG_CASE(pinned_memory_is_copied_by_the_driver),
		RIG_CASE(the_context_is_switched_when_another_is_current_and_only_then),
		RIG_CASE(two_devices_work_side_by_side_in_a_thread),
		RIG_CASE(a_stream_of_somebody_elses_is_used_and_left_alone),
		RIG_CASE(what_the_program_puts_on_a_stream_that_it_was_given_is_waited_for),
		RIG_CASE(marks_use_their_events_again),
	};

	if (rig_start("inline"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
