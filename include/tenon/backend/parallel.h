/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_PARALLEL_H
#define TENON_BACKEND_PARALLEL_H

/**
 * DOC: parallel launch
 *
 * The thread pool for parallel loops of compiled code. It is created by the first launch of more
 * than one task, pins threads only on request, and sleeps while idle. Programs set the number of its threads by tenon/threads.h.
 */

#include <stdint.h>

#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_parallel_env - environment of a task; TVM's TVMParallelGroupEnv
 * @sync: private to the pool; used by tenon_parallel_barrier()
 * @tasks: number of tasks in the launch
 */
struct tenon_parallel_env {
	void *sync;
	int32_t tasks;
};

/** typedef tenon_parallel_fn - one task; returns 0, or non-zero with the thread's error set */
typedef int (*tenon_parallel_fn)(int task, struct tenon_parallel_env *env, void *closure);

/**
 * tenon_parallel_launch - run a function in several tasks concurrently and wait for them
 * @fn: the task
 * @closure: passed to each task
 * @tasks: number of tasks; 0 for one per worker, which is also the maximum
 *
 * Tasks may wait for each other: all begin. A thread whose task has returned runs that of a thread
 * which has not begun, so no task may rely on a thread of its own.
 *
 * A launch from inside a task, or while another thread uses the pool, runs as one task in the
 * calling thread.
 *
 * Context: any thread; blocks until all tasks have returned.
 * Return: 0; the first non-zero result of a task, whose error moves to the calling thread.
 */
TENON_API int tenon_parallel_launch(tenon_parallel_fn fn, void *closure, int tasks);

/**
 * tenon_parallel_barrier - wait until every task of the launch reaches the barrier
 * @task: the calling task's number
 * @env: the task's environment
 *
 * Return: 0; non-zero when another task has failed and will not reach the barrier.
 */
TENON_API int tenon_parallel_barrier(int task, struct tenon_parallel_env *env);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_PARALLEL_H */
