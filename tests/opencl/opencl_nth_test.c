/* SPDX-License-Identifier: MIT */
/*
 * One program that uses all of the OpenCL backend, run again and again while the fake lets the first,
 * the second, … call of OpenCL fail, until none is left: each time it ends with a reason or with the
 * right result, in bounded time, and gives back every object.
 */
#include "tests/opencl/opencl_rig.h"

#include <stdlib.h>
#include <unistd.h>

#define WORDS 64

struct scene {
	struct tenon_device *device;
	struct tenon_queue *queue, *other;
	struct tenon_memory *in, *out, *part, *host, *dma;
	struct tenon_executable *executable;
	struct tenon_commands *commands;
	struct tenon_timeline *timeline;
	int32_t back[WORDS], again[WORDS];
	uint64_t time;
	bool untimed; /* a timestamp was refused */
};

static _Alignas(4096) int32_t host_words[1024];

/* ---- memory of the host that runs out: only where malloc() can be stood in for */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_RUN_OUT 1

static long allocations, allocation_fails_at;

static bool runs_out(void)
{
	if (!allocation_fails_at || fake->inside)
		return false;
	return ++allocations == allocation_fails_at;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return runs_out() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return runs_out() ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size)
{
	return runs_out() ? NULL : __libc_realloc(p, size);
}
#else
#define CAN_RUN_OUT 0
#endif

static int make_things(struct scene *s)
{
	static const char source[] = "// Function: add\nadd\n";
	static const struct tenon_program program = {
		{ "opencl", 6 }, { "cl", 2 }, { source, sizeof(source) - 1 },
		rig_kernels,	 1,	      "scene.so"
	};
	const struct tenon_memory_request request = { sizeof(request), 512,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP, -1,
						      NULL };
	const struct tenon_memory_import host = { .size = sizeof(host),
						  .type = TENON_HANDLE_HOST_POINTER,
						  .fd = -1,
						  .pointer = host_words,
						  .bytes = sizeof(host_words),
						  .usage = TENON_MEMORY_DEFAULT };
	const struct tenon_memory_import dma = { .size = sizeof(dma),
						 .type = TENON_HANDLE_DMA_BUF,
						 .fd = 7,
						 .bytes = 4096,
						 .usage = TENON_MEMORY_DEFAULT };
	int err = tenon_device_open("opencl:0", &s->device);

	if (!err)
		err = tenon_queue_create(s->device, &s->queue);
	if (!err)
		err = tenon_queue_create(s->device, &s->other);
	if (!err)
		err = tenon_timeline_create(0, &s->timeline);
	if (!err)
		err = tenon_memory_alloc(s->device, &request, &s->in);
	if (!err)
		err = tenon_memory_alloc(s->device, &request, &s->out);
	if (!err)
		err = tenon_memory_subrange(s->out, 256, 256, &s->part);
	if (!err)
		err = tenon_memory_import(s->device, &host, &s->host);
	if (!err)
		err = tenon_memory_import(s->device, &dma, &s->dma);
	if (!err)
		err = tenon_executable_create(s->device, &program, NULL, &s->executable);
	return err;
}

static int map_words(struct scene *s)
{
	void *words = NULL;
	int err, i;

	err = tenon_memory_map(s->in, TENON_MAP_WRITE | TENON_MAP_DISCARD, 0, 256, &words);
	for (i = 0; !err && i < WORDS; i++)
		((int32_t *)words)[i] = 3 * i;
	return err ? err : tenon_memory_unmap(s->in, words, TENON_MAP_WRITE, 0, 256);
}

static int record(struct scene *s, const struct tenon_dispatch *dispatch)
{
	int err = tenon_commands_create(s->device, &s->commands);

	if (!err)
		err = tenon_commands_fill(s->commands, tenon_range(s->out, 0), 256, 0, 4);
	if (!err)
		err = tenon_commands_barrier(s->commands);
	if (!err)
		err = tenon_commands_dispatch(s->commands, dispatch);
	if (!err)
		err = tenon_commands_copy(s->commands, tenon_range(s->part, 0),
					  tenon_range(s->out, 0), 256);
	return err ? err : tenon_commands_finish(s->commands);
}

static int run_things(struct scene *s)
{
	const struct tenon_point reached = { s->timeline, 1 };
	const struct tenon_sync signal = { NULL, 0, &reached, 1 }, wait = { &reached, 1, NULL, 0 };
	uint64_t arguments[3] = { (uintptr_t)s->out, (uintptr_t)s->in, 7 };
	struct tenon_dispatch dispatch = { .arguments = arguments,
					   .grid = { 1, 1, 1 },
					   .block = { WORDS, 1, 1 },
					   .cluster = { 1, 1, 1 },
					   .preferred_cluster = { 1, 1, 1 } };
	int err = tenon_executable_kernel(s->executable, 0, &dispatch.kernel);

	if (!err)
		err = map_words(s);
	if (!err)
		err = tenon_queue_fill(s->queue, s->host, 0, 256, 0, 4, NULL);
	if (!err)
		err = tenon_queue_dispatch(s->queue, &dispatch, NULL);
	if (!err) {
		err = tenon_queue_timestamp(s->queue, &s->time, NULL);
		s->untimed = err;
	}
	if (!err)
		err = tenon_queue_join(s->queue, &signal);
	/* another queue goes on where the first one came to */
	if (!err)
		err = tenon_queue_read(s->other, s->back, s->out, 0, 256, &wait);
	if (!err)
		err = tenon_queue_sync(s->other, rig_soon());
	arguments[2] = 9;
	if (!err)
		err = record(s, &dispatch);
	if (!err)
		err = tenon_queue_execute(s->queue, s->commands, NULL, 0, NULL);
	if (!err)
		err = tenon_queue_read(s->queue, s->again, s->part, 0, 256, NULL);
	if (!err)
		err = tenon_queue_sync(s->queue, rig_soon());
	return err ? err : tenon_timeline_wait(s->timeline, 1, rig_soon());
}

static void drop_things(struct scene *s)
{
	/* what failed writes no time later, to memory that its caller may have freed */
	if (s->untimed) {
		tenon_queue_sync(s->queue, rig_soon());
		assert_int_equal(s->time, 0);
	}
	tenon_object_unref(s->commands);
	tenon_object_unref(s->executable);
	tenon_object_unref(s->dma);
	tenon_object_unref(s->host);
	tenon_object_unref(s->part);
	tenon_object_unref(s->out);
	tenon_object_unref(s->in);
	tenon_object_unref(s->other);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->timeline);
	tenon_object_unref(s->device);
	tenon_device_close_all();
}

static int processor;

static void prepare(void)
{
	memset(fake, 0, sizeof(*fake));
	fake->version = "OpenCL 3.0 fake";
	fake->command_buffer = 95;
	fake->dma_buf = 1;
	fake->slow = 3;
	fake->processor = processor;
	tenon_error_clear();
}

/* Run it; @what and @n say what failed in it. */
static void play_once(const char *what, long n)
{
	struct scene s = { 0 };
	int i, err;

	/* SIGALRM ends the suite if a call never returns */
	alarm(120);
	err = make_things(&s);
	if (!err)
		err = run_things(&s);
#if CAN_RUN_OUT
	allocation_fails_at = 0;
#endif
	if (err && !*tenon_error_message()) {
		print_error("%s %ld: %d without a reason\n", what, n, err);
		fail();
	}
	for (i = 0; i < WORDS && !err; i++) {
		assert_int_equal(s.back[i], 3 * i + 7);
		assert_int_equal(s.again[i], 3 * i + 9);
	}
	if (!err)
		assert_true(s.time > 0);
	drop_things(&s);
	alarm(0);
	if (fake->live)
		print_error("%s %ld: %ld objects were not given back\n", what, n, fake->live);
	assert_int_equal(fake->live, 0);
}

/* Run it with one call that fails; false when there are fewer calls than that. */
static bool play(long fails_at, int failure)
{
	prepare();
	fake->fails_at = fails_at;
	fake->failure = failure;
	play_once("call", fails_at);
	return fake->calls >= fails_at;
}

static void play_all(int failure)
{
	long n = 1;

	rig_close();
	setenv("TENON_CACHE_DIR", rig_cache, 1);
	while (play(n, failure))
		n++;
	/* all that the backend does was in it */
	assert_true(n > 80);
	assert_int_equal(play(0, 0), true);
	print_message("# %ld calls failed, one at a time\n", n - 1);
}

static void any_call_that_has_no_memory_ends_with_a_reason(void **state)
{
	(void)state;
	play_all(-6);
}

static void any_call_that_lacks_resources_ends_with_a_reason(void **state)
{
	(void)state;
	play_all(-5);
}

static void any_call_that_finds_the_device_gone_ends_with_a_reason(void **state)
{
	(void)state;
	play_all(-2);
}

static void any_call_to_a_processor_that_has_no_memory_ends_with_a_reason(void **state)
{
	(void)state;
	processor = 1;
	play_all(-6);
}

static void any_allocation_of_the_host_that_fails_ends_with_a_reason(void **state)
{
#if CAN_RUN_OUT
	long n = 0;

	rig_close();
	/* what is made once in a process is made now */
	play(0, 0);
	do {
		prepare();
		allocations = 0;
		allocation_fails_at = ++n;
		play_once("allocation", n);
	} while (allocations >= n);
	assert_true(n > 20);
	print_message("# %ld allocations failed, one at a time\n", n - 1);
#else
	skip();
#endif
	(void)state;
}

/* Before each case; it begins with a device that is no processor. */
static int set_up(void **state)
{
	processor = 0;
	return rig_setup(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(any_call_that_has_no_memory_ends_with_a_reason),
		CASE(any_call_to_a_processor_that_has_no_memory_ends_with_a_reason),
		CASE(any_call_that_lacks_resources_ends_with_a_reason),
		CASE(any_call_that_finds_the_device_gone_ends_with_a_reason),
		CASE(any_allocation_of_the_host_that_fails_ends_with_a_reason),
	};

	return rig_prepare() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
