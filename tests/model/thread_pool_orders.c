/* SPDX-License-Identifier: MIT */
/* The thread pool and its barrier under weak memory order: each order of two launches with two tasks. */
#include "tests/model/explore.h"

#include "runtime/core/barrier.c"
#include "runtime/core/thread_pool.c"

#include "tests/unit/suite.h"

static struct worker workers[2];
static int input, output[2];
static bool with_barrier;
static uint32_t launches;

static int task(int number, struct tenon_parallel_env *env, void *closure)
{
	(void)closure;
	explore_reads(&input);
	explore_writes(&output[number]);
	output[number] = input + number;
	if (with_barrier) {
		if (tenon_parallel_barrier(number, env))
			return -TENON_E_CALL;
		/* what the other one wrote */
		explore_reads(&output[1 - number]);
		if (output[1 - number] != input + 1 - number)
			explore_fail("a barrier let a task pass too soon");
		if (tenon_parallel_barrier(number, env))
			return -TENON_E_CALL;
	}
	return 0;
}

static void begin(void)
{
	memset(&pool, 0, sizeof(pool));
	memset(workers, 0, sizeof(workers));
	workers[1].task = 1;
	pool.workers = workers;
	pool.size = 2;
	inside_task = with_barrier = false;
	launches = 0;
}

static void launch(int number)
{
	int i;

	explore_writes(&input);
	input = number;
	if (tenon_parallel_launch(task, NULL, 2))
		explore_fail("a launch failed");
	for (i = 0; i < 2; i++) {
		explore_reads(&output[i]);
		if (output[i] != number + i)
			explore_fail("a launch ended before its tasks");
	}
}

static void stop(void)
{
	worker_send(&workers[1], &(const struct job){ NULL, NULL, 0 });
}

static void launch_once(void)
{
	launch(10);
	stop();
}

static void launch_twice(void)
{
	launch(10);
	launch(20);
	stop();
}

static void launch_with_barriers(void)
{
	with_barrier = true;
	launch(10);
	stop();
}

/* Two threads launch; the one that finds the pool busy runs its tasks itself. */
static int count_task(int number, struct tenon_parallel_env *env, void *closure)
{
	(void)number, (void)env;
	explore_writes(closure);
	++*(int *)closure;
	return 0;
}

static int count_inside(int number, struct tenon_parallel_env *env, void *closure)
{
	(void)env;
	if (!number)
		return count_task(0, env, closure);
	explore_reads(&pool.failed);
	return 0;
}

static void launch_beside(void)
{
	int tasks = 0;

	if (tenon_parallel_launch(count_inside, &tasks, 2) || tasks != 1)
		explore_fail("a launch beside another ran no task");
	if (__atomic_add_fetch(&launches, 1, __ATOMIC_ACQ_REL) == 2)
		stop();
}

static void worker(void)
{
	worker_main(&workers[1]);
}

static void end(void)
{
}

static struct explore_model models[] = {
	{ 2, { launch_once, worker }, begin, end, 0, NULL, sizeof(inside_task) },
	{ 2, { launch_twice, worker }, begin, end, 2, NULL, sizeof(inside_task) },
	{ 2, { launch_with_barriers, worker }, begin, end, 2, NULL, sizeof(inside_task) },
	{ 3, { launch_beside, launch_beside, worker }, begin, end, 2, NULL, sizeof(inside_task) },
};

static void no_order_breaks(const struct explore_model *model)
{
	const char *broken = explore(model, true);

	print_message("# %llu orders\n", (unsigned long long)explore_orders);
	assert_null(broken);
}

static void no_order_breaks_a_launch(void **state)
{
	(void)state;
	no_order_breaks(&models[0]);
}

static void no_order_breaks_two_launches(void **state)
{
	(void)state;
	no_order_breaks(&models[1]);
}

static void no_order_breaks_two_barriers(void **state)
{
	(void)state;
	no_order_breaks(&models[2]);
}

static void no_order_breaks_two_launchers(void **state)
{
	(void)state;
	no_order_breaks(&models[3]);
}

/*
 * What the code has beyond what this needs: halves of operations of which the other half is needed, or that a sleep follows,
 * which looks at the word again.
 */
static void each_order_that_is_taken_away_breaks_it(void **state)
{
	static const char *const survivors[] = {
		/* the acquire that counts is that of add_fetch() and of the last load */
		"barrier_wait load acquire",
		/* the opener has joined all that arrived; the sleeper publishes nothing */
		"barrier_open swap acquire",
		"barrier_sleep swap release",
		"barrier_sleep swap acquire",
		/* one worker alone has nothing to learn of others; the launcher learns at its wait */
		"worker_done update acquire",
		/* the worker has nothing to tell before its job, nor the launcher before its wait */
		"worker_wait swap release",
		"wait_for_workers update release",
		"worker_send update acquire",
		NULL,
	};

	(void)state;
	if (!getenv("FULL") || !*getenv("FULL")) {
		print_message("# 15 seconds of processor time: FULL=1, or named by SUITE\n");
		skip();
	}
	assert_true(explore_each_half(models, 4, survivors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_breaks_a_launch),
		cmocka_unit_test(no_order_breaks_two_launches),
		cmocka_unit_test(no_order_breaks_two_barriers),
		cmocka_unit_test(no_order_breaks_two_launchers),
		cmocka_unit_test(each_order_that_is_taken_away_breaks_it),
	};
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		models[i].local = &inside_task;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
