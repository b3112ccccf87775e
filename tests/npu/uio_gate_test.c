/* SPDX-License-Identifier: MIT */
/*
 * A device of ethosu://uio/0 that is given up, or whose reset failed, while its memory is in use: on the model of the
 * registers (a named fake).
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tenon/device.h>
#include <tenon/executable.h>
#include <tenon/queue.h>

#include "devices/ethosu/ethosu_device.h"
#include "devices/ethosu/ethosu_uio.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/model_session.h"
#include "tests/npu/npu_registers.h"
#include "tests/unit/suite.h"

#define DEVICE "ethosu://uio/0"
#define OTHERS 0x5a

/* rounds of the case with two threads; each finds the runs at another place */
#define ROUNDS 40

static const struct model model = { "u65_conv1x1", "u65.npz", { "in0.bin", "ref0.bin" }, 2 };

/* ---- the fakes have no threads: one system call at a time */

static pthread_mutex_t one;
static struct system_calls calls;
static void (*hook)(void); /* called once, by the next wait */

static int one_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	void (*call)(void) = __atomic_exchange_n(&hook, NULL, __ATOMIC_SEQ_CST);
	int ready;

	if (call)
		call();
	pthread_mutex_lock(&one);
	ready = faulty_calls.ppoll(polled, count, timeout);
	pthread_mutex_unlock(&one);
	return ready;
}

static ssize_t one_read(int fd, void *bytes, size_t size)
{
	ssize_t n;

	pthread_mutex_lock(&one);
	n = faulty_calls.read(fd, bytes, size);
	pthread_mutex_unlock(&one);
	return n;
}

static ssize_t one_write(int fd, const void *bytes, size_t size)
{
	ssize_t n;

	pthread_mutex_lock(&one);
	n = faulty_calls.write(fd, bytes, size);
	pthread_mutex_unlock(&one);
	return n;
}

static int one_flock(int fd, int operation)
{
	int err;

	pthread_mutex_lock(&one);
	err = faulty_calls.flock(fd, operation);
	pthread_mutex_unlock(&one);
	return err;
}

static int begin_all(void **state)
{
	int err = tree_setup(state);

	faults_over(&npu_registers_calls);
	calls = faulty_calls;
	calls.ppoll = one_ppoll;
	calls.read = one_read;
	calls.write = one_write;
	calls.flock = one_flock;
	ethosu_uio_source.calls = &calls;
	ethosu_uio_source.root = tree;
	return err;
}

static int end_all(void **state)
{
	npu_registers_stop();
	return tree_teardown(state);
}

static int begin(void **state)
{
	(void)state;
	/* a case that failed inside of a call left it locked */
	pthread_mutex_init(&one, NULL);
	hook = NULL;
	npu_registers_start();
	return 0;
}

/* ---- */

static struct model_session session;

static struct ethosu_uio *device(void)
{
	return ((struct ethosu_device *)session.device)->state;
}

static void stop(void)
{
	model_session_stop(&session);
	tenon_device_close_all();
	assert_nothing_open();
}

/* From now on the memory is somebody else's. */
static void give_to_others(void)
{
	memset(npu_registers_memory(), OTHERS, NPU_REGISTERS_MEMORY_SIZE);
}

static void assert_untouched(void)
{
	const uint8_t *memory = npu_registers_memory();
	size_t i;

	for (i = 0; i < NPU_REGISTERS_MEMORY_SIZE; i++)
		if (memory[i] != OTHERS)
			fail_msg("the memory of others has 0x%02x at 0x%zx", memory[i], i);
}

static void a_device_that_was_given_up_is_not_touched(void **state)
{
	struct tenon_executable *second = NULL;
	struct tenon_kernel *kernel = NULL;

	(void)state;
	model_session_start(&session, DEVICE, &model);
	assert_int_equal(ethosu_uio_give_up(device()), 0);
	give_to_others();
	assert_int_equal(model_session_run(&session), -TENON_E_LOST);
	assert_untouched();
	/* nor is there room for another network */
	assert_int_equal(tenon_executable_create(session.device, session.program, NULL, &second),
			 0);
	assert_int_equal(tenon_executable_kernel(second, 0, &kernel), -TENON_E_LOST);
	assert_untouched();
	assert_int_equal(npu_registers.jobs, 0);
	tenon_object_unref(second);
	stop();
}

static void giving_a_device_up_twice_leaves_it_to_who_has_it_now(void **state)
{
	unsigned int resets;

	(void)state;
	model_session_start(&session, DEVICE, &model);
	assert_int_equal(ethosu_uio_give_up(device()), 0);
	resets = npu_registers.resets;
	assert_int_equal(ethosu_uio_give_up(device()), 0);
	assert_int_equal(npu_registers.resets, resets);
	stop();
}

/* The new owner's job has ended when the old one looks. */
static void lose(void)
{
	assert_int_equal(ethosu_uio_give_up(device()), 0);
	give_to_others();
	npu_registers_raise();
}

static void a_job_whose_device_is_given_up_leaves_the_interrupts_of_others(void **state)
{
	static const enum npu_end ends[] = { NPU_END_HANGS };

	(void)state;
	npu_registers.ends = ends;
	npu_registers.end_count = 1;
	model_session_start(&session, DEVICE, &model);
	hook = lose;
	assert_int_equal(model_session_run(&session), -TENON_E_LOST);
	assert_true(npu_registers_is_raised());
	assert_int_equal(npu_registers.resets, 2);
	assert_untouched();
	stop();
}

/* ---- jobs that run */

static uint32_t may_go_on;
static bool was_released;

/* Keep a job running until the test sets may_go_on, at most ten seconds. */
static void hold(void)
{
	const struct timespec millisecond = { 0, 1000000 };
	unsigned int i;

	for (i = 0; i < 10000 && !__atomic_load_n(&may_go_on, __ATOMIC_ACQUIRE); i++)
		nanosleep(&millisecond, NULL);
	was_released = i < 10000;
}

static void submitting_does_not_wait_for_the_device(void **state)
{
	(void)state;
	may_go_on = 0;
	model_session_start(&session, DEVICE, &model);
	assert_int_equal(tenon_queue_sync(session.queue, UINT64_MAX), 0);
	hook = hold;
	assert_int_equal(model_session_dispatch(&session), 0);
	assert_int_equal(model_session_dispatch(&session), 0);
	__atomic_store_n(&may_go_on, 1, __ATOMIC_RELEASE);
	assert_int_equal(tenon_queue_sync(session.queue, UINT64_MAX), 0);
	assert_true(was_released);
	assert_int_equal(npu_registers.jobs, 2);
	model_session_assert_output(&session);
	stop();
}

static bool was_inside;

static void try_gate(void)
{
	was_inside = pthread_mutex_trylock(&device()->gate);
	if (!was_inside)
		pthread_mutex_unlock(&device()->gate);
}

static void a_reset_is_inside_of_the_gate_and_a_job_that_runs_is_not(void **state)
{
	(void)state;
	model_session_start(&session, DEVICE, &model);
	was_inside = true;
	hook = try_gate;
	assert_int_equal(model_session_run(&session), 0);
	assert_false(was_inside);
	hook = try_gate;
	assert_int_equal(ethosu_uio_give_up(device()), 0);
	assert_true(was_inside);
	stop();
}

static void *run_until_lost(void *unused)
{
	int err = 0;

	(void)unused;
	while (!err)
		err = model_session_run(&session);
	return (void *)(intptr_t)err;
}

static void
a_thread_that_runs_jobs_touches_nothing_when_another_has_given_the_device_up(void **state)
{
	pthread_t thread;
	void *status;
	unsigned int i;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		npu_registers_start();
		model_session_start(&session, DEVICE, &model);
		assert_int_equal(pthread_create(&thread, NULL, run_until_lost, NULL), 0);
		assert_int_equal(ethosu_uio_give_up(device()), 0);
		give_to_others();
		assert_int_equal(pthread_join(thread, &status), 0);
		assert_int_equal((intptr_t)status, -TENON_E_LOST);
		assert_untouched();
		stop();
	}
}

/* ---- a reset that failed */

/* A job hangs, and @resets of the resets that follow do not end it. */
static void hang(unsigned int resets)
{
	static const enum npu_end ends[] = { NPU_END_HANGS };

	npu_registers.ends = ends;
	npu_registers.end_count = 1;
	model_session_start(&session, DEVICE, &model);
	npu_registers.stuck_resets = resets;
	npu_registers_power();
	assert_int_equal(model_session_run(&session), -TENON_E_DEVICE);
	assert_error_has("and then: /dev/uio0: the reset does not end");
	assert_int_equal(npu_registers.resets, 2);
}

static void a_network_is_made_after_a_job_that_hangs_was_ended(void **state)
{
	struct model_session second;

	(void)state;
	hang(1);
	model_session_start(&second, DEVICE, &model);
	assert_int_equal(npu_registers.resets, 3);
	assert_int_equal(model_session_run(&second), 0);
	model_session_assert_output(&second);
	model_session_stop(&second);
	stop();
}

static void memory_in_which_a_job_hangs_is_not_used_again(void **state)
{
	struct model_session second;

	(void)state;
	hang(3);
	give_to_others();
	assert_int_equal(model_session_try(&second, DEVICE, &model), -TENON_E_DEVICE);
	assert_error_has("the reset does not end");
	assert_int_equal(model_session_run(&session), -TENON_E_DEVICE);
	assert_untouched();
	model_session_stop(&second);
	stop();
}

/* ---- registers are no memory */

static void assert_refused(const char *name, const char *words)
{
	struct tenon_device *d;

	assert_int_equal(tenon_device_open(name, &d), -TENON_E_VALUE);
	assert_error_has(words);
	assert_nothing_open();
}

static void memory_in_which_the_registers_are_is_refused(void **state)
{
	(void)state;
	assert_refused(DEVICE "?memory=0", "/dev/uio0, map 0: its registers are in it");
	tree_text("/sys/class/u-dma-buf/udmabuf0/phys_addr", "0x43bf0000\n");
	assert_refused(DEVICE "?memory=udmabuf0", "/dev/udmabuf0: its registers are in it");
	tree_text("/sys/class/u-dma-buf/udmabuf0/phys_addr", "0x43c00040\n");
	assert_refused(DEVICE "?memory=udmabuf0", "/dev/udmabuf0: its registers are in it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_device_that_was_given_up_is_not_touched, begin),
		cmocka_unit_test_setup(giving_a_device_up_twice_leaves_it_to_who_has_it_now, begin),
		cmocka_unit_test_setup(
			a_job_whose_device_is_given_up_leaves_the_interrupts_of_others, begin),
		cmocka_unit_test_setup(submitting_does_not_wait_for_the_device, begin),
		cmocka_unit_test_setup(a_reset_is_inside_of_the_gate_and_a_job_that_runs_is_not,
				       begin),
		cmocka_unit_test_setup(
			a_thread_that_runs_jobs_touches_nothing_when_another_has_given_the_device_up,
			begin),
		cmocka_unit_test_setup(a_network_is_made_after_a_job_that_hangs_was_ended, begin),
		cmocka_unit_test_setup(memory_in_which_a_job_hangs_is_not_used_again, begin),
		cmocka_unit_test_setup(memory_in_which_the_registers_are_is_refused, begin),
	};

	return cmocka_run_group_tests(tests, begin_all, end_all);
}
