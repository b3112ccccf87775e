/* SPDX-License-Identifier: MIT */
/*
 * Adds the drop-in to the runtime when the library is bound to it: before the first name of the
 * library works, its functions, types and attributes are there.
 */
#include <pthread.h>

#include "runtime/ffi/ffi.h"

static struct tenon_tvm_table extended;

static const struct {
	int (*step)(void);
	const struct global_function *globals;
} steps[] = {
	{ .step = types_register },
	{ .step = big_int_register },
	{ .globals = containers_globals },
	{ .globals = list_functions_globals },
	{ .globals = map_functions_globals },
	{ .globals = shape_globals },
	{ .globals = fields_globals },
	{ .step = functions_register },
	{ .step = modules_register },
	{ .globals = repr_globals },
	{ .globals = compare_globals },
	{ .globals = hash_globals },
	{ .globals = copy_globals },
	{ .globals = json_globals },
	{ .globals = value_graph_globals },
	{ .globals = structural_equal_globals },
	{ .globals = structural_hash_globals },
	{ .step = structural_key_register },
	{ .step = structural_visit_register },
	{ .step = structural_mutate_register },
	{ .globals = visit_context_globals },
};

static void add_all(void)
{
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (!(steps[i].step ? steps[i].step() : ffi_register_globals(steps[i].globals)))
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
