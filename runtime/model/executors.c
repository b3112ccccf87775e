/* SPDX-License-Identifier: MIT */
/* Find the executor of a kind and register its functions. */
#include "runtime/core/tensor_data.h"
#include "runtime/model/executors.h"

#include <pthread.h>
#include <tenon/backend/module_kind.h>

#include "lib/fork_gate.h"
#include "lib/option.h"
#include "lib/options.h"

/* ---- lookup */

static struct executor_row *row_of(struct tenon_slice kind)
{
	struct executor_row *r;
	size_t i;

	for (r = executor_table; r->plugin.name; r++)
		for (i = 0; i < EXECUTOR_KINDS && r->kinds[i]; i++)
			if (tenon_slice_equal(tenon_slice_of(r->kinds[i]), kind))
				return r;
	return NULL;
}

bool executor_has_kind(struct tenon_slice kind)
{
	return row_of(kind) != NULL;
}

bool executor_plugin_missing(struct tenon_slice kind, struct tenon_buffer *out)
{
	const struct executor_row *r = row_of(kind);

	return r && plugin_missing(&r->plugin, out);
}

void executor_kinds(struct tenon_buffer *out)
{
	const struct executor_row *r;
	size_t i;

	for (r = executor_table; r->plugin.name; r++)
		for (i = 0; i < EXECUTOR_KINDS && r->kinds[i]; i++)
			tenon_buffer_printf(out, "%s%s", r == executor_table && !i ? "" : ", ",
					    r->kinds[i]);
}

int executor_of_kind(struct tenon_slice kind, const struct executor **out)
{
	struct executor_row *r = row_of(kind);
	int err = plugin_open(&r->plugin, -TENON_E_UNSUPPORTED);

	*out = r->plugin.offer;
	return err;
}

/* ---- functions registered before the executor's plug-in is open */

static int load(struct tenon_cursor *c, const struct tenon_payload *payload,
		struct tenon_module **out)
{
	const struct tenon_module_loader *const *l;
	const struct executor *executor;
	int err;

	err = executor_of_kind(payload->kind, &executor);
	if (err)
		return err;
	for (l = executor->loaders; !tenon_slice_equal(tenon_slice_of((*l)->kind), payload->kind);)
		l++;
	return (*l)->load(c, payload, out);
}

#if OPTION_ON(GRAPH_EXECUTOR)
static int create_graph_module(void *self, const struct tenon_value *args, int32_t count,
			       struct tenon_value *ret)
{
	const struct executor *graph;
	int err = executor_of_kind(tenon_slice_of("GraphExecutorFactory"), &graph);

	return err ? err : graph->create_module(self, args, count, ret);
}

int tenon_model_open_graph(struct tenon_module *library, struct tenon_slice graph,
			   struct tenon_params *params, const struct tenon_model_options *options,
			   struct tenon_model **out)
{
	const struct executor *executor;
	struct tenon_model_options o;
	int err = options_read(options, &o, sizeof(o));

	*out = NULL;
	if (!err)
		err = executor_of_kind(tenon_slice_of("GraphExecutorFactory"), &executor);
	if (!err)
		err = bytes_check_data(graph.data, graph.size);
	return err ? err : executor->open_graph(library, graph, params, &o, out);
}
#endif

#if OPTION_ON(TFLITE_EXECUTOR)
static int load_tflite_file(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret)
{
	const struct executor *tflite;
	int err = executor_of_kind(tenon_slice_of("tflite"), &tflite);

	return err ? err : tflite->load_file(self, args, count, ret);
}
#endif

/* Ignore -TENON_E_EXISTS: an application's own registration has precedence. */
static int ignore_exists(int err)
{
	if (err != -TENON_E_EXISTS)
		return err;
	tenon_error_clear();
	return 0;
}

int executors_register_functions(void)
{
	int err = 0;

#if OPTION_ON(GRAPH_EXECUTOR)
	err = ignore_exists(
		tenon_function_register_c("tvm.graph_executor.create", create_graph_module, false));
#endif
#if OPTION_ON(TFLITE_EXECUTOR)
	if (!err)
		err = ignore_exists(tenon_function_register_c("ffi.Module.load_from_file.tflite",
							      load_tflite_file, false));
#endif
	return err;
}

#if OPTION_ON(RELAX_VM)
int executors_register_relax(void)
{
	const struct executor *relax;
	int err = executor_of_kind(tenon_slice_of("relax.VMExecutable"), &relax);

	return err ? err : relax->register_functions();
}
#endif

static int register_all(void)
{
	struct tenon_module_loader *l;
	struct executor_row *r;
	size_t i;
	int err = 0;

	for (r = executor_table; r->plugin.name; r++)
		for (i = 0; i < EXECUTOR_KINDS && r->kinds[i] && !err; i++) {
			l = &r->loaders[i];
			*l = (struct tenon_module_loader){ r->kinds[i], load };
			err = ignore_exists(tenon_module_loader_register(l));
		}
	return err ? err : executors_register_functions();
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
