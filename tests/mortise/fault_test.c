/* SPDX-License-Identifier: MIT */
/* What boards do to a host. Each fault ends in bounded time and is named; a device that is opened anew works. */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/uapi/mortise_order.h>

#include "lib/clock.h"
#include "tests/mortise/mortise_rig.h"

static struct tenon_module *kernels;

static int setup(void **unused)
{
	char path[4096];

	(void)unused;
	snprintf(path, sizeof(path), "%s/device/tests/mortise/kernels.mortise",
		 getenv("TENON_BUILD"));
	if (bench_register())
		return -1;
	return tenon_module_load(path, &kernels);
}

static int teardown(void **unused)
{
	(void)unused;
	tenon_object_unref(kernels);
	tenon_device_close_all();
	return 0;
}

static void call(struct bench *b, const char *name, const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)b;
	ok(tenon_module_get_function(kernels, name, &f));
	assert_non_null(f);
	ok(tenon_function_call(f, args, count, &ret));
	tenon_object_unref(f);
}

/* ---- cases */

static void a_kernel_that_fails_is_a_job_fault(void **unused)
{
	const struct tenon_value args[] = { tenon_arg_int(77) };
	struct bench b;
	int err;

	(void)unused;
	start(&b, "mortise:0");
	call(&b, "fail", args, 1);
	err = tenon_device_sync(b.device, tenon_deadline(60 * SECOND));
	assert_int_equal(err, -TENON_E_LOST);
	assert_true(message_has("job fault"));
	assert_true(message_has("detail 0x4d"));
	assert_true(message_has("firmware"));
	assert_true(message_has("heartbeat"));
	assert_true(message_has("call at"));
	tenon_error_clear();
	is_lost(&b, "job fault");
	reopen(&b);
	end(&b);
}

static void an_address_outside_is_bad_input(void **unused)
{
	struct mortise_copy p = {
		.header.opcode = MORTISE_OP_COPY, .to = 64, .from = 64, .size = 64
	};
	struct bench b;
	uint64_t sequence;

	(void)unused;
	start(&b, "mortise:0");
	pthread_mutex_lock(&b.mortise->lock);
	ok(mortise_emit(b.mortise, &p, sizeof(p), &sequence));
	pthread_mutex_unlock(&b.mortise->lock);
	is_lost(&b, "bad input");
	reopen(&b);
	end(&b);
}

static void an_ended_simulator_has_crashed(void **unused)
{
	struct bench b;

	(void)unused;
	start(&b, "mortise:0");
	ok(board_inject(b.mortise->board, BOARD_KILL));
	is_lost(&b, "remote crashed");
	reopen(&b);
	end(&b);
}

static void a_wait_ends_at_its_deadline_and_the_work_goes_on(void **unused)
{
	uint64_t began;
	struct bench b;

	(void)unused;
	start(&b, "mortise:0");
	works(&b, 1);
	ok(board_inject(b.mortise->board, BOARD_FREEZE));
	ok(tenon_queue_fill(b.queue, b.memory, 0, 4096, 9, 4, NULL));
	began = clock_now();
	assert_int_equal(tenon_queue_sync(b.queue, tenon_deadline(SECOND / 5)), -TENON_E_TIMEOUT);
	assert_error_has("firmware");
	assert_true(clock_now() - began < 60 * SECOND);
	ok(tenon_device_check(b.device));
	ok(board_inject(b.mortise->board, BOARD_THAW));
	ok(tenon_queue_sync(b.queue, tenon_deadline(60 * SECOND)));
	works(&b, 2);
	end(&b);
}

static uint64_t thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void a_wait_burns_no_processor_time(void **unused)
{
	uint64_t before;
	struct bench b;

	(void)unused;
	start(&b, "mortise:0");
	ok(board_inject(b.mortise->board, BOARD_FREEZE));
	ok(tenon_queue_fill(b.queue, b.memory, 0, 4096, 9, 4, NULL));
	before = thread_time();
	assert_int_equal(tenon_queue_sync(b.queue, tenon_deadline(SECOND)), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_true(thread_time() - before < SECOND / 20);
	ok(board_inject(b.mortise->board, BOARD_THAW));
	works(&b, 3);
	end(&b);
}

static void lost_doorbells_only_cost_time(void **unused)
{
	struct bench b;
	uint32_t i;

	(void)unused;
	start(&b, "mortise:0");
	for (i = 0; i < 5; i++) {
		const struct timespec nap = { 0, 20000000 };

		/* so that the device sleeps */
		nanosleep(&nap, NULL);
		ok(board_inject(b.mortise->board, BOARD_LOSE_DOORBELL));
		works(&b, i);
	}
	end(&b);
}

/* ---- garbage of the device's, from a seed */

static uint32_t seed;

static uint32_t next(uint32_t most)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % most;
}

/* Write something into what the device writes: the control block up to the host's words, or memory behind it. */
static void scribble(struct mortise_device *m)
{
	uint32_t *words = (uint32_t *)(void *)(m->window + MORTISE_CONTROL_OFFSET);
	size_t count = offsetof(struct mortise_control, host) / sizeof(*words), i;
	uint32_t n = 1 + next(8);

	while (n--) {
		i = next((uint32_t)count);
		mortise_put(&words[i], next(4) ? next(UINT32_MAX) : next(6));
	}
}

/*
 * A loss, a job that is not done in time, or a device that goes on as if nothing were: never a crash, a hang, or a
 * device that does not open anew. Bytes of jobs on the garbled device are worth nothing, and are not looked at.
 */
static void garbage_ends_in_bounded_time(void **unused)
{
	const char *full = getenv("FULL");
	uint32_t rounds = full && *full ? 600 : 120, i, lost = 0, late = 0, well = 0;
	struct bench b;

	(void)unused;
	start(&b, "mortise:0");
	for (i = 0; i < rounds; i++) {
		uint64_t began = clock_now();
		int err = 0, k;

		seed = 1000 + i;
		if (next(3) == 0)
			ok(board_inject(b.mortise->board, BOARD_FREEZE));
		for (k = 0; k < 4 && !err; k++) {
			err = tenon_queue_fill(b.queue, b.memory, 0, 4096, 7, 4, NULL);
			scribble(b.mortise);
		}
		if (!err)
			err = tenon_queue_sync(b.queue, tenon_deadline(SECOND / 20));
		assert_true(clock_now() - began < 60 * SECOND);
		assert_true(err == 0 || err == -TENON_E_LOST || err == -TENON_E_TIMEOUT);
		lost += err == -TENON_E_LOST;
		late += err == -TENON_E_TIMEOUT;
		well += !err;
		tenon_error_clear();
		if (!err && b.mortise->ring)
			ok(board_inject(b.mortise->board, BOARD_THAW));
		/* whatever it was, the program gives up on the device */
		if (tenon_device_check(b.device) == 0)
			tenon_device_lose(b.device, tenon_error(-TENON_E_TIMEOUT, "given up"));
		tenon_error_clear();
		reopen(&b);
	}
	print_message("# %u rounds: %u lost, %u late, %u as if nothing were\n", rounds, lost, late,
		      well);
	assert_true(lost > rounds / 4);
	end(&b);
}

static void kernels_run_on_the_reopened_device(void **unused)
{
	uint32_t back = 0;
	struct tenon_tensor *t, *host;
	const int64_t one = 1;
	struct tenon_value arg;
	struct bench b;
	int i;

	(void)unused;
	start(&b, "mortise:0");
	ok(tenon_tensor_create_on(b.device->id, &one, 1, tenon_dtype(TENON_DTYPE_UINT, 32, 1), &t));
	ok(tenon_tensor_create(&one, 1, tenon_dtype(TENON_DTYPE_UINT, 32, 1), &host));
	arg = tenon_arg_object(t);
	for (i = 1; i <= 3; i++) {
		call(&b, "count", &arg, 1);
		ok(tenon_tensor_copy(&t->dl, &host->dl));
		memcpy(&back, host->dl.data, 4);
		assert_int_equal(back, 5 + i);
	}
	tenon_object_unref(t);
	ok(board_inject(b.mortise->board, BOARD_KILL));
	is_lost(&b, "remote crashed");
	reopen(&b);
	ok(tenon_tensor_create_on(b.device->id, &one, 1, tenon_dtype(TENON_DTYPE_UINT, 32, 1), &t));
	arg = tenon_arg_object(t);
	/* the image is placed anew, with its variables */
	call(&b, "count", &arg, 1);
	ok(tenon_tensor_copy(&t->dl, &host->dl));
	memcpy(&back, host->dl.data, 4);
	assert_int_equal(back, 6);
	tenon_object_unref(t);
	tenon_object_unref(host);
	end(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_that_fails_is_a_job_fault),
		cmocka_unit_test(an_address_outside_is_bad_input),
		cmocka_unit_test(an_ended_simulator_has_crashed),
		cmocka_unit_test(a_wait_ends_at_its_deadline_and_the_work_goes_on),
		cmocka_unit_test(a_wait_burns_no_processor_time),
		cmocka_unit_test(lost_doorbells_only_cost_time),
		cmocka_unit_test(kernels_run_on_the_reopened_device),
		cmocka_unit_test(garbage_ends_in_bounded_time),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
