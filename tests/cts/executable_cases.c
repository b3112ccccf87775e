/* SPDX-License-Identifier: MIT */
/* Cases about executables: kernels that compute, their grids, blocks and shared memory. */
#include <tenon/backend/backend.h>
#include <tenon/backend/executable.h>

#include "tests/cts/cts.h"

static void a_kernel_computes(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "add");
	struct tenon_memory *a = cts_memory(cts, 4000, 0), *b = cts_memory(cts, 4000, 0);
	struct tenon_memory *out = cts_memory(cts, 4000, 0);
	const uint64_t args[] = { cts_argument(a), cts_argument(b), cts_argument(out),
				  cts_int(999, 32) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t x[1000], y[1000], back[1000];
	int i;

	for (i = 0; i < 1000; i++) {
		x[i] = 3 * i;
		y[i] = -i;
		back[i] = -7;
	}
	cts_set(cts, a, 0, x, 4000);
	cts_set(cts, b, 0, y, 4000);
	cts_set(cts, out, 0, back, 4000);
	d.grid[0] = 32;
	d.block[0] = 32;
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, out, 0, back, 4000);
	for (i = 0; i < 999; i++)
		assert_int_equal(back[i], 2 * i);
	assert_int_equal(back[999], -7);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(out);
}

static void a_kernel_sees_what_came_before_it_on_the_queue(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m = cts_memory(cts, 32, 0), *n = cts_memory(cts, 32, 0);
	uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t back[8];
	int i;

	d.grid[0] = 8;
	ok(tenon_queue_fill(cts->queue, m, 0, 32, 100, 4, NULL));
	for (i = 0; i < 100; i++)
		ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	ok(tenon_queue_copy(cts->queue, n, 0, m, 0, 32, NULL));
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	/* another argument to the same kernel, while earlier launches are on their way */
	args[0] = cts_argument(n);
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, m, 0, back, 32);
	assert_int_equal(back[0], 201);
	cts_get(cts, n, 0, back, 32);
	assert_int_equal(back[7], 201);
	tenon_object_unref(m);
	tenon_object_unref(n);
}

/* A device that its own executable kept would never close. */
static void an_executable_dropped_while_it_runs_holds_no_device(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m = cts_memory(cts, 8 << 20, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d;
	struct tenon_executable *e;
	unsigned int before;
	int32_t back;
	size_t i;

	/* what earlier cases dropped goes now, and holds nothing any more when that is counted */
	ok(tenon_device_sync(cts->device, cts_soon()));
	before = strong_count(cts->device);
	for (i = 0; &cts->program->kernels[i] != k->info; i++)
		;
	ok(tenon_executable_create(cts->device, cts->program, NULL, &e));
	ok(tenon_executable_kernel(e, i, &k));
	d = cts_dispatch(k, args);
	for (i = 0; i < 8; i++)
		ok(tenon_queue_fill(cts->queue, m, 0, 8 << 20, 6, 4, NULL));
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	tenon_object_unref(e);
	assert_true(strong_count(cts->device) <= before);
	cts_get(cts, m, 0, &back, 4);
	assert_int_equal(back, 7);
	tenon_object_unref(m);
}

static void a_part_may_be_an_argument(struct cts *cts)
{
	uint64_t align = cts->device->properties->alignment, at = (256 + align - 1) / align * align;
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *whole = cts_memory(cts, 2 * at, 0), *part;
	uint64_t args[1];
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t back[2];

	ok(tenon_queue_fill(cts->queue, whole, 0, 2 * at, 5, 4, NULL));
	ok(tenon_memory_subrange(whole, at, 64, &part));
	args[0] = cts_argument(part);
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, whole, at, back, 8);
	assert_int_equal(back[0], 6);
	assert_int_equal(back[1], 5);
	cts_get(cts, whole, 0, back, 8);
	assert_int_equal(back[0], 5);
	tenon_object_unref(part);
	tenon_object_unref(whole);
}

static void the_grid_has_three_dimensions(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "where");
	struct tenon_memory *m = cts_memory(cts, 4 * 5 * 4 * 3, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t back[60];
	int x, y, z;

	assert_int_equal(k->info->dimensions, 3);
	d.grid[0] = 5;
	d.grid[1] = 4;
	d.grid[2] = 3;
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, m, 0, back, sizeof(back));
	for (z = 0; z < 3; z++)
		for (y = 0; y < 4; y++)
			for (x = 0; x < 5; x++)
				assert_int_equal(back[(z * 4 + y) * 5 + x], x + 10 * y + 100 * z);
	tenon_object_unref(m);
}

static void a_block_has_several_dimensions(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "threads");
	struct tenon_memory *m = cts_memory(cts, 4 * 8 * 6, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t back[48];
	int b, x, y;

	d.grid[0] = 6;
	d.block[0] = 4;
	d.block[1] = 2;
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, m, 0, back, sizeof(back));
	for (b = 0; b < 6; b++)
		for (y = 0; y < 2; y++)
			for (x = 0; x < 4; x++)
				assert_int_equal(back[b * 8 + y * 4 + x], 1000 * b + 10 * y + x);
	tenon_object_unref(m);
}

static void blocks_share_dynamic_memory(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "reverse");
	struct tenon_memory *m = cts_memory(cts, 4 * 64, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t data[64];
	int i;

	assert_true(k->info->flags & TENON_KERNEL_SHARED);
	for (i = 0; i < 64; i++)
		data[i] = i;
	cts_set(cts, m, 0, data, sizeof(data));
	d.grid[0] = 4;
	d.block[0] = 16;
	d.shared = 64;
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, m, 0, data, sizeof(data));
	for (i = 0; i < 64; i++)
		assert_int_equal(data[i], i / 16 * 16 + 15 - i % 16);
	tenon_object_unref(m);
}

static void an_extent_of_zero_is_refused_below_packed_calls(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);

	d.grid[1] = 0;
	fails(tenon_queue_dispatch(cts->queue, &d, NULL), -TENON_E_VALUE);
	tenon_object_unref(m);
}

static void a_launch_keeps_its_place_behind_what_waits_and_signals(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m = cts_memory(cts, 4, 0);
	const uint64_t args[] = { cts_argument(m) };
	const struct tenon_dispatch d = cts_dispatch(k, args);
	struct tenon_point go = { NULL, 1 }, done = { NULL, 1 };
	const struct tenon_sync waits = { .wait = &go, .wait_count = 1 };
	const struct tenon_sync signals = { .signal = &done, .signal_count = 1 };
	int32_t value = 0;

	ok(tenon_timeline_create(0, &go.timeline));
	ok(tenon_timeline_create(0, &done.timeline));
	ok(tenon_queue_fill(cts->queue, m, 0, 4, 40, 4, &waits));
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	ok(tenon_queue_dispatch(cts->queue, &d, &signals));
	fails(tenon_timeline_wait(done.timeline, 1, 0), -TENON_E_TIMEOUT);
	ok(tenon_timeline_signal(go.timeline, 1));
	ok(tenon_timeline_wait(done.timeline, 1, cts_soon()));
	cts_get(cts, m, 0, &value, sizeof(value));
	assert_int_equal(value, 42);
	/* nothing is held back any more */
	done.value = 2;
	ok(tenon_queue_dispatch(cts->queue, &d, &signals));
	ok(tenon_timeline_wait(done.timeline, 2, cts_soon()));
	tenon_object_unref(go.timeline);
	tenon_object_unref(done.timeline);
	tenon_object_unref(m);
}

static void a_kernel_is_compiled_once(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "add");

	assert_ptr_equal(cts_kernel(cts, "add"), k);
	assert_ptr_equal(k->executable, cts->executable);
	assert_int_equal(k->info->argument_count, 4);
	assert_int_equal(k->info->memory_count, 3);
	assert_int_equal(k->info->scalar_count, 1);
}

static void a_kernel_that_the_table_does_not_have_is_not_found(struct cts *cts)
{
	struct tenon_kernel *k;

	if (!cts->executable)
		cts_skip("the device runs no kernels");
	fails(tenon_executable_kernel(cts->executable, 10000, &k), -TENON_E_NOT_FOUND);
	assert_null(k);
}

static void a_program_of_another_format_is_refused(struct cts *cts)
{
	struct tenon_program program = *cts->program;
	struct tenon_executable *e;

	if (!cts->executable)
		cts_skip("the device runs no kernels");
	program.format = tenon_slice_of("punched cards");
	fails(tenon_executable_create(cts->device, &program, NULL, &e), -TENON_E_UNSUPPORTED);
	assert_null(e);
	assert_error_has("punched cards");
}

static void a_program_that_does_not_compile_says_why_and_leaves_the_device_well(struct cts *cts)
{
	static const struct tenon_kernel_info info = { .name = { "broken", 6 }, .dimensions = 1 };
	static const char text[] = "// Function: broken\nthis is no program of any device {{{\n";
	struct tenon_kernel_info broken = info;
	struct tenon_program program = { .kernels = &broken,
					 .kernel_count = 1,
					 .label = "broken.so" };
	struct tenon_executable *e = NULL;
	struct tenon_kernel *k = NULL;
	int err;

	if (!cts->executable)
		cts_skip("the device runs no kernels");
	program.kind = cts->program->kind;
	program.format = cts->program->format;
	program.code = (struct tenon_slice){ text, sizeof(text) - 1 };
	broken.code = (struct tenon_slice){ text, (sizeof(text) - 1) / 4 * 4 };
	err = tenon_executable_create(cts->device, &program, NULL, &e);
	if (!err)
		err = tenon_executable_kernel(e, 0, &k);
	assert_true(err < 0);
	assert_null(k);
	assert_error_has("broken.so");
	tenon_object_unref(e);
	a_kernel_computes(cts);
}

const struct cts_case cts_executable_cases[] = {
	CTS_CASE(a_kernel_computes),
	CTS_CASE(a_kernel_sees_what_came_before_it_on_the_queue),
	CTS_CASE(a_part_may_be_an_argument),
	CTS_CASE(an_executable_dropped_while_it_runs_holds_no_device),
	CTS_CASE(the_grid_has_three_dimensions),
	CTS_CASE(a_block_has_several_dimensions),
	CTS_CASE(blocks_share_dynamic_memory),
	CTS_CASE(an_extent_of_zero_is_refused_below_packed_calls),
	CTS_CASE(a_launch_keeps_its_place_behind_what_waits_and_signals),
	CTS_CASE(a_kernel_is_compiled_once),
	CTS_CASE(a_kernel_that_the_table_does_not_have_is_not_found),
	CTS_CASE(a_program_of_another_format_is_refused),
	CTS_CASE(a_program_that_does_not_compile_says_why_and_leaves_the_device_well),
	{ NULL, NULL },
};
