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
	ENTRY(check_tuple_info),   ENTRY(check_func_info),
	ENTRY(alloc_storage),	   ENTRY(alloc_tensor),
	ENTRY(null_value),	   ENTRY(copy),
	ENTRY(shape_of),	   ENTRY(reshape),
	ENTRY(to_device),	   ENTRY(tensor_to_shape),
	ENTRY(ensure_zero_offset), ENTRY(read_if_cond),
	ENTRY(make_tuple),	   ENTRY(tuple_getitem),
	ENTRY(tuple_reset_item),   ENTRY(make_closure),
	ENTRY(invoke_closure),	   ENTRY(call_tir_dyn),
	ENTRY(invoke_debug_func),  { NULL, NULL },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool registered;

int relax_builtins_register(void)
{
	const struct relax_builtin *b;
	int err = 0;

	if (__atomic_load_n(&registered, __ATOMIC_ACQUIRE))
		return 0;
	fork_gate_lock(&lock);
	for (b = relax_builtins; !registered && !err && b->name; b++) {
		err = tenon_function_register_c(b->name, b->call, false);
		if (err == -TENON_E_EXISTS) {
			tenon_error_clear();
			err = 0;
		}
	}
	if (!err)
		__atomic_store_n(&registered, true, __ATOMIC_RELEASE);
	fork_gate_unlock(&lock);
	return err;
}
