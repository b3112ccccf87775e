/* SPDX-License-Identifier: MIT */
/* What only NVIDIA's own driver can show: faults of kernels on a GPU. */
#include "tests/cuda/cuda_rig.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char out_of_bounds[] = RIG_PTX("kernel", ".param .u64 data",
					    "ld.param.u64 %rd1, [data];\n"
					    "cvta.to.global.u64 %rd1, %rd1;\n"
					    "mov.u64 %rd2, 0x7fff00000000;\n"
					    "add.s64 %rd1, %rd1, %rd2;\n"
					    "mov.u32 %r1, 7;\n"
					    "st.global.u32 [%rd1], %r1;\n");

static const char misaligned[] = RIG_PTX("kernel", ".param .u64 data",
					 "ld.param.u64 %rd1, [data];\n"
					 "cvta.to.global.u64 %rd1, %rd1;\n"
					 "mov.u32 %r1, 7;\n"
					 "st.global.u32 [%rd1+1], %r1;\n");

static const char traps[] = RIG_PTX("kernel", ".param .u64 data", "trap;\n");

/* ends when the word that it is given becomes 1 */
static const char spins[] = RIG_PTX("kernel", ".param .u64 data",
				    "ld.param.u64 %rd1, [data];\n"
				    "cvta.to.global.u64 %rd1, %rd1;\n"
				    "AGAIN:\n"
				    "ld.volatile.global.u32 %r1, [%rd1];\n"
				    "setp.ne.s32 %p1, %r1, 1;\n"
				    "@%p1 bra AGAIN;\n");

static int setup(void **state)
{
	(void)state;
	if (tenon_device_open("cuda:0", &rig.device))
		return -1;
	return tenon_queue_create(rig.device, &rig.queue);
}

static int teardown(void **state)
{
	(void)state;
	rig_close();
	return 0;
}

static void launch(const char *text, struct tenon_memory *m, const struct tenon_sync *sync)
{
	const uint64_t args[] = { m->address };
	const struct tenon_dispatch d = rig_dispatch(rig_kernel(text, "kernel", "p", 0), args);

	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, sync), 0);
}

static void works(void)
{
	struct tenon_memory *m = rig_memory(64);
	const uint64_t args[] = { m->address };
	const struct tenon_dispatch d = rig_dispatch(rig_kernel(rig_bump, "bump", "p", 0), args);

	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 41, 4, NULL), 0);
	assert_int_equal(tenon_queue_dispatch(rig.queue, &d, NULL), 0);
	assert_int_equal(rig_word(m, 0), 42);
	tenon_object_unref(m);
}

/*
 * @text breaks the context: the error has @words, nothing hangs, and since the driver gives no other
 * context to the process, opening the device again says what to do.
 */
static void loses_the_device(const char *text, const char *words)
{
	struct tenon_memory *m = rig_memory(4096);
	struct tenon_device *fresh = NULL;
	struct tenon_timeline *t = NULL;
	struct tenon_point one;
	struct tenon_sync signal;

	assert_int_equal(tenon_timeline_create(0, &t), 0);
	one = (struct tenon_point){ t, 1 };
	signal = (struct tenon_sync){ NULL, 0, &one, 1 };
	works();
	launch(text, m, &signal);
	assert_int_equal(tenon_timeline_wait(t, 1, rig_soon()), -TENON_E_LOST);
	assert_error_has(words);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), -TENON_E_LOST);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 64, 0, 4, NULL), -TENON_E_LOST);
	assert_int_equal(tenon_device_reopen(rig.device, &fresh), -TENON_E_LOST);
	assert_error_has("start the program again");
	tenon_error_clear();
	tenon_object_unref(m);
	tenon_object_unref(t);
}

/* A fault stays with the process, so each has a process of its own. */
static void loses_the_device_of_a_process(const char *text, const char *words)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		if (setup(NULL))
			_exit(2);
		loses_the_device(text, words);
		_exit(teardown(NULL));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_store_out_of_bounds_loses_the_device(void **state)
{
	(void)state;
	loses_the_device_of_a_process(out_of_bounds, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

static void a_misaligned_store_loses_the_device(void **state)
{
	(void)state;
	loses_the_device_of_a_process(misaligned, "CUDA_ERROR_MISALIGNED_ADDRESS");
}

static void a_trap_loses_the_device(void **state)
{
	(void)state;
	loses_the_device_of_a_process(traps, "CUDA_ERROR");
}

static void memory_of_another_device_survives_a_fault(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						      NULL };
	struct tenon_device *other = NULL;
	struct tenon_memory *m = NULL;
	struct tenon_queue *q = NULL;
	uint8_t back = 0;

	(void)state;
	if (tenon_device_open("opencl:0", &other)) {
		print_message("no OpenCL device here\n");
		skip();
	}
	assert_int_equal(tenon_queue_create(other, &q), 0);
	assert_int_equal(tenon_memory_alloc(other, &request, &m), 0);
	assert_int_equal(tenon_queue_fill(q, m, 0, 64, 0x2a, 1, NULL), 0);
	assert_int_equal(tenon_queue_sync(q, rig_soon()), 0);
	loses_the_device(out_of_bounds, "CUDA_ERROR_ILLEGAL_ADDRESS");
	assert_int_equal(tenon_queue_read(q, &back, m, 63, 1, NULL), 0);
	assert_int_equal(tenon_queue_sync(q, rig_soon()), 0);
	assert_int_equal(back, 0x2a);
	tenon_object_unref(m);
	tenon_object_unref(q);
	tenon_object_unref(other);
}

static void a_kernel_that_does_not_end_is_a_deadline_that_passed(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 4096,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP, -1,
						      NULL };
	struct tenon_memory *m = NULL;
	volatile uint32_t *word;
	void *mapped = NULL;

	(void)state;
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	assert_int_equal(tenon_memory_map(m, TENON_MAP_READ | TENON_MAP_WRITE, 0, 4096, &mapped),
			 0);
	word = mapped;
	*word = 0;
	launch(spins, m, NULL);
	assert_int_equal(tenon_queue_sync(rig.queue, tenon_deadline(SECOND / 10)),
			 -TENON_E_TIMEOUT);
	tenon_error_clear();
	*word = 1;
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	assert_int_equal(tenon_memory_unmap(m, mapped, TENON_MAP_READ | TENON_MAP_WRITE, 0, 4096),
			 0);
	tenon_object_unref(m);
	works();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Asked in a child, since the driver does not survive fork(). */
static bool there(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child)
		_exit(setup(NULL) || teardown(NULL));
	return waitpid(child, &status, 0) == child && !status;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* before the driver has begun in this process: it does not survive fork() */
		cmocka_unit_test(a_store_out_of_bounds_loses_the_device),
		cmocka_unit_test(a_misaligned_store_loses_the_device),
		cmocka_unit_test(a_trap_loses_the_device),
		CASE(a_kernel_that_does_not_end_is_a_deadline_that_passed),
		CASE(memory_of_another_device_survives_a_fault),
	};

	if (!there()) {
		printf("1..0 # SKIP no GPU of NVIDIA here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
