/* SPDX-License-Identifier: MIT */
#include "runtime/relax/relax_builtin.h"

#include <pthread.h>

#include "lib/fork_gate.h"

#define ENTRY(name)                                                                                \
	{                                                                                          \
		"vm.builtin." #name, relax_builtin_##name                                             \
	}

const struct relax_builtin relax_builtins[] = {
	ENTRY(alloc_shape_heap),   ENTRY(match_shape),
	ENTRY(make_shape),	   ENTRY(match_prim_value),
	ENTRY(make_prim_value),	   ENTRY(check_tensor_info),
	ENTRY(check_shape_info),   ENTRY(check_prim_value_info),
	ENTRY(check_string_info),  ENTRY(check_tuple_info),
	ENTRY(check_func_info),
	ENTRY(alloc_storage),	   ENTRY(alloc_tensor),
	ENTRY(null_value),	   ENTRY(copy),
	ENTRY(shape_of),	   ENTRY(reshape),
	ENTRY(to_device),	   ENTRY(tensor_to_shape),
	ENTRY(ensure_zero_offset), ENTRY(read_if_cond),
	ENTRY(make_tuple),	   ENTRY(tuple_getitem),
	ENTRY(tuple_reset_item),   ENTRY(make_closure),
	ENTRY(invoke_closure),	   ENTRY(call_tir_dyn),
	ENTRY(invoke_debug_func),
	{ "vm.builtin.cuda_graph.run_or_capture", relax_builtin_graph_run_or_capture },
	{ "vm.builtin.cuda_graph.get_cached_alloc", relax_builtin_graph_get_cached_alloc },
	{ "tvm.contrib.sort.sort", relax_builtin_sort },
	{ "tvm.contrib.sort.argsort", relax_builtin_argsort },
	{ "tvm.contrib.sort.argsort_nms", relax_builtin_argsort_nms },
	{ "tvm.contrib.sort.topk", relax_builtin_topk },
	{ "tvm.contrib.random.normal", relax_builtin_random_normal },
	{ "tvm.contrib.random.uniform", relax_builtin_random_uniform },
	{ "runtime.TVMTensorCreateView", relax_builtin_tensor_view },
	{ "relax.run.nonzero", relax_builtin_nonzero },
	{ "relax.run.unique", relax_builtin_unique },
	{ "relax.run.print", relax_builtin_print },
	{ "relax.run.assert_op", relax_builtin_assert_op },
	{ "relax.run.shape_to_tensor", relax_builtin_shape_to_tensor },
	{ NULL, NULL },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool registered;

static int register_table(const struct relax_builtin *b)
{
	int err = 0;

	for (; !err && b->name; b++) {
		err = tenon_function_register_c(b->name, b->call, false);
		if (err == -TENON_E_EXISTS) {
			tenon_error_clear();
			err = 0;
		}
	}
	return err;
}

int relax_builtins_register(void)
{
	int err = 0;

	if (__atomic_load_n(&registered, __ATOMIC_ACQUIRE))
		return 0;
	fork_gate_lock(&lock);
	if (!registered)
		err = register_table(relax_builtins);
#ifdef CONFIG_LANGUAGE_MODELS
	if (!registered && !err)
		err = register_table(relax_language_builtins);
#endif
	if (!err)
		__atomic_store_n(&registered, true, __ATOMIC_RELEASE);
	fork_gate_unlock(&lock);
	return err;
}
