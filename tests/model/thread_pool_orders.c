/* SPDX-License-Identifier: MIT */
/* The thread pool and its barrier under weak memory order: each order of launches with two and three tasks. */
#include "tests/model/explore.h"

#include <tenon/backend/parallel.h>

#include "runtime/core/barrier.c"
#include "runtime/core/thread_pool.c"

#include "tests/unit/suite.h"

static struct worker workers[4]; /* [0] is the launcher, the last is never offered */
static int input, output[3], runs[3];
static int owned; /* stands for what only the owner of the pool may access */
static bool with_barriers;
static uint32_t begun, all_begun; /* tasks that meet; whether all have */
static uint32_t launches;

static int task(int number, struct tenon_parallel_env *env, void *closure)
{
	int next = (number + 1) % env->tasks;

	(void)closure;
	explore_reads(&input);
	explore_writes(&output[number]);
	output[number] = input + number;
	runs[number]++;
	if (!with_barriers)
		return 0;
	if (tenon_parallel_barrier(number, env))
		return -TENON_E_CALL;
	/* what another one wrote */
	explore_reads(&output[next]);
	if (output[next] != input + next)
		explore_fail("a barrier let a task pass too soon");
	return tenon_parallel_barrier(number, env);
}

static void begin(void)
{
	memset(&pool, 0, sizeof(pool));
	memset(workers, 0, sizeof(workers));
	memset(runs, 0, sizeof(runs));
	workers[1].task = 1;
	workers[2].task = 2;
	pool.workers = workers;
	pool.size = 2;
	inside_task = with_barriers = false;
	begun = all_begun = 0;
	launches = 0;
}

static void begin_with_three(void)
{
	begin();
	pool.size = 3;
}

static void launch(int number)
{
	int i;

	explore_writes(&input);
	input = number;
	if (tenon_parallel_launch(task, NULL, 0))
		explore_fail("a launch failed");
	for (i = 0; i < pool.size; i++) {
		explore_reads(&output[i]);
		if (output[i] != number + i)
			explore_fail("a launch ended before its tasks");
		if (runs[i] != number / 10)
			explore_fail("a task ran not once");
	}
}

static void stop(void)
{
	int i;

	explore_writes(&owned);
	pool.launch += LAUNCH_STEP;
	for (i = 1; i < pool.size; i++)
		worker_offer(&workers[i], &(const struct job){ NULL, NULL, 0 });
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
	with_barriers = true;
	launch_once();
}

/* As a barrier, with fewer orders to explore. */
static int meet(int number, struct tenon_parallel_env *env, void *closure)
{
	(void)number, (void)closure;
	if (__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED) < (uint32_t)env->tasks) {
		futex_wait(&all_begun, 0);
		return 0;
	}
	__atomic_store_n(&all_begun, 1, __ATOMIC_RELAXED);
	futex_wake_all(&all_begun);
	return 0;
}

/* A worker that comes late, after a launch whose tasks others took, meets the next one, whose tasks have to begin all. */
static void begin_after_a_launch(void)
{
	begin_with_three();
	pool.launch = LAUNCH_STEP;
	workers[1].offer = workers[2].offer = LAUNCH_STEP;
}

static void launch_that_meets(void)
{
	if (tenon_parallel_launch(meet, NULL, 0))
		explore_fail("a launch failed");
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
	if (number)
		return 0;
	if (env->tasks > 1)
		explore_writes(&owned);
	return count_task(0, env, closure);
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

static void second_worker(void)
{
	worker_main(&workers[2]);
}

static void end(void)
{
}

#define LOCAL NULL, sizeof(inside_task)

static struct explore_model models[] = {
	{ 2, { launch_once, worker }, begin, end, 0, LOCAL },
	{ 2, { launch_twice, worker }, begin, end, 2, LOCAL },
	{ 2, { launch_with_barriers, worker }, begin, end, 2, LOCAL },
	{ 3, { launch_beside, launch_beside, worker }, begin, end, 2, LOCAL },
	{ 3, { launch_twice, worker, second_worker }, begin_with_three, end, 1, LOCAL },
	{ 3, { launch_that_meets, worker, second_worker }, begin_after_a_launch, end, 1, LOCAL },
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

static void no_order_breaks_launches_of_three_tasks(void **state)
{
	(void)state;
	no_order_breaks(&models[4]);
}

static void no_order_keeps_tasks_from_meeting_that_wait_for_each_other(void **state)
{
	(void)state;
	no_order_breaks(&models[5]);
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
		NULL,
	};

	(void)state;
	if (!getenv("FULL") || !*getenv("FULL")) {
		print_message("# 15 seconds of processor time: FULL=1, or named by SUITE\n");
		skip();
	}
	assert_true(explore_each_half(models, sizeof(models) / sizeof(models[0]), survivors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_breaks_a_launch),
		cmocka_unit_test(no_order_breaks_two_launches),
		cmocka_unit_test(no_order_breaks_two_barriers),
		cmocka_unit_test(no_order_breaks_two_launchers),
		cmocka_unit_test(no_order_breaks_launches_of_three_tasks),
		cmocka_unit_test(no_order_keeps_tasks_from_meeting_that_wait_for_each_other),
		cmocka_unit_test(each_order_that_is_taken_away_breaks_it),
	};
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		models[i].local = &inside_task;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
