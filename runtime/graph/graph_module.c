/* SPDX-License-Identifier: MIT */
/* TVM's functions for the graph executor, and the ways to create a graph model. */
#include <stdlib.h>
#include <tenon/array.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/core/arguments.h"
#include "runtime/core/module_object.h"
#include "runtime/model/executor_module.h"
#include "runtime/model/factory.h"
#include "runtime/graph/graph_exec.h"

static struct graph_exec *exec_of(const struct tenon_module *m)
{
	return graph_exec_of(((const struct executor_module *)m)->model);
}

static struct tenon_object *keeper(const struct tenon_value *value)
{
	return value->type == TENON_TYPE_TENSOR ? value->as.object : NULL;
}

static METHOD_CALL(set_input_zero_copy)
{
	int64_t index;
	DLTensor *t;
	int err;

	err = executor_input_key(&exec_of(m)->base, &args[0], &index);
	if (!err)
		err = tenon_value_tensor(&args[1], &t);
	if (err || index < 0)
		return err;
	err = graph_bind_input(exec_of(m), (size_t)index, t, keeper(&args[1]));
	return err ? tenon_error_in(err, "input %d", (int)index) : 0;
}

static METHOD_CALL(set_output_zero_copy)
{
	int64_t index;
	DLTensor *t;
	int err;

	err = executor_output_key(&exec_of(m)->base, &args[0], &index);
	if (!err)
		err = tenon_value_tensor(&args[1], &t);
	if (!err && index < 0)
		err = tenon_error(-TENON_E_NOT_FOUND, "the graph has no output of this name");
	if (err)
		return err;
	err = graph_bind_output(exec_of(m), (size_t)index, t, keeper(&args[1]));
	return err ? tenon_error_in(err, "output %d", (int)index) : 0;
}

static METHOD_CALL(get_input)
{
	struct graph_exec *x = exec_of(m);
	struct tenon_tensor *t;
	int64_t index;
	int err;

	err = executor_input_key(&x->base, &args[0], &index);
	if (err || index < 0)
		return err;
	/* Host code may write to the tensor that it gets here to set the input. */
	graph_make_writable(x, graph_input_entry(x, (size_t)index));
	graph_mark_set(x, (size_t)index);
	err = graph_view(x, graph_input_entry(x, (size_t)index), &t);
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

static int set_pairs(struct tenon_module *m, const struct tenon_value *args, int32_t count)
{
	struct tenon_value none = tenon_arg_none();
	int32_t i;
	int err = 0;

	for (i = 0; i + 1 < count && !err; i += 2)
		err = executor_set_input(m, &args[i], 2, &none);
	return err;
}

static int outputs_array(struct graph_exec *x, struct tenon_value *ret)
{
	size_t i, n = x->graph.head_count;
	struct tenon_value *values = calloc(n + 1, sizeof(*values));
	struct tenon_array *array = NULL;
	struct tenon_tensor *t;
	int err = 0;

	if (!values)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu outputs", n);
	for (i = 0; i < n && !err; i++) {
		err = graph_output(x, i, &t);
		values[i] = tenon_arg_object(t);
	}
	if (!err)
		err = tenon_array_create(values, n, &array);
	for (i = 0; i < n; i++)
		tenon_value_release(&values[i]);
	free(values);
	*ret = tenon_arg_object(array);
	return err;
}

/* Arguments: host device type and id, then keys and values. Returns all outputs. */
static METHOD_CALL(run_from_inputs)
{
	int err;

	if (count % 2)
		return tenon_error(-TENON_E_TYPE, "an input without a value");
	err = set_pairs(m, args + 2, count - 2);
	if (!err)
		err = tenon_model_run(&exec_of(m)->base);
	return err ? err : outputs_array(exec_of(m), ret);
}

static int share_one(struct graph_exec *x, struct graph_exec *other, struct tenon_slice name)
{
	struct tenon_model *mine = &x->base, *theirs = &other->base;
	int64_t index = mine->ops->find_input(mine, name),
		from = theirs->ops->find_input(theirs, name);
	uint32_t entry, source;
	DLTensor t;
	int err;

	if (index < 0)
		return 0;
	if (from < 0 || !other->set[from])
		return tenon_error(-TENON_E_NOT_FOUND, "the other executor has no \"%.*s\"",
				   (int)name.size, name.data);
	entry = graph_input_entry(x, (size_t)index);
	source = graph_input_entry(other, (size_t)from);
	t = graph_entry_tensor(other, source);
	err = graph_check_place(x, entry, &t);
	if (err)
		return tenon_error_in(err, "\"%.*s\"", (int)name.size, name.data);
	if (x->graph.entries[entry].storage >= 0)
		graph_move(x, entry, t.data,
			   other->places[source].keep ? other->places[source].keep
						      : graph_own_keeper(other, source),
			   other->places[source].constant);
	x->param[index] = true;
	graph_mark_set(x, (size_t)index);
	return 0;
}

static METHOD_CALL(share_params)
{
	struct tenon_model *other = NULL;
	struct tenon_params *params;
	struct tenon_module *from;
	struct tenon_slice bytes;
	size_t i;
	int err;

	err = module_of_value(&args[0], &from);
	if (err)
		return err;
	other = executor_module_model(from);
	if (!other || !graph_is_model(other))
		return tenon_error(-TENON_E_TYPE, "the first argument is no GraphExecutor");
	err = tenon_value_text(&args[1], &bytes);
	if (!err)
		err = tenon_params_read(bytes, NULL, "parameters", &params);
	if (err)
		return err;
	for (i = 0; i < tenon_params_count(params) && !err; i++)
		err = share_one(exec_of(m), graph_exec_of(other), tenon_params_at(params, i)->name);
	tenon_object_unref(params);
	return err;
}

static const struct method methods[] = {
	{ "set_input", executor_set_input, 2, 2 },
	{ "set_input_zero_copy", set_input_zero_copy, 2, 2 },
	{ "set_output_zero_copy", set_output_zero_copy, 2, 2 },
	{ "get_output", executor_get_output, 1, 2 },
	{ "get_input", get_input, 1, 1 },
	{ "get_num_inputs", executor_get_num_inputs, 0, 0 },
	{ "get_num_outputs", executor_get_num_outputs, 0, 0 },
	{ "get_input_index", executor_get_input_index, 1, 1 },
	{ "get_input_info", executor_get_input_info, 0, 0 },
	{ "get_output_info", executor_get_output_info, 0, 0 },
	{ "run", executor_run, 0, 0 },
	{ "run_from_inputs", run_from_inputs, 2, -1 },
	{ "load_params", executor_load_params, 1, 1 },
	{ "share_params", share_params, 2, 2 },
	{ NULL, NULL, 0, 0 },
};

/* ---- creation */

static int set_params(struct graph_exec *x, struct tenon_params *params)
{
	int err = params ? tenon_model_set_params(&x->base, params) : 0;

	if (err)
		tenon_model_close(&x->base);
	return err;
}

static int create_from_factory(struct tenon_module *root, const struct tenon_model_options *o,
			       struct graph_exec **out)
{
	struct tenon_module *library = NULL;
	struct factory *f;
	int err;

	err = factory_of(root, o->function, &f);
	if (err)
		return err;
	if (!o->describe)
		err = factory_library(root, &library);
	if (!err)
		err = graph_exec_create(root, library, f->json, f->params, o, out);
	if (!err)
		err = set_params(*out, f->params);
	tenon_object_unref(f);
	return err;
}

/* Make the objects of all outputs, so that getting them takes no memory later. */
static int make_outputs(struct graph_exec *x)
{
	struct tenon_tensor *t;
	uint32_t i;
	int err = 0;

	for (i = 0; i < x->graph.head_count && !err; i++) {
		err = graph_output(x, i, &t);
		tenon_object_unref(t);
	}
	return err;
}

static int graph_model_create(struct tenon_module *root, const struct tenon_model_options *o,
			      struct tenon_model **out)
{
	struct graph_exec *x;
	int err;

	err = o->graph.data ? graph_exec_create(root, root, o->graph, NULL, o, &x)
			    : create_from_factory(root, o, &x);
	/* model_create() sets those of a model that runs */
	if (!err && o->graph.data && o->describe)
		err = set_params(x, o->params);
	if (err)
		return err;
	err = heap_now() ? make_outputs(x) : 0;
	if (err)
		tenon_model_close(&x->base);
	else
		*out = &x->base;
	return err;
}

static int graph_executor_module(struct tenon_module *root, const struct tenon_model_options *o,
				 struct tenon_module **out)
{
	struct graph_exec *x;
	int err;

	*out = NULL;
	if (!HAS_EXECUTOR_FUNCTIONS)
		return executor_functions_off();
	err = create_from_factory(root, o, &x);
	return err ? err : executor_module_create(&x->base, "GraphExecutor", methods, out);
}

/* Arguments: graph, library, optionally a lookup function, then device types and ids. */
PACKED_CALL(graph_executor_create)
{
	int32_t first = count > 2 && args[2].type == TENON_TYPE_FUNCTION ? 3 : 2;
	struct tenon_model_options o = { .size = sizeof(o) };
	DLDevice devices[METHOD_DEVICES_MOST];
	struct tenon_module *library, *made;
	struct tenon_slice json;
	struct graph_exec *x;
	int err;

	if (!HAS_EXECUTOR_FUNCTIONS)
		return executor_functions_off();
	if (count < 4)
		return tenon_error(
			-TENON_E_TYPE,
			"tvm.graph_executor.create takes graph, module, device type and id; "
			"%d arguments given",
			count);
	err = tenon_value_text(&args[0], &json);
	if (!err)
		err = module_of_value(&args[1], &library);
	if (!err)
		err = method_devices(args + first, count - first, true, devices, &o.device_count);
	o.devices = devices;
	if (!err)
		err = graph_exec_create(library, library, json, NULL, &o, &x);
	if (!err)
		err = executor_module_create(&x->base, "GraphExecutor", methods, &made);
	if (err)
		return tenon_error_in(err, "tvm.graph_executor.create");
	*ret = tenon_arg_object(made);
	return 0;
}

int graph_factory_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		       struct tenon_module **out)
{
	return factory_load(true, graph_executor_module, c, payload, out);
}

int graph_runtime_factory_load(struct tenon_cursor *c, const struct tenon_payload *payload,
			       struct tenon_module **out)
{
	int err = graph_factory_load(c, payload, out);

	if (!err)
		(*out)->kind = tenon_slice_of("GraphRuntimeFactory");
	return err;
}

extern const struct executor graph_executor;
const struct executor graph_executor = {
	.create = graph_model_create,
	.in_regions = true,
	.shares_planned = true,
};
