/* SPDX-License-Identifier: MIT */
/* Cases about recordings: what they repeat, and the memory that each run binds. */
#include <tenon/backend/backend.h>
#include <tenon/backend/commands.h>
#include <tenon/backend/queue.h>
#include <tenon/memory.h>

#include "tests/cts/cts.h"

static struct tenon_commands *recording(struct cts *cts)
{
	struct tenon_commands *c = NULL;

	ok(tenon_commands_create(cts->device, &c));
	return c;
}

static void a_recording_runs_what_was_recorded(struct cts *cts)
{
	struct tenon_memory *a = cts_memory(cts, 256, 0), *b = cts_memory(cts, 256, 0);
	struct tenon_commands *c = recording(cts);
	uint8_t back[256];
	int i;

	ok(tenon_commands_fill(c, tenon_range(a, 0), 256, 0x11, 1));
	ok(tenon_commands_barrier(c));
	ok(tenon_commands_copy(c, tenon_range(b, 100), tenon_range(a, 0), 100));
	ok(tenon_commands_fill(c, tenon_range(b, 0), 100, 0x22, 1));
	ok(tenon_commands_finish(c));
	cts_put(cts, a, 0);
	cts_put(cts, b, 0);
	cts_get(cts, a, 0, back, 1);
	assert_int_equal(back[0], cts_byte(0, 0));
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	cts_get(cts, b, 0, back, 256);
	for (i = 0; i < 256; i++)
		assert_int_equal(back[i], i < 100   ? 0x22
					  : i < 200 ? 0x11
						    : cts_byte((uint64_t)i, 0));
	tenon_object_unref(c);
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void a_recording_repeats_what_a_queue_did(struct cts *cts)
{
	struct tenon_memory *a = cts_memory(cts, 256, 0), *b = cts_memory(cts, 256, 0);
	struct tenon_commands *c = recording(cts), *other = recording(cts);
	uint8_t back[100];
	int run;

	ok(tenon_commands_follow(c, cts->queue));
	fails(tenon_commands_follow(other, cts->queue), -TENON_E_USAGE);
	ok(tenon_queue_fill(cts->queue, a, 0, 256, 0x11, 1, NULL));
	ok(tenon_queue_copy(cts->queue, b, 100, a, 0, 100, NULL));
	ok(tenon_commands_finish(c));
	ok(tenon_queue_fill(cts->queue, a, 0, 1, 0x33, 1, NULL));
	for (run = 0; run < 2; run++) {
		/* the first time what the queue itself did */
		cts_get(cts, b, 100, back, sizeof(back));
		assert_int_equal(back[0], 0x11);
		assert_int_equal(back[99], 0x11);
		cts_put(cts, b, 0);
		ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	}
	/* it followed no further */
	ok(tenon_commands_follow(other, cts->queue));
	tenon_object_unref(other);
	tenon_object_unref(c);
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void what_a_recording_cannot_repeat_is_said_at_its_end(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 256, 0);
	struct tenon_commands *c = recording(cts);
	uint8_t back = 0;

	ok(tenon_commands_follow(c, cts->queue));
	ok(tenon_queue_fill(cts->queue, m, 0, 256, 0x11, 1, NULL));
	ok(tenon_queue_read(cts->queue, &back, m, 7, 1, NULL));
	ok(tenon_queue_fill(cts->queue, m, 0, 256, 0x22, 1, NULL));
	fails(tenon_commands_finish(c), -TENON_E_UNSUPPORTED);
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	assert_int_equal(back, 0x11);
	fails(tenon_queue_execute(cts->queue, c, NULL, 0, NULL), -TENON_E_USAGE);
	tenon_object_unref(c);
	tenon_object_unref(m);
}

static void each_run_binds_its_own_memory(struct cts *cts)
{
	struct tenon_memory *m[4];
	struct tenon_commands *c = recording(cts);
	uint8_t back[128];
	int i, j;

	for (i = 0; i < 4; i++) {
		m[i] = cts_memory(cts, 128, 0);
		cts_put(cts, m[i], (uint8_t)(50 * i));
	}
	ok(tenon_commands_copy(c, tenon_slot(1, 16), tenon_slot(0, 8), 32));
	ok(tenon_commands_fill(c, tenon_slot(1, 0), 16, 0x0f0f0f0f, 4));
	ok(tenon_commands_finish(c));
	assert_int_equal(c->slots, 2);
	ok(tenon_queue_execute(cts->queue, c, &m[0], 2, NULL));
	ok(tenon_queue_execute(cts->queue, c, &m[2], 2, NULL));
	for (i = 1; i < 4; i += 2) {
		cts_get(cts, m[i], 0, back, 128);
		for (j = 0; j < 128; j++)
			assert_int_equal(
				back[j],
				j < 16	 ? 0x0f
				: j < 48 ? cts_byte((uint64_t)j - 8, (uint8_t)(50 * (i - 1)))
					 : cts_byte((uint64_t)j, (uint8_t)(50 * i)));
	}
	for (i = 0; i < 4; i++)
		tenon_object_unref(m[i]);
	tenon_object_unref(c);
}

static void parts_may_be_bound(struct cts *cts)
{
	uint64_t align = cts->device->properties->alignment, at = (256 + align - 1) / align * align;
	struct tenon_memory *whole = cts_memory(cts, 2 * at, 0), *part;
	struct tenon_commands *c = recording(cts);
	uint8_t back[8];

	cts_put(cts, whole, 0);
	ok(tenon_memory_subrange(whole, at, 64, &part));
	ok(tenon_commands_fill(c, tenon_slot(0, 4), 4, 0x55, 1));
	ok(tenon_commands_finish(c));
	ok(tenon_queue_execute(cts->queue, c, &part, 1, NULL));
	cts_get(cts, whole, at, back, 8);
	assert_int_equal(back[3], cts_byte(at + 3, 0));
	assert_int_equal(back[4], 0x55);
	assert_int_equal(back[7], 0x55);
	tenon_object_unref(part);
	tenon_object_unref(whole);
	tenon_object_unref(c);
}

static void a_recorded_kernel_runs_with_the_memory_of_each_run(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "add");
	struct tenon_memory *a = cts_memory(cts, 400, 0), *b = cts_memory(cts, 400, 0);
	struct tenon_memory *out[2] = { cts_memory(cts, 400, 0), cts_memory(cts, 400, 0) };
	const int32_t slots[] = { -1, 1, 0, -1 };
	uint64_t args[] = { cts_argument(a), 0, 0, cts_int(100, 32) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	struct tenon_commands *c = recording(cts);
	int32_t x[100], y[100], back[100];
	int i, run;

	for (i = 0; i < 100; i++) {
		x[i] = i;
		y[i] = 1000 * i;
	}
	cts_set(cts, a, 0, x, 400);
	cts_set(cts, b, 0, y, 400);
	d.grid[0] = 4;
	d.block[0] = 32;
	d.slots = slots;
	ok(tenon_commands_dispatch(c, &d));
	ok(tenon_commands_finish(c));
	/* what was handed in is the caller's again */
	memset(args, 0xff, sizeof(args));
	for (run = 0; run < 2; run++) {
		struct tenon_memory *bindings[] = { out[run], run ? out[0] : b };

		ok(tenon_queue_execute(cts->queue, c, bindings, 2, NULL));
	}
	cts_get(cts, out[1], 0, back, 400);
	for (i = 0; i < 100; i++)
		assert_int_equal(back[i], 1002 * i);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(out[0]);
	tenon_object_unref(out[1]);
	tenon_object_unref(c);
}

static void kernels_with_barriers_between_run_one_after_the_other(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	struct tenon_commands *c = recording(cts);
	int32_t back[16];
	int i;

	d.grid[0] = 16;
	ok(tenon_commands_fill(c, tenon_range(m, 0), 64, 0, 4));
	for (i = 0; i < 20; i++) {
		ok(tenon_commands_barrier(c));
		ok(tenon_commands_dispatch(c, &d));
	}
	ok(tenon_commands_finish(c));
	for (i = 0; i < 10; i++)
		ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, m, 0, back, 64);
	for (i = 0; i < 16; i++)
		assert_int_equal(back[i], 21);
	tenon_object_unref(m);
	tenon_object_unref(c);
}

static void a_recording_tells_the_time_at_each_run(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 1 << 16, 0);
	struct tenon_commands *c = recording(cts);
	struct tenon_operation op = { .kind = TENON_OP_TIMESTAMP };
	uint64_t before = 0, after = 0, first;
	int err;

	err = tenon_queue_timestamp(cts->queue, &before, NULL);
	if (err == -TENON_E_UNSUPPORTED)
		cts_skip("the device has no clock");
	ok(err);
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	first = before;
	op.as.timestamp = &before;
	ok(tenon_commands_record(c, &op));
	ok(tenon_commands_fill(c, tenon_range(m, 0), 1 << 16, 7, 1));
	op.as.timestamp = &after;
	ok(tenon_commands_record(c, &op));
	ok(tenon_commands_finish(c));
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	assert_true(before >= first && after >= before);
	first = after;
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	assert_true(before >= first && after >= before);
	tenon_object_unref(c);
	tenon_object_unref(m);
}

static void a_recording_keeps_what_it_uses(struct cts *cts)
{
	struct tenon_memory *a = cts_memory(cts, 64, 0), *b = cts_memory(cts, 64, 0);
	struct tenon_commands *c = recording(cts);
	uint8_t back;

	cts_put(cts, b, 0);
	ok(tenon_commands_fill(c, tenon_range(a, 0), 64, 0x66, 1));
	ok(tenon_commands_barrier(c));
	ok(tenon_commands_copy(c, tenon_range(b, 0), tenon_range(a, 0), 64));
	ok(tenon_commands_finish(c));
	tenon_object_unref(a);
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	/* and it may go while it runs */
	tenon_object_unref(c);
	cts_get(cts, b, 63, &back, 1);
	assert_int_equal(back, 0x66);
	tenon_object_unref(b);
}

static void a_recording_that_is_not_finished_does_not_run(struct cts *cts)
{
	struct tenon_commands *c = recording(cts);

	fails(tenon_queue_execute(cts->queue, c, NULL, 0, NULL), -TENON_E_USAGE);
	ok(tenon_commands_finish(c));
	fails(tenon_commands_finish(c), -TENON_E_USAGE);
	fails(tenon_commands_barrier(c), -TENON_E_USAGE);
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	tenon_object_unref(c);
}

static void bindings_are_checked(struct cts *cts)
{
	struct tenon_memory *small = cts_memory(cts, 64, 0), *none = NULL;
	struct tenon_commands *c = recording(cts);

	ok(tenon_commands_fill(c, tenon_slot(0, 60), 8, 0, 4));
	ok(tenon_commands_finish(c));
	fails(tenon_queue_execute(cts->queue, c, NULL, 0, NULL), -TENON_E_VALUE);
	fails(tenon_queue_execute(cts->queue, c, &none, 1, NULL), -TENON_E_VALUE);
	fails(tenon_queue_execute(cts->queue, c, &small, 1, NULL), -TENON_E_VALUE);
	tenon_object_unref(c);
	tenon_object_unref(small);
}

static void what_cannot_be_recorded_is_refused(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	struct tenon_operation op = { .kind = TENON_OP_WRITE };
	struct tenon_commands *c = recording(cts);
	uint8_t byte = 0;

	op.as.write.to = tenon_range(m, 0);
	op.as.write.host = &byte;
	op.as.write.size = 1;
	fails(tenon_commands_record(c, &op), -TENON_E_USAGE);
	fails(tenon_commands_fill(c, tenon_range(m, 32), 64, 0, 4), -TENON_E_VALUE);
	fails(tenon_commands_fill(c, tenon_range(m, 0), 64, 0, 3), -TENON_E_VALUE);
	ok(tenon_commands_finish(c));
	tenon_object_unref(c);
	tenon_object_unref(m);
}

/* A run that fails has submitted nothing, so what no run could launch is not recorded. */
static void a_launch_larger_than_the_device_takes_is_not_recorded(struct cts *cts)
{
	const struct tenon_device_properties *p = cts->device->properties;
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	struct tenon_commands *c = recording(cts);
	int32_t back;

	d.block[0] = p->max_block[0] + 1;
	cts_put(cts, m, 0);
	ok(tenon_commands_fill(c, tenon_range(m, 0), 64, 5, 4));
	fails(tenon_commands_dispatch(c, &d), -TENON_E_VALUE);
	d.block[0] = 1;
	d.grid[2] = p->max_grid[2] + 1;
	fails(tenon_commands_dispatch(c, &d), -TENON_E_VALUE);
	assert_error_has("blocks of 1 threads along 2; at most");
	/* the recording is as if they had not been tried */
	d.grid[2] = 1;
	ok(tenon_commands_barrier(c));
	ok(tenon_commands_dispatch(c, &d));
	ok(tenon_commands_finish(c));
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	cts_get(cts, m, 0, &back, 4);
	assert_int_equal(back, 6);
	tenon_object_unref(c);
	tenon_object_unref(m);
}

static void a_run_waits_and_signals(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	struct tenon_commands *c = recording(cts);
	struct tenon_timeline *t;
	struct tenon_point wait, signal;
	struct tenon_sync s = { &wait, 1, &signal, 1 };
	uint8_t back;

	ok(tenon_timeline_create(0, &t));
	wait = (struct tenon_point){ t, 1 };
	signal = (struct tenon_point){ t, 2 };
	cts_put(cts, m, 0);
	ok(tenon_commands_fill(c, tenon_slot(0, 0), 64, 0x77, 1));
	ok(tenon_commands_finish(c));
	ok(tenon_queue_execute(cts->queue, c, &m, 1, &s));
	ok(tenon_timeline_signal(t, 1));
	ok(tenon_timeline_wait(t, 2, cts_soon()));
	cts_get(cts, m, 0, &back, 1);
	assert_int_equal(back, 0x77);
	tenon_object_unref(t);
	tenon_object_unref(c);
	tenon_object_unref(m);
}

static void a_recording_of_a_thousand_launches_runs(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "bump");
	struct tenon_memory *m = cts_memory(cts, 4, 0);
	const uint64_t args[] = { cts_argument(m) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	struct tenon_commands *c = recording(cts);
	int32_t back;
	int i;

	for (i = 0; i < 1000; i++) {
		ok(tenon_commands_dispatch(c, &d));
		ok(tenon_commands_barrier(c));
	}
	ok(tenon_commands_finish(c));
	ok(tenon_queue_fill(cts->queue, m, 0, 4, 0, 4, NULL));
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	cts_get(cts, m, 0, &back, 4);
	assert_int_equal(back, 2000);
	tenon_object_unref(c);
	tenon_object_unref(m);
}

const struct cts_case cts_commands_cases[] = {
	CTS_CASE(a_recording_runs_what_was_recorded),
	CTS_CASE(a_recording_repeats_what_a_queue_did),
	CTS_CASE(what_a_recording_cannot_repeat_is_said_at_its_end),
	CTS_CASE(each_run_binds_its_own_memory),
	CTS_CASE(parts_may_be_bound),
	CTS_CASE(a_recorded_kernel_runs_with_the_memory_of_each_run),
	CTS_CASE(kernels_with_barriers_between_run_one_after_the_other),
	CTS_CASE(a_recording_tells_the_time_at_each_run),
	CTS_CASE(a_recording_keeps_what_it_uses),
	CTS_CASE(a_recording_that_is_not_finished_does_not_run),
	CTS_CASE(bindings_are_checked),
	CTS_CASE(what_cannot_be_recorded_is_refused),
	CTS_CASE(a_launch_larger_than_the_device_takes_is_not_recorded),
	CTS_CASE(a_run_waits_and_signals),
	CTS_CASE(a_recording_of_a_thousand_launches_runs),
	{ NULL, NULL },
};
