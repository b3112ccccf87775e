/* SPDX-License-Identifier: MIT */
#include "runtime/model/executors.h"

#include <pthread.h>

#include "lib/fork_gate.h"
#include "runtime/model/factory.h"

static const struct model_maker makers[] = {
#ifdef CONFIG_GRAPH_EXECUTOR
	{ "GraphExecutorFactory", graph_model_create },
	{ "GraphRuntimeFactory", graph_model_create },
#endif
#ifdef CONFIG_AOT_EXECUTOR
	{ "AotExecutorFactory", aot_model_create },
#endif
#ifdef CONFIG_RELAX_VM
	{ "relax.VMExecutable", relax_model_create },
	{ "relax.Executable", relax_model_create },
#endif
	{ NULL, NULL },
};

const struct model_maker *model_maker_of(struct tenon_slice kind)
{
	const struct model_maker *m;

	for (m = makers; m->kind; m++)
		if (tenon_slice_equal(tenon_slice_of(m->kind), kind))
			return m;
	return NULL;
}

void model_maker_names(struct tenon_buffer *out)
{
	const struct model_maker *m;

	for (m = makers; m->kind; m++)
		tenon_buffer_printf(out, "%s%s", m == makers ? "" : ", ", m->kind);
}

/* an application may have put something of its own in place: that stays */
static int unless_there(int err)
{
	if (err != -TENON_E_EXISTS)
		return err;
	tenon_error_clear();
	return 0;
}

static int register_all(void)
{
	int err = 0;

#ifdef CONFIG_GRAPH_EXECUTOR
	err = unless_there(tenon_module_loader_register(&graph_factory_loader));
	if (!err)
		err = unless_there(tenon_module_loader_register(&graph_runtime_factory_loader));
	if (!err)
		err = unless_there(tenon_function_register_c("tvm.graph_executor.create",
							     graph_executor_create, false));
#endif
#ifdef CONFIG_AOT_EXECUTOR
	if (!err)
		err = unless_there(tenon_module_loader_register(&aot_factory_loader));
#endif
#ifdef CONFIG_RELAX_VM
	if (!err)
		err = unless_there(tenon_module_loader_register(&relax_executable_loader));
	if (!err)
		err = unless_there(tenon_module_loader_register(&relax_executable_legacy_loader));
#endif
	return err;
}

int tenon_executors_register(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	int err = 0;

	if (__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		return 0;
	fork_gate_lock(&lock);
	if (!done) {
		err = register_all();
		__atomic_store_n(&done, !err, __ATOMIC_RELEASE);
	}
	fork_gate_unlock(&lock);
	return err;
}
