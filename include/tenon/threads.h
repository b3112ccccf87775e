/* SPDX-License-Identifier: MIT */
#ifndef TENON_THREADS_H
#define TENON_THREADS_H

/**
 * DOC: threads
 *
 * How many threads of the process run the parallel loops of compiled code.
 */

#include <stdbool.h>

#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * tenon_parallel_configure - set the number of workers
 * @workers: including the calling thread; 0 for the number of processors available to the process,
 *	and 1024 at most: more are taken for so many
 * @pin: pin each worker to its own processor
 *
 * An existing pool is stopped; the next launch creates a new one.
 *
 * Context: no launch may be running.
 * Return: 0; -TENON_E_USAGE while a launch runs or for a negative number.
 */
TENON_API int tenon_parallel_configure(int workers, bool pin);

/** tenon_parallel_workers - number of tasks in a launch with @tasks 0 */
TENON_API int tenon_parallel_workers(void);

#ifdef __cplusplus
}
#endif

#endif /* TENON_THREADS_H */
