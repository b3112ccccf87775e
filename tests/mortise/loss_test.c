/* SPDX-License-Identifier: MIT */
/*
 * The six classes of failure, through devices, queues and timelines, on the simulator and on emulated boards: each is
 * told by name with what the device last did, in bounded time. The device comes back, what the host has stays, and
 * other devices notice nothing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "tests/mortise/mortise_rig.h"

#define SKIPPED 77
#define KEPT	0x4b455054U

static struct tenon_module *kernels;
static const char *board; /* that the case is for */

static int setup(void **unused)
{
	char path[4096];

	(void)unused;
	snprintf(path, sizeof(path), "%s/device/tests/mortise/kernels.mortise",
		 getenv("TENON_BUILD"));
	return bench_register() ? -1 : tenon_module_load(path, &kernels);
}

static int teardown(void **unused)
{
	(void)unused;
	tenon_object_unref(kernels);
	tenon_device_close_all();
	return 0;
}

/* ---- devices beside it */

struct beside {
	struct tenon_device *cpu;
	struct tenon_queue *queue;
	struct bench other;
};

static void start_beside(struct beside *s)
{
	memset(s, 0, sizeof(*s));
	if (tenon_backend_find(tenon_slice_of("cpu"))) {
		ok(tenon_device_open("cpu://0?queue=worker", &s->cpu));
		ok(tenon_queue_create(s->cpu, &s->queue));
	}
	start(&s->other, "mortise://sim?watchdog=9999");
	works(&s->other, 1);
}

static void end_beside(struct beside *s)
{
	ok(tenon_device_check(s->other.device));
	works(&s->other, 2);
	end(&s->other);
	if (s->cpu) {
		ok(tenon_device_check(s->cpu));
		ok(tenon_queue_sync(s->queue, tenon_deadline(60 * SECOND)));
	}
	tenon_object_unref(s->queue);
	tenon_object_unref(s->cpu);
}

/* ---- faults */

static void emit(struct bench *b, const void *packet, size_t size)
{
	uint64_t sequence;

	pthread_mutex_lock(&b->mortise->lock);
	ok(mortise_emit(b->mortise, packet, size, &sequence));
	pthread_mutex_unlock(&b->mortise->lock);
}

static void write_outside(struct bench *b)
{
	struct mortise_fill p = {
		.header.opcode = MORTISE_OP_FILL, .to = 64, .size = 8, .width = 8
	};

	emit(b, &p, sizeof(p));
}

static void wait_for_ever(struct bench *b)
{
	struct mortise_semaphore p = { .header.opcode = MORTISE_OP_WAIT, .value = 1 };

	memset(b->memory->host, 0, 4);
	p.address =
		b->mortise->address + (uint64_t)((uint8_t *)b->memory->host - b->mortise->window);
	emit(b, &p, sizeof(p));
}

static void call_what_fails(struct bench *b)
{
	const struct tenon_value argument = tenon_arg_int(77);
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)b;
	ok(tenon_module_get_function(kernels, "fail", &f));
	assert_non_null(f);
	ok(tenon_function_call(f, &argument, 1, &ret));
	tenon_object_unref(f);
}

static void reboot(struct bench *b)
{
	pthread_mutex_lock(&b->mortise->lock);
	ok(board_inject(b->mortise->board, BOARD_REBOOT));
	pthread_mutex_unlock(&b->mortise->lock);
}

static void freeze(struct bench *b)
{
	ok(board_inject(b->mortise->board, BOARD_FREEZE));
}

static void crash(struct bench *b)
{
	ok(board_inject(b->mortise->board, BOARD_KILL));
	while (!board_alive(b->mortise->board))
		;
	tenon_error_clear();
}

static const struct {
	const char *name;
	void (*inject)(struct bench *b);
	const char *keys; /* of the device: patience where that is not what is tested */
} classes[] = {
	{ "bad input", write_outside, "silence=30000" },
	{ "job timeout", wait_for_ever, "silence=30000&watchdog=1000" },
	{ "job fault", call_what_fails, "silence=30000" },
	{ "context lost", reboot, "silence=30000" },
	{ "device lost", freeze, "silence=1500" },
	{ "remote crashed", crash, "silence=30000" },
};

/* ---- what is asked of each */

static void says_what_it_did(const char *class)
{
	static const char *const words[] = { "sequence", "last packet", "address", "heartbeat",
					     "firmware 0." };
	size_t i;

	if (!message_has(class))
		fail_msg("wanted: %s\nfound: %s", class, tenon_error_message());
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!message_has(words[i]))
			fail_msg("no \"%s\": %s", words[i], tenon_error_message());
}

/* A job behind the fault fails, and so does the timeline that it would signal; not before the fault is known. */
static void fails_as(struct bench *b, const char *class)
{
	struct tenon_timeline *t;
	struct tenon_point signal;
	struct tenon_sync sync = { NULL, 0, &signal, 1 };
	uint64_t began = clock_now();
	int err;

	ok(tenon_timeline_create(0, &t));
	signal = (struct tenon_point){ t, 1 };
	err = tenon_queue_fill(b->queue, b->memory, 2048, 64, 7, 4, &sync);
	if (err)
		tenon_error_clear();
	assert_int_equal(tenon_timeline_wait(t, 1, tenon_deadline(60 * SECOND)), -TENON_E_LOST);
	says_what_it_did(class);
	tenon_error_clear();
	tenon_object_unref(t);
	assert_int_equal(tenon_queue_sync(b->queue, tenon_deadline(60 * SECOND)), -TENON_E_LOST);
	says_what_it_did(class);
	tenon_error_clear();
	assert_int_equal(tenon_device_check(b->device), -TENON_E_LOST);
	says_what_it_did(class);
	tenon_error_clear();
	assert_true(clock_now() - began < 120 * SECOND);
}

/* What of the lost device is mapped stays, and can be read when the device has come back. */
static void comes_back(struct bench *b, void (*by)(struct bench *b))
{
	struct tenon_memory *kept = b->memory;
	const uint32_t *word = (const uint32_t *)kept->host;

	tenon_object_ref(kept);
	by(b);
	assert_int_equal(word[1], KEPT);
	tenon_object_unref(kept);
}

static void try_class(size_t i)
{
	struct beside beside;
	struct bench b;
	char uri[128];

	snprintf(uri, sizeof(uri), "mortise://%s?%s", board, classes[i].keys);
	start(&b, uri);
	start_beside(&beside);
	ok(tenon_device_set_current(b.device));
	works(&b, KEPT);
	classes[i].inject(&b);
	fails_as(&b, classes[i].name);
	comes_back(&b, i % 2 ? reopen : reset);
	end(&b);
	end_beside(&beside);
}

static void bad_input(void)
{
	try_class(0);
}

static void job_timeout(void)
{
	try_class(1);
}

static void job_fault(void)
{
	try_class(2);
}

static void context_lost(void)
{
	try_class(3);
}

static void device_lost(void)
{
	try_class(4);
}

static void remote_crashed(void)
{
	try_class(5);
}

/* ---- tenon_device_reset() of a device that is well */

static void *wait_for_queue(void *arg)
{
	struct bench *b = arg;
	intptr_t err = tenon_queue_sync(b->queue, tenon_deadline(60 * SECOND));

	tenon_error_clear();
	return (void *)err;
}

static void a_reset_ends_what_others_wait_for(void)
{
	const struct timespec nap = { 0, 20000000 };
	struct tenon_device *fresh;
	pthread_t thread;
	struct bench b;
	char uri[64];
	void *err;

	snprintf(uri, sizeof(uri), "mortise://%s?watchdog=0", board);
	start(&b, uri);
	works(&b, KEPT);
	wait_for_ever(&b);
	ok(tenon_queue_fill(b.queue, b.memory, 0, 64, 7, 4, NULL));
	assert_int_equal(pthread_create(&thread, NULL, wait_for_queue, &b), 0);
	nanosleep(&nap, NULL);
	ok(tenon_device_reset(b.device, &fresh));
	pthread_join(thread, &err);
	assert_int_equal((intptr_t)err, -TENON_E_LOST);
	assert_int_equal(tenon_device_check(b.device), -TENON_E_LOST);
	assert_error_has("reset");
	tenon_object_unref(fresh);
	reopen(&b);
	end(&b);
}

/* ---- the suite: each case for each board */

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "bad_input", bad_input },
	{ "job_timeout", job_timeout },
	{ "job_fault", job_fault },
	{ "context_lost", context_lost },
	{ "device_lost", device_lost },
	{ "remote_crashed", remote_crashed },
	{ "a_reset_ends_what_others_wait_for", a_reset_ends_what_others_wait_for },
};

static const char *const boards[] = { "sim", "rv64", "rv32", "cm3", "hexagon" };

#define CASES  (sizeof(cases) / sizeof(cases[0]))
#define BOARDS (sizeof(boards) / sizeof(boards[0]))

static void run_case(void **state)
{
	size_t number = (size_t)(uintptr_t)*state;

	board = boards[number / CASES];
	cases[number % CASES].run();
}

int main(void)
{
	static struct CMUnitTest tests[CASES * BOARDS];
	static char names[CASES * BOARDS][64];
	size_t i, k, n = 0;
	const char *why;

	for (i = 0; i < BOARDS; i++) {
		why = board_is_left_out(boards[i]);
		if (why) {
			printf("# %s is left out: %s\n", boards[i], why);
			tenon_error_clear();
			continue;
		}
		for (k = 0; k < CASES; k++, n++) {
			snprintf(names[n], sizeof(names[n]), "%s_%s", boards[i], cases[k].name);
			tests[n] = (struct CMUnitTest){ names[n], run_case, NULL, NULL,
							(void *)(uintptr_t)(i * CASES + k) };
		}
	}
	if (!n) {
		printf("no board can be tried here\n");
		return SKIPPED;
	}
	return _cmocka_run_group_tests("loss", tests, n, setup, teardown);
}
