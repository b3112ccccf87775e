/* SPDX-License-Identifier: MIT */
/*
 * The thread pool. Each worker has its own cache line, where the launcher writes the job and then a
 * new ticket: starting a task and finishing it each move one cache line.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <tenon/error.h>
#include <tenon/parallel.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"
#include "runtime/core/barrier.h"
#include "runtime/core/parallel_alone.h"
#include "runtime/core/processors.h"

#define TICKET_ASLEEP  1u
#define TICKET_STEP    2u
#define PENDING_ASLEEP 0x80000000u

struct job {
	tenon_parallel_fn fn; /* NULL: stop */
	void *closure;
	int32_t tasks;
};

struct worker {
	_Alignas(64) uint32_t ticket;
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
	struct worker *workers;	   /* [0] is the launcher: not used */
	struct worker *abandoned;  /* workers of the parent, after fork() inside a task */
	int32_t failed;		   /* return value of the first task that failed */
	struct tenon_error *error; /* its error, if a worker ran it */
	struct spin spin;
	struct barrier barrier;
	_Alignas(64) uint32_t pending;
} pool;

static __thread bool inside_task;

/* ---- workers */

static void note_failure(int status, bool worker)
{
	int32_t none = 0;
	bool first = __atomic_compare_exchange_n(&pool.failed, &none, status, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED);
	struct tenon_error *error;

	if (worker) {
		error = tenon_error_take();
		tenon_error_clear();
		if (first)
			pool.error = error;
		else
			tenon_object_unref(error);
		tenon_workspace_reclaim(0);
	}
	barrier_fail(&pool.barrier);
}

static void worker_done(void)
{
	if (__atomic_sub_fetch(&pool.pending, 1, __ATOMIC_ACQ_REL) == PENDING_ASLEEP)
		futex_wake_one(&pool.pending);
}

/* Wait until the ticket differs from @seen, and return it. */
static uint32_t worker_wait(struct worker *w, uint32_t seen)
{
	uint32_t now = seen;

	if (spin_until(&w->spin, &w->ticket, ~0u, seen, false))
		return __atomic_load_n(&w->ticket, __ATOMIC_ACQUIRE);
	if (!__atomic_compare_exchange_n(&w->ticket, &now, seen | TICKET_ASLEEP, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return now;
	do {
		futex_wait(&w->ticket, seen | TICKET_ASLEEP);
		now = __atomic_load_n(&w->ticket, __ATOMIC_ACQUIRE);
	} while (now == (seen | TICKET_ASLEEP));
	return now;
}

static void *worker_main(void *self)
{
	struct worker *w = self;
	struct tenon_parallel_env env = { &pool.barrier, 0 };
	uint32_t ticket = 0, forked = __atomic_load_n(&pool.forked, __ATOMIC_RELAXED);
	struct job job;
	int err;

	prctl(PR_SET_NAME, "tenon-worker");
	if (pool.pin)
		processors_pin(w->task);
	inside_task = true;
	for (;;) {
		ticket = worker_wait(w, ticket);
		job = w->job;
		if (!job.fn)
			return NULL;
		env.tasks = job.tasks;
		err = job.fn(w->task, &env, job.closure);
		if (__atomic_load_n(&pool.forked, __ATOMIC_RELAXED) != forked)
			return NULL;
		if (err)
			note_failure(err, true);
		worker_done();
	}
}

static void worker_send(struct worker *w, const struct job *job)
{
	uint32_t ticket = __atomic_load_n(&w->ticket, __ATOMIC_RELAXED) & ~TICKET_ASLEEP, old;

	w->job = *job;
	old = __atomic_exchange_n(&w->ticket, ticket + TICKET_STEP, __ATOMIC_ACQ_REL);
	if (old & TICKET_ASLEEP)
		futex_wake_one(&w->ticket);
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

	for (i = 1; i < pool.size; i++)
		worker_send(&pool.workers[i], &stop);
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

	w->ticket = 0;
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

	pool.may_spin = want <= processors_allowed();
	pool.spin.budget_ns = pool.may_spin ? SPIN_MOST_NS : 0;
	if (!pool.fork_handled)
		pool.fork_handled = !pthread_atfork(NULL, NULL, pool_forked);
	pool.size = 1;
	pool.workers = aligned_alloc(_Alignof(struct worker), (size_t)want * sizeof(*pool.workers));
	if (!pool.workers)
		return;
	while (pool.size < want && worker_start(&pool.workers[pool.size], pool.size))
		pool.size++;
}

/* ---- launches */

static void wait_for_workers(void)
{
	uint32_t now;

	if (spin_until(&pool.spin, &pool.pending, ~0u, 0, true))
		return;
	now = __atomic_fetch_or(&pool.pending, PENDING_ASLEEP, __ATOMIC_ACQ_REL);
	for (now |= PENDING_ASLEEP; now & ~PENDING_ASLEEP;) {
		futex_wait(&pool.pending, now);
		now = __atomic_load_n(&pool.pending, __ATOMIC_ACQUIRE);
	}
}

static int collect_failure(int own)
{
	struct tenon_error *error = pool.error;

	pool.error = NULL;
	if (error)
		tenon_error_raise(error);
	else if (!own)
		tenon_error(-TENON_E_CALL, "a parallel task failed without saying why");
	tenon_object_unref(error);
	return pool.failed;
}

static int run_parallel(const struct job *job)
{
	struct tenon_parallel_env env = { &pool.barrier, job->tasks };
	uint32_t forked = __atomic_load_n(&pool.forked, __ATOMIC_RELAXED);
	int32_t i;
	int err;

	__atomic_store_n(&pool.failed, 0, __ATOMIC_RELAXED);
	barrier_reset(&pool.barrier, pool.may_spin);
	__atomic_store_n(&pool.pending, (uint32_t)job->tasks - 1, __ATOMIC_RELAXED);
	for (i = 1; i < job->tasks; i++)
		worker_send(&pool.workers[i], job);
	inside_task = true;
	err = job->fn(0, &env, job->closure);
	inside_task = false;
	if (__atomic_load_n(&pool.forked, __ATOMIC_RELAXED) != forked)
		return tenon_error(-TENON_E_USAGE,
				   "the process forked inside a parallel launch: its other tasks "
				   "stayed with the parent");
	if (err)
		note_failure(err, false);
	wait_for_workers();
	return __atomic_load_n(&pool.failed, __ATOMIC_RELAXED) ? collect_failure(err) : 0;
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
	__atomic_store_n(&pool.asked, workers, __ATOMIC_RELAXED);
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
