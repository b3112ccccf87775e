/* SPDX-License-Identifier: MIT */
/*
 * Adds the drop-in to the runtime when the library is bound to it: before the first name of the
 * library works, its functions, types and attributes are there.
 */
#include <pthread.h>

#include "runtime/ffi/ffi.h"

static struct tenon_tvm_table extended;

static int (*const steps[])(void) = {
	types_register,
	big_int_register,
	containers_register,
	list_functions_register,
	map_functions_register,
	shape_register,
	fields_register,
	functions_register,
	modules_register,
	repr_register,
	compare_register,
	hash_register,
	copy_register,
	json_register,
	value_graph_register,
	structural_equal_register,
	structural_hash_register,
	structural_key_register,
	structural_visit_register,
	structural_mutate_register,
	visit_context_register,
};

static void add_all(void)
{
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (!steps[i]())
			continue;
		/* What is missing shows at its use; the rest of the runtime works without. */
		ffi_drop_error();
	}
	extended = *ffi;
	extended.TVMFFIFunctionSetGlobalFromMethodInfo = functions_set_from_method;
}

static const struct tenon_tvm_table *extend(const struct tenon_tvm_table *table)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	__atomic_store_n(&ffi, table, __ATOMIC_RELEASE);
	pthread_once(&once, add_all);
	return &extended;
}

__attribute__((constructor)) static void offer(void)
{
	tenon_tvm_extend = extend;
}
