/* SPDX-License-Identifier: MIT */
/* Parallel launches, barriers and failures of tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "tests/unit/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tenon/backend/parallel.h>
#include <tenon/error.h>
#include <tenon/threads.h>
#include <tenon/workspace.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

#define MOST 16

struct seen {
	int tasks[MOST]; /* how many tasks each was told */
	int runs[MOST];
	int met; /* tasks that are running now */
	int nested;
};

static int count_run(int task, struct tenon_parallel_env *env, void *closure)
{
	struct seen *s = closure;

	s->tasks[task] = env->tasks;
	s->runs[task]++;
	return 0;
}

static void assert_ran(const struct seen *s, int tasks, int runs)
{
	int i;

	for (i = 0; i < MOST; i++) {
		assert_int_equal(s->runs[i], i < tasks ? runs : 0);
		assert_int_equal(s->tasks[i], i < tasks ? tasks : 0);
	}
}

static int with_workers(void **state)
{
	(void)state;
	return tenon_parallel_configure(4, false);
}

static void every_task_runs_once(void **state)
{
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(tenon_parallel_workers(), 4);
	assert_int_equal(tenon_parallel_launch(count_run, &s, 0), 0);
	assert_ran(&s, 4, 1);
	memset(&s, 0, sizeof(s));
	assert_int_equal(tenon_parallel_launch(count_run, &s, 3), 0);
	assert_ran(&s, 3, 1);
}

static void more_tasks_than_workers_run_as_many_as_there_are(void **state)
{
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(tenon_parallel_launch(count_run, &s, 1000), 0);
	assert_ran(&s, 4, 1);
}

static int wait_for_all(int task, struct tenon_parallel_env *env, void *closure)
{
	struct seen *s = closure;

	(void)task;
	__atomic_add_fetch(&s->met, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&s->met, __ATOMIC_SEQ_CST) < env->tasks)
		sched_yield();
	return 0;
}

static void tasks_run_at_the_same_time(void **state)
{
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(tenon_parallel_launch(wait_for_all, &s, 0), 0);
	assert_int_equal(s.met, 4);
}

static void launches_follow_each_other_without_losing_a_task(void **state)
{
	struct seen s = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		assert_int_equal(tenon_parallel_launch(count_run, &s, 0), 0);
	assert_ran(&s, 4, 20000);
}

#define ROUNDS 10000

struct rounds {
	int step[MOST];
	int bad;
};

/* between two barriers each task writes its own number and reads its neighbour's */
static int step_by_step(int task, struct tenon_parallel_env *env, void *closure)
{
	struct rounds *r = closure;
	int i, next = (task + 1) % env->tasks;

	for (i = 1; i <= ROUNDS; i++) {
		r->step[task] = i;
		if (tenon_parallel_barrier(task, env))
			return -1;
		if (r->step[next] != i)
			__atomic_add_fetch(&r->bad, 1, __ATOMIC_RELAXED);
		if (tenon_parallel_barrier(task, env))
			return -1;
	}
	return 0;
}

static void a_barrier_holds_twenty_thousand_times(void **state)
{
	struct rounds r = { { 0 }, 0 };
	int i;

	(void)state;
	assert_int_equal(tenon_parallel_launch(step_by_step, &r, 0), 0);
	assert_int_equal(r.bad, 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(r.step[i], ROUNDS);
}

struct failure {
	int task; /* which one fails */
	bool barrier;
};

static int fail_one(int task, struct tenon_parallel_env *env, void *closure)
{
	const struct failure *f = closure;
	DLDevice cpu = { kDLCPU, 0 };

	if (task == f->task) {
		tenon_workspace_alloc(cpu, 100);
		return tenon_error(-TENON_E_VALUE, "task %d has had enough", task);
	}
	return f->barrier ? tenon_parallel_barrier(task, env) : 0;
}

static void the_error_of_a_task_arrives_at_the_launcher(void **state)
{
	struct failure f;
	char text[64];

	(void)state;
	for (f.barrier = false, f.task = 0; f.task < 4; f.task++) {
		tenon_error_clear();
		assert_int_equal(tenon_parallel_launch(fail_one, &f, 0), -TENON_E_VALUE);
		snprintf(text, sizeof(text), "task %d has had enough", f.task);
		assert_string_equal(tenon_error_kind(), "ValueError");
		assert_error(text);
	}
	tenon_workspace_reclaim(0);
	tenon_error_clear();
}

static void a_barrier_lets_go_when_a_task_fails(void **state)
{
	struct failure f = { 0, true };
	char text[64];
	int i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		f.task = i % 4;
		assert_int_equal(tenon_parallel_launch(fail_one, &f, 0), -TENON_E_VALUE);
		snprintf(text, sizeof(text), "task %d has had enough", f.task);
		assert_error(text);
	}
	tenon_workspace_reclaim(0);
}

static void tasks_that_meet_all_begin_after_launches_that_end_early(void **state)
{
	struct seen s = { 0 };
	struct failure none = { -1, true };
	int i;

	(void)state;
	for (i = 0; i < 500; i++) {
		assert_int_equal(tenon_parallel_launch(count_run, &s, 1 + i % 4), 0);
		assert_int_equal(tenon_parallel_launch(fail_one, &none, 0), 0);
	}
}

static __thread char of_thread;

static int note_thread(int task, struct tenon_parallel_env *env, void *closure)
{
	(void)env;
	((char **)closure)[task] = &of_thread;
	return 0;
}

static void a_thread_that_is_done_takes_tasks_that_have_not_begun(void **state)
{
	char *threads[4];
	int i, j, same = 0;

	(void)state;
	for (i = 0; i < 100000 && !same; i++) {
		assert_int_equal(tenon_parallel_launch(note_thread, threads, 0), 0);
		assert_ptr_equal(threads[0], &of_thread);
		for (j = 1; j < 4; j++)
			same += threads[j] == threads[j - 1];
	}
	assert_true(same);
}

static int fail_silently(int task, struct tenon_parallel_env *env, void *closure)
{
	(void)env;
	(void)closure;
	return task == 2 ? -7 : 0;
}

static void a_task_that_fails_without_a_word_is_reported(void **state)
{
	(void)state;
	tenon_error_clear();
	assert_int_equal(tenon_parallel_launch(fail_silently, NULL, 0), -7);
	assert_error("a parallel task failed without saying why");
}

static int launch_inside(int task, struct tenon_parallel_env *env, void *closure)
{
	struct seen inner = { 0 }, *s = closure;
	int err = tenon_parallel_launch(count_run, &inner, 0);

	(void)task;
	(void)env;
	if (inner.runs[0] == 1 && inner.tasks[0] == 1)
		__atomic_add_fetch(&s->nested, 1, __ATOMIC_RELAXED);
	return err;
}

static void a_launch_inside_a_task_runs_there_as_one_task(void **state)
{
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(tenon_parallel_launch(launch_inside, &s, 0), 0);
	assert_int_equal(s.nested, 4);
}

static int configure_inside(int task, struct tenon_parallel_env *env, void *closure)
{
	(void)task;
	(void)env;
	(void)closure;
	return tenon_parallel_configure(2, false);
}

static void the_pool_cannot_be_changed_from_a_task(void **state)
{
	(void)state;
	assert_int_equal(tenon_parallel_launch(configure_inside, NULL, 0), -TENON_E_USAGE);
	assert_int_equal(tenon_parallel_workers(), 4);
	assert_int_equal(tenon_parallel_configure(-1, false), -TENON_E_USAGE);
	assert_int_equal(tenon_parallel_launch(count_run, NULL, -1), -TENON_E_USAGE);
	tenon_error_clear();
}

static void *launch_many(void *count)
{
	struct seen s;
	int i, total = 0;

	for (i = 0; i < 2000; i++) {
		memset(&s, 0, sizeof(s));
		if (tenon_parallel_launch(count_run, &s, 0))
			return NULL;
		/* all of the pool, or alone */
		total += (s.tasks[0] == 4 && s.runs[3] == 1) || (s.tasks[0] == 1 && !s.runs[1]);
	}
	*(int *)count = total;
	return NULL;
}

static void threads_that_launch_together_do_not_mix_their_tasks(void **state)
{
	pthread_t thread[3];
	int count[3] = { 0 }, i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, launch_many, &count[i]), 0);
	for (i = 0; i < 3; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(count[i], 2000);
	}
}

static void the_pool_changes_its_size(void **state)
{
	struct seen s;
	int n;

	(void)state;
	for (n = 1; n <= 8; n++) {
		memset(&s, 0, sizeof(s));
		assert_int_equal(tenon_parallel_configure(n, n & 1), 0);
		assert_int_equal(tenon_parallel_launch(count_run, &s, 0), 0);
		assert_ran(&s, n, 1);
	}
}

static int in_child(void)
{
	struct seen s = { 0 };

	if (tenon_parallel_launch(count_run, &s, 0))
		return 1;
	/* a sanitizer forbids new threads here, but not the launch of one task */
	return s.runs[0] == 1 && s.runs[3] == 1 ? 0 : 2;
}

/* qemu-user cannot fork a process that has threads, a sanitizer of threads may not */
static bool under_emulator(void)
{
	const char *emulator = getenv("EMULATOR");

	return emulator && strstr(emulator, "qemu");
}

static void skip_fork(void)
{
	print_message("# a process with threads cannot be forked here\n");
	skip();
}

static void a_child_process_makes_a_pool_of_its_own(void **state)
{
	struct seen s = { 0 };
	int i, status;
	pid_t pid;

	(void)state;
	if (UNDER_TSAN || under_emulator())
		skip_fork();
	for (i = 0; i < 20; i++) {
		assert_int_equal(tenon_parallel_launch(count_run, &s, 0), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			_exit(in_child());
		assert_int_equal(tenon_parallel_launch(count_run, &s, 0), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_ran(&s, 4, 40);
}

static pid_t parent;

static int fork_inside(int task, struct tenon_parallel_env *env, void *closure)
{
	(void)env;
	if (task == 0)
		*(pid_t *)closure = fork();
	return 0;
}

static void a_fork_in_the_middle_of_a_launch_fails_in_the_child_only(void **state)
{
	pid_t pid = -1;
	int err, status;

	(void)state;
	if (UNDER_TSAN || under_emulator())
		skip_fork();
	parent = getpid();
	err = tenon_parallel_launch(fork_inside, &pid, 0);
	if (getpid() != parent)
		_exit(err == -TENON_E_USAGE && !in_child() ? 0 : 1);
	assert_int_equal(err, 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static void an_idle_pool_burns_no_processor_time(void **state)
{
	struct timespec pause = { 0, 300 * 1000 * 1000 };
	struct seen s = { 0 };
	double before;

	(void)state;
	assert_int_equal(tenon_parallel_launch(count_run, &s, 0), 0);
	before = cpu_ms();
	nanosleep(&pause, NULL);
	assert_true(cpu_ms() - before < 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_task_runs_once, with_workers),
		cmocka_unit_test_setup(more_tasks_than_workers_run_as_many_as_there_are,
				       with_workers),
		cmocka_unit_test_setup(tasks_run_at_the_same_time, with_workers),
		cmocka_unit_test_setup(launches_follow_each_other_without_losing_a_task,
				       with_workers),
		cmocka_unit_test_setup(a_barrier_holds_twenty_thousand_times, with_workers),
		cmocka_unit_test_setup(the_error_of_a_task_arrives_at_the_launcher, with_workers),
		cmocka_unit_test_setup(a_barrier_lets_go_when_a_task_fails, with_workers),
		cmocka_unit_test_setup(tasks_that_meet_all_begin_after_launches_that_end_early,
				       with_workers),
		cmocka_unit_test_setup(a_thread_that_is_done_takes_tasks_that_have_not_begun,
				       with_workers),
		cmocka_unit_test_setup(a_task_that_fails_without_a_word_is_reported, with_workers),
		cmocka_unit_test_setup(a_launch_inside_a_task_runs_there_as_one_task, with_workers),
		cmocka_unit_test_setup(the_pool_cannot_be_changed_from_a_task, with_workers),
		cmocka_unit_test_setup(threads_that_launch_together_do_not_mix_their_tasks,
				       with_workers),
		cmocka_unit_test(the_pool_changes_its_size),
		cmocka_unit_test_setup(a_child_process_makes_a_pool_of_its_own, with_workers),
		cmocka_unit_test_setup(a_fork_in_the_middle_of_a_launch_fails_in_the_child_only,
				       with_workers),
		cmocka_unit_test_setup(an_idle_pool_burns_no_processor_time, with_workers),
	};
	int failed = cmocka_run_group_tests_name("thread_pool", tests, NULL, NULL);

	tenon_parallel_configure(0, false);
	return failed;
}
