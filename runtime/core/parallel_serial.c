/* SPDX-License-Identifier: MIT */
/* Parallel launch without threads: the caller runs each launch as one task. */
#include <stddef.h>
#include <tenon/backend/parallel.h>
#include <tenon/error.h>
#include <tenon/threads.h>

#include "lib/brief_errors.h"

int tenon_parallel_launch(tenon_parallel_fn fn, void *closure, int tasks)
{
	struct tenon_parallel_env env = { NULL, 1 };

	if (tasks < 0)
		return tenon_error(-TENON_E_USAGE, "a parallel launch of %d tasks", tasks);
	return fn(0, &env, closure);
}

int tenon_parallel_barrier(int task, struct tenon_parallel_env *env)
{
	return 0;
}

int tenon_parallel_configure(int workers, bool pin)
{
	if (workers < 0)
		return tenon_error(-TENON_E_USAGE, "a thread pool of %d workers", workers);
	return 0;
}

int tenon_parallel_workers(void)
{
	return 1;
}
