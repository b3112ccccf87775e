/* SPDX-License-Identifier: MIT */
/* The C names of TVM's runtime that programs link with. The table of libtenon has the functions. */
#include "runtime/library/tvm_table.h"

#include <tenon/backend/parallel.h>

#define FORWARD(type, name, params, args)                                                          \
	__attribute__((visibility("default"))) type name params;                                   \
	__attribute__((visibility("default"))) type name params                                    \
	{                                                                                          \
		return tenon_tvm_table()->name args;                                               \
	}

FORWARD(void *, TVMBackendAllocWorkspace,
	(int type, int id, uint64_t size, int dtype_code, int dtype_bits),
	(type, id, size, dtype_code, dtype_bits))
FORWARD(int, TVMBackendFreeWorkspace, (int type, int id, void *memory), (type, id, memory))
FORWARD(int, TVMBackendParallelLaunch, (tenon_parallel_fn task, void *closure, int tasks),
	(task, closure, tasks))
FORWARD(int, TVMBackendParallelBarrier, (int task, struct tenon_parallel_env *env), (task, env))
#if defined(CONFIG_RELAX_VM) || defined(CONFIG_RELAX_VM_MODULE)
FORWARD(int, TVMBackendAnyListSetPackedArg,
	(void *list, int index, void *args, intptr_t codes_or_offset, int legacy_offset),
	(list, index, args, codes_or_offset, legacy_offset))
FORWARD(int, TVMBackendAnyListResetItem, (void *list, int index), (list, index))
FORWARD(int, TVMBackendAnyListMoveFromPackedReturn,
	(void *list, int index, void *args, intptr_t codes_or_offset, int legacy_offset),
	(list, index, args, codes_or_offset, legacy_offset))
#endif
