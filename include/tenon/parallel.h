/* SPDX-License-Identifier: MIT */
#ifndef TENON_PARALLEL_H
#define TENON_PARALLEL_H

/**
 * DOC: parallel launch
 *
 * The thread pool that compiled code launches its parallel loops on. It does not exist until the
 * first launch of more than one task, pins nothing unless asked, and sleeps while idle.
 */

#include <stdbool.h>
#include <stdint.h>

#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_parallel_env - what a task is told; TVM's TVMParallelGroupEnv
 * @sync: the pool's own, for tenon_parallel_barrier()
 * @tasks: how many tasks run
 */
struct tenon_parallel_env {
	void *sync;
	int32_t tasks;
};

/** typedef tenon_parallel_fn - one task; returns 0, or non-zero with the thread's error set */
typedef int (*tenon_parallel_fn)(int task, struct tenon_parallel_env *env, void *closure);

/**
 * tenon_parallel_launch - run a function once for every task, at the same time, and wait
 * @fn: the task
 * @closure: handed to each
 * @tasks: how many; 0 for as many as there are workers. More than there are workers run as that many.
 *
 * A launch from inside a task, or while another thread's launch holds the pool, runs in the calling
 * thread as one task.
 *
 * Return: 0; the first non-zero that a task returned, its error moved to the calling thread.
 */
TENON_API int tenon_parallel_launch(tenon_parallel_fn fn, void *closure, int tasks);

/**
 * tenon_parallel_barrier - wait until every task of the launch is here
 * @task: the calling task's number
 * @env: what the task was told
 *
 * Return: 0; non-zero when another task has failed and will not come.
 */
TENON_API int tenon_parallel_barrier(int task, struct tenon_parallel_env *env);

/**
 * tenon_parallel_configure - set the number of workers
 * @workers: the calling thread included; 0 for the number of processors the process may run on
 * @pin: pin each worker to a processor of its own
 *
 * Context: while no launch runs. A pool that exists is stopped and made anew at the next launch.
 * Return: 0; -TENON_E_USAGE while a launch runs or for a negative number.
 */
TENON_API int tenon_parallel_configure(int workers, bool pin);

/** tenon_parallel_workers - how many tasks a launch of 0 tasks has */
TENON_API int tenon_parallel_workers(void);

#ifdef __cplusplus
}
#endif

#endif /* TENON_PARALLEL_H */
