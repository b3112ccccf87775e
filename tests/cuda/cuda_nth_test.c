/* SPDX-License-Identifier: MIT */
/*
 * One program that uses all of the CUDA backend, run again and again while the fake lets the first, the second, … call of CUDA fail,
 * until none is left: each time it ends with a reason or with the right result, gives back every object, and asks for nothing that
 * the driver does not define.
 */
#include "tests/cuda/cuda_rig.h"

#include <unistd.h>

#include "driver/cuda/cuda_api.h"

#define BYTES 256

struct scene {
	struct tenon_device *device;
	struct tenon_queue *queue, *other;
	struct tenon_timeline *timeline;
	struct tenon_memory *memory, *again, *host, *shared, *theirs;
	struct tenon_executable *executable;
	struct tenon_commands *commands;
	int32_t first, second;
	uint64_t time;
};

static _Alignas(4096) char page[4096];

static int make_memory(struct scene *s)
{
	const struct tenon_memory_request own = { sizeof(struct tenon_memory_request), BYTES,
						  TENON_MEMORY_DEFAULT, -1, NULL };
	const struct tenon_memory_request mapped = { sizeof(struct tenon_memory_request), BYTES,
						     TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP, -1,
						     NULL };
	const struct tenon_memory_request exported = { sizeof(struct tenon_memory_request), BYTES,
						       TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						       -1, NULL };
	const struct tenon_memory_import pages = { .type = TENON_HANDLE_HOST_POINTER,
						   .fd = -1,
						   .pointer = page,
						   .size = sizeof(pages),
						   .bytes = sizeof(page),
						   .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory_import opaque = { .type = TENON_HANDLE_OPAQUE_FD,
					      .size = sizeof(opaque),
					      .bytes = BYTES,
					      .usage = TENON_MEMORY_DEFAULT };
	int err = tenon_memory_alloc(s->device, &own, &s->memory);

	err = err ? err : tenon_memory_alloc(s->device, &mapped, &s->again);
	err = err ? err : tenon_memory_import(s->device, &pages, &s->host);
	err = err ? err : tenon_memory_alloc(s->device, &exported, &s->shared);
	err = err ? err : tenon_memory_export(s->shared, TENON_HANDLE_OPAQUE_FD, &opaque.fd);
	if (err)
		return err;
	err = tenon_memory_import(s->device, &opaque, &s->theirs);
	close(opaque.fd);
	return err;
}

static int make_things(struct scene *s)
{
	const struct tenon_program *program =
		rig_program("ptx", rig_bump, strlen(rig_bump), "bump", "p", 0);
	int err = tenon_device_open("cuda:0", &s->device);

	err = err ? err : tenon_queue_create(s->device, &s->queue);
	err = err ? err : tenon_queue_create(s->device, &s->other);
	err = err ? err : tenon_timeline_create(0, &s->timeline);
	err = err ? err : make_memory(s);
	return err ? err : tenon_executable_create(s->device, program, NULL, &s->executable);
}

static int record(struct scene *s, const struct tenon_dispatch *dispatch)
{
	int err = tenon_commands_create(s->device, &s->commands);

	err = err ? err : tenon_commands_fill(s->commands, tenon_range(s->again, 0), BYTES, 0, 4);
	err = err ? err : tenon_commands_barrier(s->commands);
	err = err ? err : tenon_commands_dispatch(s->commands, dispatch);
	err = err ? err : tenon_commands_barrier(s->commands);
	err = err ? err
		  : tenon_commands_copy(s->commands, tenon_range(s->again, 0),
					tenon_range(s->memory, 0), BYTES);
	return err ? err : tenon_commands_finish(s->commands);
}

static int run_things(struct scene *s)
{
	const struct tenon_point reached = { s->timeline, 1 };
	const struct tenon_sync signal = { NULL, 0, &reached, 1 }, wait = { &reached, 1, NULL, 0 };
	uint64_t arguments[] = { s->memory->address };
	struct tenon_dispatch dispatch = rig_dispatch(NULL, arguments);
	int err = tenon_executable_kernel(s->executable, 0, &dispatch.kernel);

	err = err ? err : tenon_queue_fill(s->queue, s->memory, 0, BYTES, 41, 4, NULL);
	err = err ? err : tenon_queue_fill(s->queue, s->theirs, 0, BYTES, 7, 1, NULL);
	err = err ? err : tenon_queue_copy(s->queue, s->host, 0, s->shared, 0, BYTES, NULL);
	err = err ? err : tenon_queue_dispatch(s->queue, &dispatch, NULL);
	err = err ? err : tenon_queue_timestamp(s->queue, &s->time, &signal);
	err = err ? err : tenon_queue_read(s->other, &s->first, s->memory, 0, 4, &wait);
	err = err ? err : tenon_queue_sync(s->other, rig_soon());
	err = err ? err : record(s, &dispatch);
	err = err ? err : tenon_queue_execute(s->queue, s->commands, NULL, 0, NULL);
	err = err ? err : tenon_queue_execute(s->queue, s->commands, NULL, 0, NULL);
	err = err ? err : tenon_queue_read(s->queue, &s->second, s->again, 0, 4, NULL);
	err = err ? err : tenon_queue_sync(s->queue, rig_soon());
	return err ? err : tenon_timeline_wait(s->timeline, 1, rig_soon());
}

static void drop_things(struct scene *s)
{
	tenon_object_unref(s->commands);
	tenon_object_unref(s->executable);
	tenon_object_unref(s->theirs);
	tenon_object_unref(s->shared);
	tenon_object_unref(s->host);
	tenon_object_unref(s->again);
	tenon_object_unref(s->memory);
	tenon_object_unref(s->other);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->timeline);
	tenon_object_unref(s->device);
}

/* Run it with the @n-th call failing. Return: whether there are so many */
static bool play(int n, int result)
{
	struct scene s = { 0 };
	bool reached;
	int err;

	rig.fake->result = result;
	rig.fake->any_at = n;
	alarm(20);
	err = make_things(&s);
	err = err ? err : run_things(&s);
	reached = !rig.fake->any_at;
	rig.fake->any_at = 0;
	if (err && !*tenon_error_message())
		fail_msg("call %d: %d without a reason", n, err);
	if (!err && (s.first != 42 || s.second != 44))
		fail_msg("call %d: success with %d and %d", n, s.first, s.second);
	drop_things(&s);
	/* of a context that a fault spoiled nothing can be given back */
	if (result >= CU_ILLEGAL_ADDRESS)
		rig_gives_up();
	/* nothing is left, and the driver had nothing to complain of */
	if (rig_teardown(NULL))
		fail_msg("call %d", n);
	alarm(0);
	return reached;
}

static void play_all(int result)
{
	int n = 0;

	do {
		assert_int_equal(rig_setup(NULL), 0);
		rig_close();
	} while (play(++n, result));
	/* all that the backend does was in it */
	assert_true(n > 80);
	print_message("# %d calls failed, one at a time\n", n - 1);
	assert_int_equal(rig_setup(NULL), 0);
}

static void any_call_that_has_no_memory_ends_with_a_reason(void **state)
{
	(void)state;
	rig_close();
	play_all(CU_OUT_OF_MEMORY);
}

static void any_call_that_fails_ends_with_a_reason(void **state)
{
	(void)state;
	rig_close();
	play_all(CU_INVALID_VALUE);
}

static void any_call_that_finds_the_device_gone_ends_with_a_reason(void **state)
{
	(void)state;
	rig_close();
	play_all(CU_LAUNCH_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(any_call_that_has_no_memory_ends_with_a_reason),
		RIG_CASE(any_call_that_fails_ends_with_a_reason),
		RIG_CASE(any_call_that_finds_the_device_gone_ends_with_a_reason),
	};

	return rig_start("inline") ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
