/* SPDX-License-Identifier: MIT */
/*
 * How the CUDA backend ends when its driver fails, on the fake libcuda. Each case ends in bounded time
 * with the reason, gives back every object of CUDA, and the next one goes on.
 */
#include "tests/cuda/cuda_rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "driver/cuda/cuda_api.h"

static void an_allocation_that_fails_says_how_much_was_asked_for(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	const struct tenon_memory_request host = { sizeof(host), 512,
						   TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP, -1,
						   NULL };
	struct tenon_memory *m = NULL;

	(void)state;
	rig_fail("cuMemAlloc_v2", 2, CU_OUT_OF_MEMORY);
	tenon_object_unref(rig_memory(4096));
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), -TENON_E_NOMEM);
	assert_error_has("cuda:0 (Fake GPU 0): allocating 4096 bytes of heap 0: "
			 "CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)");
	tenon_object_unref(rig_memory(4096));
	rig_fail("cuMemHostAlloc", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_memory_alloc(rig.device, &host, &m), -TENON_E_NOMEM);
	assert_error_has("allocating 512 bytes of heap 1");
	rig_fail("cuMemHostGetDevicePointer_v2", 1, CU_INVALID_VALUE);
	assert_int_equal(tenon_memory_alloc(rig.device, &host, &m), -TENON_E_DEVICE);
}

static void exported_memory_that_fails_half_way_leaves_nothing(void **state)
{
	static const char *const functions[] = { "cuMemGetAllocationGranularity", "cuMemCreate",
						 "cuMemAddressReserve", "cuMemMap",
						 "cuMemSetAccess" };
	const struct tenon_memory_request request = { sizeof(request), 4096,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						      -1, NULL };
	struct tenon_memory *m = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		rig_fail(functions[i], 1, CU_OUT_OF_MEMORY);
		assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), -TENON_E_NOMEM);
		assert_error_has("allocating 4096 bytes that can be exported");
	}
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	tenon_object_unref(m);
}

static void a_queue_that_cannot_be_made_is_an_error(void **state)
{
	struct tenon_queue *q = NULL;

	(void)state;
	rig_fail("cuStreamCreate", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_queue_create(rig.device, &q), -TENON_E_NOMEM);
	assert_error_has("making a queue: CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)");
}

static void a_mark_that_cannot_be_made_is_an_error(void **state)
{
	struct tenon_memory *m = rig_memory(64);

	(void)state;
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), 0);
	rig_fail("cuEventCreate", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), -TENON_E_NOMEM);
	rig_fail("cuEventRecord", 1, CU_INVALID_VALUE);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), -TENON_E_DEVICE);
	assert_error_has("marking a place in a queue");
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	tenon_object_unref(m);
}

static void text_that_does_not_compile_brings_the_log(void **state)
{
	static const char text[] = ".version 6.0\n.target sm_52\n.address_size 64\n"
				   ".visible .entry bad()\n{\nfrobnicate.u32 %r1, %r2;\nret;\n}\n";
	struct tenon_executable *e =
		rig_executable(rig_program("ptx", text, sizeof(text) - 1, "bad", "", 0));
	struct tenon_kernel *k = NULL;

	(void)state;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_DEVICE);
	assert_error_has(
		"fake.so: kernel bad on cuda:0: cuda:0 (Fake GPU 0): ptx does not load for "
		"sm_90: CUDA_ERROR_INVALID_PTX (218: a PTX JIT compilation failed):\n"
		"ptxas application ptx input, line 6; error   : Unknown instruction "
		"'frobnicate.u32'");
	assert_null(k);
	tenon_object_unref(e);
}

static void a_program_without_the_kernel_names_it(void **state)
{
	struct tenon_executable *e =
		rig_executable(rig_program("ptx", rig_bump, strlen(rig_bump), "jump", "p", 0));
	struct tenon_kernel *k = NULL;

	(void)state;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_NOT_FOUND);
	assert_error_has("the program has no kernel jump");
	tenon_object_unref(e);
}

static void a_module_that_does_not_load_may_load_later(void **state)
{
	struct tenon_executable *e =
		rig_executable(rig_program("ptx", rig_bump, strlen(rig_bump), "bump", "p", 0));
	struct tenon_kernel *k = NULL;

	(void)state;
	rig_fail("cuModuleLoadDataEx", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_NOMEM);
	assert_error_has("loading ptx of");
	assert_int_equal(tenon_executable_kernel(e, 0, &k), 0);
	tenon_object_unref(e);
}

static void other_arguments_than_the_table_says_are_refused(void **state)
{
	static const struct {
		const char *arguments, *words;
	} wrong[] = {
		{ "", "kernel bump takes more arguments than the module's table says, which is 0" },
		{ "pp", "kernel bump takes 1 arguments, the module's table says 2" },
		{ "i", "argument 0 of kernel bump has 8 bytes, the module's table says 4" },
	};
	struct tenon_executable *e;
	struct tenon_kernel *k;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		e = rig_executable(rig_program("ptx", rig_bump, strlen(rig_bump), "bump",
					       wrong[i].arguments, 0));
		k = NULL;
		assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_FORMAT);
		assert_error_has(wrong[i].words);
		tenon_object_unref(e);
	}
}

static void a_launch_that_is_too_large_names_the_limit(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	const uint64_t args[] = { m->address };
	struct tenon_dispatch d = rig_dispatch(rig_kernel(rig_bump, "bump", "p", 0), args);

	(void)state;
	d.block[0] = 1025;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), -TENON_E_DEVICE);
	assert_error_has("launching kernel bump: 1 x 1 x 1 blocks of 1025 x 1 x 1 threads (at most "
			 "1024), 0 bytes of shared memory: CUDA_ERROR_INVALID_VALUE (1: ");
	d.block[0] = 1;
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	tenon_object_unref(m);
}

static void a_wait_that_never_ends_ends_at_its_deadline(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	uint64_t start, end;
	uint8_t back[64];

	(void)state;
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), 0);
	/* host memory that is not pinned: CUDA itself would wait here */
	assert_int_equal(tenon_queue_read(rig.queue, back, m, 0, 64, NULL), 0);
	start = tenon_deadline(0);
	assert_int_equal(tenon_queue_sync(rig.queue, tenon_deadline(50000000)), -TENON_E_TIMEOUT);
	end = tenon_deadline(0);
	assert_true(end - start >= 50000000 && end - start < 60 * SECOND);
	assert_int_equal(tenon_queue_sync(rig.queue, 0), -TENON_E_TIMEOUT);
	tenon_error_clear();
	/* whoever gives up on the device loses it, and then nothing waits any more */
	tenon_device_lose(rig.device, tenon_error(-TENON_E_LOST, "the test gave up"));
	assert_int_equal(tenon_queue_sync(rig.queue, TENON_FOREVER), -TENON_E_LOST);
	assert_error_has("the test gave up");
	tenon_object_unref(m);
	rig_gives_up();
}

static void a_device_that_was_given_up_gives_back_all_it_has(void **state)
{
	struct tenon_memory *m = rig_memory(64), *kept = rig_memory(64);
	struct tenon_device *fresh = NULL;

	(void)state;
	rig_kernel(rig_bump, "bump", "p", 0);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), 0);
	tenon_device_lose(rig.device, tenon_error(-TENON_E_LOST, "the test gave up"));
	tenon_object_unref(m);
	assert_int_equal(tenon_device_reopen(rig.device, &fresh), 0);
	/* nothing was spoiled: others may use the context */
	assert_int_equal(rig.fake->resets, 0);
	tenon_object_unref(kept);
	tenon_object_unref(fresh);
}

static void a_kernel_that_writes_where_nothing_is_loses_the_device(void **state)
{
	uint64_t args[] = { UINT64_C(0x123400000000) };
	struct tenon_dispatch d = rig_dispatch(rig_kernel(rig_poke, "poke", "p", 0), args);
	struct tenon_memory *m = rig_memory(64);
	struct tenon_timeline *t = NULL;
	struct tenon_device *fresh = NULL;
	struct tenon_point one;
	struct tenon_sync signal;
	char message[512];

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	one = (struct tenon_point){ t, 1 };
	signal = (struct tenon_sync){ NULL, 0, &one, 1 };
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, &signal), 0);
	fake_cuda_hang(rig.fake, 0);
	assert_int_equal(tenon_timeline_wait(t, 1, rig_soon()), -TENON_E_LOST);
	snprintf(message, sizeof(message), "%s", tenon_error_message());
	assert_error_has(
		"cuda:0 is lost: cuda:0 (Fake GPU 0): an operation failed on the device: "
		"CUDA_ERROR_ILLEGAL_ADDRESS (700: an illegal memory access was encountered); after "
		"a fault of a kernel CUDA opens no device until the process ends: start the "
		"program again");
	assert_null(strstr(message, "Reopen"));
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), -TENON_E_LOST);
	assert_int_equal(tenon_queue_sync(rig.queue, TENON_FOREVER), -TENON_E_LOST);
	tenon_error_clear();
	/* the driver gives no context to this process any more */
	assert_int_equal(tenon_device_reopen(rig.device, &fresh), -TENON_E_LOST);
	assert_error_has("CUDA_ERROR_ILLEGAL_ADDRESS (700: an illegal memory access was "
			 "encountered); after a fault of a kernel CUDA opens no device until the "
			 "process ends: start the program again");
	tenon_error_clear();
	tenon_object_unref(m);
	tenon_object_unref(t);
}

static void lose_by_a_launch(void)
{
	struct tenon_memory *m = rig_memory(64);

	rig_fail("cuMemsetD32Async", 1, CU_CONTEXT_IS_DESTROYED);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), -TENON_E_LOST);
	tenon_error_clear();
	tenon_object_unref(m);
}

static void a_context_that_somebody_destroyed_is_made_anew(void **state)
{
	struct tenon_memory *m = rig_memory(64), *n;
	struct tenon_device *old = rig.device;

	(void)state;
	lose_by_a_launch();
	assert_int_equal(tenon_device_reopen(old, &rig.device), 0);
	assert_int_equal(rig.fake->resets, 1);
	tenon_object_unref(rig.queue);
	assert_int_equal(tenon_queue_create(rig.device, &rig.queue), 0);
	n = rig_memory(64);
	assert_int_equal(tenon_queue_fill(rig.queue, n, 0, 64, 7, 4, NULL), 0);
	assert_int_equal(rig_word(n, 0), 7);
	/* what is left of the old one must not touch the new context */
	tenon_object_unref(m);
	tenon_object_unref(old);
	assert_int_equal(rig_word(n, 0), 7);
	tenon_object_unref(n);
}

static void a_context_that_is_reset_is_given_back_too(void **state)
{
	int (*retain)(cu_context *, int) = NULL, (*release)(int) = NULL;
	struct tenon_device *old;
	struct tenon_memory *m;
	cu_context context = NULL;
	long before;
	int i;

	(void)state;
	*(void **)&retain = rig_function("cuDevicePrimaryCtxRetain");
	*(void **)&release = rig_function("cuDevicePrimaryCtxRelease_v2");
	/* CUDA's runtime library, say, holds it as well, and lets go of it when all is over */
	assert_int_equal(retain(&context, 0), 0);
	for (i = 0; i < 3; i++) {
		lose_by_a_launch();
		old = rig.device;
		assert_int_equal(tenon_device_reopen(old, &rig.device), 0);
		assert_int_equal(rig.fake->resets, i + 1);
		tenon_object_unref(rig.queue);
		tenon_object_unref(old);
		assert_int_equal(tenon_queue_create(rig.device, &rig.queue), 0);
	}
	m = rig_memory(64);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 6, 4, NULL), 0);
	before = rig.fake->live;
	assert_int_equal(release(0), 0);
	assert_int_equal(rig.fake->live, before - 1);
	assert_int_equal(rig_word(m, 0), 6);
	tenon_object_unref(m);
}

static void an_error_of_the_device_is_found_by_whoever_submits(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	struct tenon_timeline *t = NULL;
	struct tenon_point one, two;
	struct tenon_sync first, second;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	one = (struct tenon_point){ t, 1 };
	two = (struct tenon_point){ t, 2 };
	first = (struct tenon_sync){ NULL, 0, &one, 1 };
	second = (struct tenon_sync){ NULL, 0, &two, 1 };
	rig_fail("cuMemsetD32Async", 2, CU_LAUNCH_TIMEOUT);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, &first), 0);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, &second), -TENON_E_LOST);
	assert_error_has("submitting a fill: CUDA_ERROR_LAUNCH_TIMEOUT (702: the launch timed out");
	assert_int_equal(tenon_timeline_wait(t, 2, rig_soon()), -TENON_E_LOST);
	assert_error_has("CUDA_ERROR_LAUNCH_TIMEOUT");
	tenon_object_unref(t);
	tenon_object_unref(m);
}

static void a_graph_that_cannot_be_made_or_run_says_so(void **state)
{
	struct tenon_memory *m = rig_memory(64);
	struct tenon_commands *c = NULL;
	const char *const functions[] = { "cuGraphCreate", "cuGraphAddMemsetNode",
					  "cuGraphInstantiateWithFlags" };
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(tenon_commands_create(rig.device, &c), 0);
		assert_int_equal(tenon_commands_fill(c, tenon_range(m, 0), 64, 1, 4), 0);
		rig_fail(functions[i], 1, CU_OUT_OF_MEMORY);
		assert_int_equal(tenon_commands_finish(c), -TENON_E_NOMEM);
		assert_error_has("making a graph of 1 operations");
		tenon_object_unref(c);
	}
	assert_int_equal(tenon_commands_create(rig.device, &c), 0);
	assert_int_equal(tenon_commands_fill(c, tenon_range(m, 0), 64, 1, 4), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	rig_fail("cuGraphLaunch", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_queue_execute(rig.queue, c, NULL, 0, NULL), -TENON_E_NOMEM);
	assert_int_equal(tenon_queue_execute(rig.queue, c, NULL, 0, NULL), 0);
	assert_int_equal(rig_word(m, 3), 1);
	tenon_object_unref(c);
	tenon_object_unref(m);
}

static void copies_without_memory_to_go_through_are_errors(void **state)
{
	struct tenon_memory *m = rig_memory(1 << 18);
	static char large[1 << 18];
	int32_t word = 0;

	(void)state;
	rig_fail("cuMemHostAlloc", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_queue_read(rig.queue, &word, m, 0, 4, NULL), -TENON_E_NOMEM);
	assert_error_has("submitting a read of 4 bytes");
	rig_fail("cuMemHostAlloc", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_queue_write(rig.queue, m, 0, large, sizeof(large), NULL),
			 -TENON_E_NOMEM);
	rig_fail("cuLaunchHostFunc", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_queue_read(rig.queue, &word, m, 0, 4, NULL), -TENON_E_NOMEM);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 5, 4, NULL), 0);
	assert_int_equal(rig_word(m, 0), 5);
	tenon_object_unref(m);
}

/* A copy of three parts whose n-th call of a function fails, while nothing in the queue has begun. */
static void fail_half_way(const char *function, int at, void *host, struct tenon_memory *m,
			  size_t size, bool write)
{
	fake_cuda_hang(rig.fake, 1);
	rig_fail(function, at, CU_OUT_OF_MEMORY);
	assert_int_equal(write ? tenon_queue_write(rig.queue, m, 0, host, size, NULL)
			       : tenon_queue_read(rig.queue, host, m, 0, size, NULL),
			 -TENON_E_NOMEM);
	assert_int_equal(rig.fake->fail_at, 0);
	/* it is the caller's again, whatever comes to its end later */
	memset(host, 0xee, size);
}

static void a_read_that_fails_half_way_leaves_the_host_alone(void **state)
{
	static const struct {
		const char *function;
		int at;
	} fails[] = { { "cuLaunchHostFunc", 1 },
		      { "cuLaunchHostFunc", 2 },
		      { "cuLaunchHostFunc", 3 },
		      { "cuMemcpyDtoHAsync_v2", 2 },
		      { "cuMemcpyDtoHAsync_v2", 3 } };
	const size_t size = (5u << 20) + 3;
	uint8_t *host = malloc(size), *same = malloc(size);
	struct tenon_memory *m;
	size_t i;

	(void)state;
	memset(same, 0xee, size);
	for (i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
		m = rig_memory(size);
		fail_half_way(fails[i].function, fails[i].at, host, m, size, false);
		/* what did go in reads it: it must not go before */
		tenon_object_unref(m);
		assert_int_equal(rig.fake->blocked, 0);
		fake_cuda_hang(rig.fake, 0);
		assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
		assert_memory_equal(host, same, size);
	}
	/* and the next one is whole */
	m = rig_memory(size);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, size, 0xee, 1, NULL), 0);
	memset(host, 0, size);
	assert_int_equal(tenon_queue_read(rig.queue, host, m, 0, size, NULL), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	assert_memory_equal(host, same, size);
	tenon_object_unref(m);
	free(host);
	free(same);
}

static void a_write_that_fails_half_way_is_done_with_the_host(void **state)
{
	static const struct {
		const char *function;
		int at;
	} fails[] = { { "cuLaunchHostFunc", 2 },
		      { "cuLaunchHostFunc", 3 },
		      { "cuMemcpyHtoDAsync_v2", 1 },
		      { "cuMemcpyHtoDAsync_v2", 2 },
		      { "cuMemcpyHtoDAsync_v2", 3 } };
	const size_t size = (5u << 20) + 3;
	uint8_t *host = malloc(size), *back = malloc(size);
	struct tenon_memory *m = rig_memory(size);
	size_t i, n, wrong;

	(void)state;
	for (i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
		assert_int_equal(tenon_queue_fill(rig.queue, m, 0, size, 0x11, 1, NULL), 0);
		memset(host, 0x22, size);
		fail_half_way(fails[i].function, fails[i].at, host, m, size, true);
		fake_cuda_hang(rig.fake, 0);
		assert_int_equal(tenon_queue_read(rig.queue, back, m, 0, size, NULL), 0);
		assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
		/* what went in is of the write, the rest as it was */
		for (n = 0, wrong = 0; n < size; n++)
			wrong += back[n] != (n < (size_t)(fails[i].at - 1) << 21 ? 0x22 : 0x11);
		assert_int_equal(wrong, 0);
	}
	tenon_object_unref(m);
	free(host);
	free(back);
}

static void a_device_that_does_not_open_says_why(void **state)
{
	struct tenon_device *d = NULL;

	(void)state;
	rig_fail("cuDevicePrimaryCtxRetain", 1, CU_OUT_OF_MEMORY);
	assert_int_equal(tenon_device_open("cuda:1", &d), -TENON_E_DEVICE);
	assert_error_has("cuda:1 (Fake GPU 1): opening the device: CUDA_ERROR_OUT_OF_MEMORY");
	assert_int_equal(tenon_device_open("cuda:7", &d), -TENON_E_DEVICE);
	assert_int_equal(tenon_device_open("cuda://0?speed=high", &d), -TENON_E_VALUE);
	assert_error_has("unknown option \"speed\"");
	assert_int_equal(tenon_device_open("cuda:1", &d), 0);
	tenon_object_unref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(an_allocation_that_fails_says_how_much_was_asked_for),
		RIG_CASE(exported_memory_that_fails_half_way_leaves_nothing),
		RIG_CASE(a_queue_that_cannot_be_made_is_an_error),
		RIG_CASE(a_mark_that_cannot_be_made_is_an_error),
		RIG_CASE(text_that_does_not_compile_brings_the_log),
		RIG_CASE(a_program_without_the_kernel_names_it),
		RIG_CASE(a_module_that_does_not_load_may_load_later),
		RIG_CASE(other_arguments_than_the_table_says_are_refused),
		RIG_CASE(a_launch_that_is_too_large_names_the_limit),
		RIG_CASE(a_device_that_was_given_up_gives_back_all_it_has),
		RIG_CASE(a_kernel_that_writes_where_nothing_is_loses_the_device),
		RIG_CASE(a_context_that_somebody_destroyed_is_made_anew),
		RIG_CASE(a_context_that_is_reset_is_given_back_too),
		RIG_CASE(an_error_of_the_device_is_found_by_whoever_submits),
		RIG_CASE(a_graph_that_cannot_be_made_or_run_says_so),
		RIG_CASE(copies_without_memory_to_go_through_are_errors),
		RIG_CASE(a_read_that_fails_half_way_leaves_the_host_alone),
		RIG_CASE(a_write_that_fails_half_way_is_done_with_the_host),
		RIG_CASE(a_device_that_does_not_open_says_why),
		RIG_CASE(a_wait_that_never_ends_ends_at_its_deadline),
	};

	if (rig_start("inline"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
