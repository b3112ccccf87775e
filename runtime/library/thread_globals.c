/* SPDX-License-Identifier: MIT */
/* The global function that chooses the threads of parallel loops. */
#include <tenon/threads.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/library/globals.h"

/* Arguments: mode (big or little cores, ignored), number of threads, list of processors. */
PACKED_CALL(abi_config_threadpool)
{
	int64_t mode, threads;
	int err;

	err = abi_check_count("runtime.config_threadpool", count, 2, 1000);
	if (!err)
		err = abi_two_ints("runtime.config_threadpool", args, &mode, &threads);
	if (err)
		return err;
	*ret = tenon_arg_none();
	if (threads > 1024)
		return tenon_error(-TENON_E_VALUE, "runtime.config_threadpool: %lld threads",
				   (long long)threads);
	return tenon_parallel_configure(threads < 0 ? 0 : (int)threads, false);
}
