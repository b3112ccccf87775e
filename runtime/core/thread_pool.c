/* SPDX-License-Identifier: MIT */
/*
 * The thread pool, which runs the tasks of a parallel launch.
 *
 * Each worker has its own cache line, where the launcher offers it a task: the job, and then the number of the launch.
 * Normally the worker takes its task. If it is late, a thread whose own task has returned takes the task instead, so
 * that the launch does not wait for the worker.
 *
 * Tasks may wait for each other in tenon_parallel_barrier(), so every task has to begin even while others wait. This
 * holds: a thread runs a second task only after its first one has returned, and a worker takes the task of another
 * worker only in a launch in which its own task has begun. So if a task has not begun, its worker is in no other task
 * of the launch, and will begin this one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <tenon/backend/parallel.h>
#include <tenon/error.h>
#include <tenon/threads.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"
#include "runtime/core/barrier.h"
#include "runtime/core/parallel_alone.h"
#include "runtime/core/processors.h"

#define OFFER_OPEN     1u /* no thread has begun the task */
#define OFFER_ASLEEP   2u /* the worker sleeps; never with OFFER_OPEN */
#define LAUNCH_STEP    4u
#define PENDING_ASLEEP 0x80000000u

struct job {
	tenon_parallel_fn fn; /* NULL: stop */
	void *closure;
	int32_t tasks;
};

struct worker {
	_Alignas(64) uint32_t offer; /* OFFER_* flags, number of the launch above them */
	int32_t task;
	struct job job;
	pthread_t thread;
	struct spin spin;
};

static struct pool {
	uint32_t busy;	 /* a thread launches or configures: owns the pool */
	uint32_t forked; /* number of forks since the pool was made */
	int32_t asked;	 /* by tenon_parallel_configure(); 0 for the default */
	int32_t detected;
	bool pin;
	bool fork_handled;
	bool may_spin;
	int32_t size;		   /* threads including the launcher; 0: not started */
	uint32_t launch;	   /* number of the last launch, in steps of LAUNCH_STEP */
	struct worker *workers;	   /* [0] is the launcher: not used; one more is never offered */
	struct worker *abandoned;  /* workers of the parent, after fork() inside a task */
	int32_t failed;		   /* return value of the first task that failed */
	struct tenon_error *error; /* its error */
	struct spin spin;
	struct barrier barrier;
	_Alignas(64) uint32_t pending;
} pool;

static __thread bool inside_task;

/* ---- tasks */

static void note_failure(int status, bool worker)
{
	int32_t none = 0;
	bool first = __atomic_compare_exchange_n(&pool.failed, &none, status, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED);
	struct tenon_error *error = tenon_error_take();

	tenon_error_clear();
	if (first)
		pool.error = error;
	else
		tenon_object_unref(error);
	if (worker)
		tenon_workspace_reclaim(0);
	barrier_fail(&pool.barrier);
}

/* Run a task; false in a child process that it forked. */
static bool task_run(const struct job *job, int32_t task, bool worker)
{
	struct tenon_parallel_env env = { &pool.barrier, job->tasks };
	uint32_t forked = __atomic_load_n(&pool.forked, __ATOMIC_RELAXED);
	int err = job->fn(task, &env, job->closure);

	if (__atomic_load_n(&pool.forked, __ATOMIC_RELAXED) != forked)
		return false;
	if (err)
		note_failure(err, worker);
	return true;
}

static bool offers(const struct worker *w, uint32_t launch)
{
	return __atomic_load_n(&w->offer, __ATOMIC_RELAXED) == (launch | OFFER_OPEN);
}

/* Take the task that @launch offers to @w; false if a thread has begun it. */
static bool task_take(struct worker *w, uint32_t launch)
{
	uint32_t open = launch | OFFER_OPEN;

	return __atomic_compare_exchange_n(&w->offer, &open, launch, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void task_done(void)
{
	if (__atomic_sub_fetch(&pool.pending, 1, __ATOMIC_RELEASE) == PENDING_ASLEEP)
		futex_wake_one(&pool.pending);
}

/* ---- workers */

/* Wait for an offer of a launch after @last, and return the number of that launch. */
static uint32_t worker_wait(struct worker *w, uint32_t last)
{
	uint32_t now = last;

	if (spin_until(&w->spin, &w->offer, ~0u, last, false))
		return __atomic_load_n(&w->offer, __ATOMIC_RELAXED) & ~OFFER_OPEN;
	if (!__atomic_compare_exchange_n(&w->offer, &now, last | OFFER_ASLEEP, 0, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return now & ~OFFER_OPEN;
	do {
		futex_wait(&w->offer, last | OFFER_ASLEEP);
		now = __atomic_load_n(&w->offer, __ATOMIC_RELAXED);
	} while (now == (last | OFFER_ASLEEP));
	spin_learn(&w->spin);
	return now & ~OFFER_OPEN;
}

static void *worker_main(void *self)
{
	struct worker *const own = self, *w;
	uint32_t launch = 0;
	struct job job;

	prctl(PR_SET_NAME, "tenon-worker");
	if (pool.pin)
		processors_pin(own->task);
	inside_task = true;
	for (;;) {
		launch = worker_wait(own, launch);
		/* its own task, and those of the late workers behind it */
		for (w = own; w == own || offers(w, launch); w++) {
			if (!task_take(w, launch))
				continue;
			job = w->job;
			if (!job.fn || !task_run(&job, w->task, true))
				return NULL;
			task_done();
		}
	}
}

static void worker_offer(struct worker *w, const struct job *job)
{
	uint32_t old;

	w->job = *job;
	old = __atomic_exchange_n(&w->offer, pool.launch | OFFER_OPEN, __ATOMIC_RELEASE);
	if (old & OFFER_ASLEEP)
		futex_wake_one(&w->offer);
}

/* ---- the pool; callers of these functions own it */

static bool pool_take(void)
{
	return !__atomic_exchange_n(&pool.busy, 1, __ATOMIC_ACQUIRE);
}

static void pool_give(void)
{
	__atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
}

/* After fork(): the workers do not exist in the child; its first launch starts new ones. */
static void pool_forked(void)
{
	if (pool.workers)
		pool.abandoned = pool.workers;
	pool.workers = NULL;
	pool.size = 0;
	__atomic_store_n(&pool.detected, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&pool.forked, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&pool.pending, 0, __ATOMIC_RELAXED);
	barrier_fail(&pool.barrier);
	pool_give();
}

static void pool_stop(void)
{
	const struct job stop = { NULL, NULL, 0 };
	int32_t i;

	pool.launch += LAUNCH_STEP;
	for (i = 1; i < pool.size; i++)
		worker_offer(&pool.workers[i], &stop);
	for (i = 1; i < pool.size; i++)
		pthread_join(pool.workers[i].thread, NULL);
	free(pool.workers);
	pool.workers = NULL;
	pool.size = 0;
}

static bool worker_start(struct worker *w, int32_t task)
{
	sigset_t all, old;
	int err;

	w->task = task;
	w->spin.budget_ns = pool.may_spin ? SPIN_MOST_NS : 0;
	/* Block all signals, so that the program's own threads receive them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !err;
}

/* Start the threads; use fewer if the system refuses to create more. */
static void pool_start(void)
{
	int32_t want = tenon_parallel_workers();
	size_t bytes = ((size_t)want + 1) * sizeof(*pool.workers);

	pool.may_spin = want <= processors_allowed();
	pool.spin.budget_ns = pool.may_spin ? SPIN_MOST_NS : 0;
	if (!pool.fork_handled)
		pool.fork_handled = !pthread_atfork(NULL, NULL, pool_forked);
	pool.size = 1;
	pool.workers = aligned_alloc(_Alignof(struct worker), bytes);
	if (!pool.workers)
		return;
	memset(pool.workers, 0, bytes);
	while (pool.size < want && worker_start(&pool.workers[pool.size], pool.size))
		pool.size++;
}

/* ---- launches */

static void wait_for_workers(void)
{
	uint32_t now;

	if (spin_until(&pool.spin, &pool.pending, ~0u, 0, true))
		return;
	now = __atomic_fetch_or(&pool.pending, PENDING_ASLEEP, __ATOMIC_ACQUIRE);
	for (now |= PENDING_ASLEEP; now & ~PENDING_ASLEEP;) {
		futex_wait(&pool.pending, now);
		now = __atomic_load_n(&pool.pending, __ATOMIC_ACQUIRE);
	}
	spin_learn(&pool.spin);
}

static int collect_failure(void)
{
	struct tenon_error *error = pool.error;

	pool.error = NULL;
	if (error)
		tenon_error_raise(error);
	else if (pool.failed == -TENON_E_NOMEM)
		tenon_error(-TENON_E_NOMEM, "no memory in a parallel task");
	else
		tenon_error(-TENON_E_CALL, "a parallel task failed without saying why");
	tenon_object_unref(error);
	return pool.failed;
}

/* Run the first task, and then those that no worker has begun; false in a child process. */
static bool run_own(const struct job *job)
{
	struct worker *const workers = pool.workers;
	struct worker *w = &workers[job->tasks];

	if (!task_run(job, 0, false))
		return false;
	/* a signal's handler may fork between two tasks */
	while (pool.workers == workers && --w > workers) {
		if (!offers(w, pool.launch) || !task_take(w, pool.launch))
			continue;
		if (!task_run(job, w->task, false))
			return false;
		task_done();
	}
	return pool.workers == workers;
}

static int run_parallel(const struct job *job)
{
	bool here;
	int32_t i;

	__atomic_store_n(&pool.failed, 0, __ATOMIC_RELAXED);
	barrier_reset(&pool.barrier, pool.may_spin);
	__atomic_store_n(&pool.pending, (uint32_t)job->tasks - 1, __ATOMIC_RELAXED);
	pool.launch += LAUNCH_STEP;
	for (i = 1; i < job->tasks; i++)
		worker_offer(&pool.workers[i], job);
	inside_task = true;
	here = run_own(job);
	inside_task = false;
	if (!here)
		return tenon_error(-TENON_E_USAGE,
				   "the process forked inside a parallel launch: its other tasks "
				   "stayed with the parent");
	wait_for_workers();
	return __atomic_load_n(&pool.failed, __ATOMIC_RELAXED) ? collect_failure() : 0;
}

static int run_serial(const struct job *job)
{
	struct tenon_parallel_env env = { NULL, 1 };

	return job->fn(0, &env, job->closure);
}

bool parallel_alone(bool alone)
{
	bool before = inside_task;

	inside_task = alone;
	return before;
}

int tenon_parallel_launch(tenon_parallel_fn fn, void *closure, int tasks)
{
	struct job job = { fn, closure, tasks };
	int err;

	if (tasks < 0)
		return tenon_error(-TENON_E_USAGE, "a parallel launch of %d tasks", tasks);
	if (tasks == 1 || inside_task || !pool_take())
		return run_serial(&job);
	if (!pool.size)
		pool_start();
	if (!tasks || tasks > pool.size)
		job.tasks = pool.size;
	err = job.tasks > 1 ? run_parallel(&job) : run_serial(&job);
	pool_give();
	return err;
}

int tenon_parallel_barrier(int task, struct tenon_parallel_env *env)
{
	if (env->tasks <= 1 || barrier_wait(env->sync, env->tasks))
		return 0;
	return tenon_error(-TENON_E_CALL, "another task of the parallel launch failed");
}

int tenon_parallel_configure(int workers, bool pin)
{
	if (workers < 0)
		return tenon_error(-TENON_E_USAGE, "a thread pool of %d workers", workers);
	if (inside_task || !pool_take())
		return tenon_error(-TENON_E_USAGE, "the thread pool cannot be changed while a "
						   "parallel launch runs");
	pool_stop();
	__atomic_store_n(&pool.asked, workers < THREADS_MOST ? workers : THREADS_MOST,
			 __ATOMIC_RELAXED);
	pool.pin = pin;
	pool_give();
	return 0;
}

int tenon_parallel_workers(void)
{
	int32_t n = __atomic_load_n(&pool.asked, __ATOMIC_RELAXED);

	if (!n)
		n = __atomic_load_n(&pool.detected, __ATOMIC_RELAXED);
	if (!n) {
		n = processors_asked();
		n = n ? n : processors_allowed();
		__atomic_store_n(&pool.detected, n, __ATOMIC_RELAXED);
	}
	return n;
}
