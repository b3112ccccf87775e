/* SPDX-License-Identifier: MIT */
/* Copies to and from memory that a processor shares with the host, on the named fake. */
#include "tests/opencl/opencl_rig.h"

#include <stdlib.h>

#include <tenon/backend/queue.h>

static void open_processor(void)
{
	fake->processor = 1;
	fake->version = "OpenCL 3.0 fake";
	rig_reopen();
}

static void a_copy_on_an_idle_queue_is_made_without_a_command(void **state)
{
	struct tenon_timeline *t = NULL;
	struct tenon_memory *m, *part = NULL;
	struct tenon_point one;
	struct tenon_sync signal;
	int word = 41, back = 0;

	(void)state;
	open_processor();
	m = rig_memory(256);
	assert_int_equal(tenon_memory_subrange(m, 64, 64, &part), 0);
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	one = (struct tenon_point){ t, 1 };
	signal = (struct tenon_sync){ NULL, 0, &one, 1 };
	assert_int_equal(tenon_queue_write(queue, part, 4, &word, 4, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, &back, m, 68, 4, &signal), 0);
	assert_int_equal(back, 41);
	assert_int_equal(tenon_queue_sync(queue, 0), 0);
	assert_int_equal(tenon_timeline_wait(t, 1, 0), 0);
	assert_int_equal(fake->commands, 0);
	tenon_object_unref(t);
	tenon_object_unref(part);
	tenon_object_unref(m);
}

static void what_is_written_in_place_is_what_a_launch_reads(void **state)
{
	int in[64], out[64], i;
	struct rig_launch l;
	void *mapped = NULL;

	(void)state;
	open_processor();
	for (i = 0; i < 64; i++)
		in[i] = 3 * i;
	rig_launch(&l);
	assert_int_equal(tenon_queue_write(queue, l.in, 0, in, sizeof(in), NULL), 0);
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	assert_int_equal(tenon_queue_read(queue, out, l.out, 0, sizeof(out), NULL), 0);
	for (i = 0; i < 64; i++)
		assert_int_equal(out[i], 3 * i + 7);
	assert_int_equal(tenon_memory_map(l.out, TENON_MAP_READ, 0, 256, &mapped), 0);
	assert_memory_equal(mapped, out, sizeof(out));
	assert_int_equal(tenon_memory_unmap(l.out, mapped, TENON_MAP_READ, 0, 256), 0);
	rig_launch_drop(&l);
}

static void a_copy_waits_for_what_was_submitted_before(void **state)
{
	long after_write, by_read;
	struct tenon_memory *m;
	int word = 1, synced;

	(void)state;
	open_processor();
	m = rig_memory(64);
	fake->hangs = 1;
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, NULL), 0);
	tenon_queue_write(queue, m, 0, &word, 4, NULL);
	after_write = fake->commands;
	synced = tenon_queue_sync(queue, 0);
	by_read = fake->commands;
	tenon_queue_read(queue, &word, m, 0, 4, NULL);
	by_read = fake->commands - by_read;
	/* what hangs would keep the queue from being closed, also after a failure of this case */
	tenon_device_lose(device, tenon_error(-TENON_E_LOST, "the test gave up"));
	tenon_object_unref(m);
	assert_int_equal(after_write, 2);
	assert_int_equal(synced, -TENON_E_TIMEOUT);
	assert_int_equal(by_read, 1);
}

static void a_copy_after_a_failure_does_not_fail_for_it(void **state)
{
	struct rig_launch l;
	int word = 1;

	(void)state;
	open_processor();
	rig_launch(&l);
	fake->mark_fails_at = 1;
	assert_int_equal(tenon_queue_dispatch(queue, &l.dispatch, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), -TENON_E_DEVICE);
	tenon_error_clear();
	assert_int_equal(tenon_queue_write(queue, l.in, 0, &word, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	rig_launch_drop(&l);
}

static void copies_on_a_queue_of_the_programs_own_are_commands(void **state)
{
	struct tenon_queue *wrapped = NULL;
	struct tenon_memory *m;
	int word = 1;

	(void)state;
	open_processor();
	m = rig_memory(64);
	assert_int_equal(device->ops->queue->wrap(device, queue->native, &wrapped), 0);
	assert_int_equal(tenon_queue_write(wrapped, m, 0, &word, 4, NULL), 0);
	assert_int_equal(fake->commands, 1);
	tenon_object_unref(wrapped);
	tenon_object_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(a_copy_on_an_idle_queue_is_made_without_a_command),
		RIG_CASE(what_is_written_in_place_is_what_a_launch_reads),
		RIG_CASE(a_copy_waits_for_what_was_submitted_before),
		RIG_CASE(a_copy_after_a_failure_does_not_fail_for_it),
		RIG_CASE(copies_on_a_queue_of_the_programs_own_are_commands),
	};

	return rig_prepare() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
