/* SPDX-License-Identifier: MIT */
/* fork() waits a limited time for threads inside the gate. A thread that enters meanwhile waits until fork() returns. */
#include "suite.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/fork_gate.h"

static bool is_inside, may_leave; /* atomic */

static void pause_a_little(void)
{
	const struct timespec t = { 0, 20000000 };

	nanosleep(&t, NULL);
}

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(bool *flag, bool value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

static void *stay_inside(void *unused)
{
	fork_gate_enter();
	fork_gate_enter();
	set(&is_inside, true);
	while (!is_set(&may_leave))
		pause_a_little();
	fork_gate_leave();
	fork_gate_leave();
	return unused;
}

static void *fork_once(void *unused)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		/* the gate is of use in the child */
		fork_gate_enter();
		fork_gate_leave();
		_exit(7);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
		return (void *)"failed";
	return unused;
}

static void *go_through(void *unused)
{
	fork_gate_enter();
	fork_gate_leave();
	return unused;
}

static pthread_t begin(void *(*act)(void *unused))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, act, NULL), 0);
	return thread;
}

static void end(pthread_t thread)
{
	void *failed;

	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
}

static pthread_t begin_inside(void)
{
	pthread_t thread;

	set(&is_inside, false);
	set(&may_leave, false);
	thread = begin(stay_inside);
	while (!is_set(&is_inside))
		pause_a_little();
	return thread;
}

static void forks_and_threads_wait_for_each_other(void **state)
{
	pthread_t inside = begin_inside(), forks[2], through;

	(void)state;
	forks[0] = begin(fork_once);
	pause_a_little();
	forks[1] = begin(fork_once);
	through = begin(go_through);
	pause_a_little();
	set(&may_leave, true);
	end(inside);
	end(forks[0]);
	end(forks[1]);
	end(through);
}

static void a_fork_does_not_wait_for_ever(void **state)
{
	pthread_t inside = begin_inside();

	(void)state;
	end(begin(fork_once));
	set(&may_leave, true);
	end(inside);
}

static void a_thread_inside_may_fork(void **state)
{
	(void)state;
	fork_gate_enter();
	assert_null(fork_once(NULL));
	fork_gate_leave();
	assert_null(fork_once(NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(forks_and_threads_wait_for_each_other),
		cmocka_unit_test(a_fork_does_not_wait_for_ever),
		cmocka_unit_test(a_thread_inside_may_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
