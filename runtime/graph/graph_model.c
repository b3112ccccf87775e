/* SPDX-License-Identifier: MIT */
/* The graph executor's model operations. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/heap.h"
#include "lib/record.h"
#include "runtime/graph/graph_exec.h"

/* ---- running */

static __attribute__((noinline)) int refuse_unset(const struct graph_exec *x)
{
	const struct graph_node *n;
	size_t i;

	for (i = 0; i < x->graph.input_count; i++)
		if (x->needed[i] && !x->set[i])
			break;
	n = &x->graph.nodes[x->graph.inputs[i]];
	return tenon_error(-TENON_E_USAGE, "input %zu (\"%.*s\") was never set%s", i,
			   (int)n->name.size, n->name.data,
			   x->unset > 1 ? ", nor were others" : "");
}

static __attribute__((noinline)) int call_failed(const struct graph_exec *x,
						 const struct graph_call *call, size_t mark)
{
	const struct graph_node *n = &x->graph.nodes[call->node];
	int status = tenon_error_status();

	tenon_workspace_reclaim(mark);
	if (!status)
		status = tenon_error(-TENON_E_CALL, "the function failed without saying why");
	return tenon_error_in(status, "node %" PRIu32 " (\"%.*s\"), function %.*s", call->node,
			      (int)n->name.size, n->name.data, (int)n->function.size,
			      n->function.data);
}

static int graph_run(struct tenon_model *m)
{
	struct graph_exec *x = graph_exec_of(m);
	const struct graph_call *call = x->calls, *end = call + x->call_count;
	size_t mark = tenon_workspace_mark();
	int *codes = x->codes, code = LEGACY_NULL;
	union legacy_value ret;

	if (__builtin_expect(x->unset, 0))
		return refuse_unset(x);
	for (; call < end; call++)
		if (__builtin_expect(
			    call->fn(call->args, codes, call->count, &ret, &code, call->resource),
			    0))
			return call_failed(x, call, mark);
	return 0;
}

static int graph_run_on_devices(struct tenon_model *m)
{
	int err = graph_follow(graph_exec_of(m));

	return err ? err : graph_run(m);
}

static void fill_op(const struct graph_exec *x, uint32_t node, uint32_t *outputs,
		    struct tenon_op *op)
{
	const struct graph_node *n = &x->graph.nodes[node];

	*op = (struct tenon_op){
		n->name,	n->function, n->inputs, n->input_count, outputs + n->first_output,
		n->output_count
	};
}

/* An array of all entry numbers, so that a node's outputs are a slice of it. */
static uint32_t *entry_numbers(const struct graph_exec *x)
{
	uint32_t i, *numbers = malloc(((size_t)x->graph.entry_count + 1) * sizeof(*numbers));

	if (!numbers) {
		tenon_error(-TENON_E_NOMEM, "no memory to visit operators");
		return NULL;
	}
	for (i = 0; i < x->graph.entry_count; i++)
		numbers[i] = i;
	return numbers;
}

/* Operators are all nodes except inputs, including __nop, which has no call. */
static uint32_t next_op(const struct graph_exec *x, uint32_t node)
{
	while (node < x->graph.node_count && x->graph.nodes[node].kind == GRAPH_INPUT)
		node++;
	return node;
}

/* Report a call to the record of the run. NULL where none is written, or without memory. */
static struct operator_begun *record_call(const struct graph_exec *x, const struct graph_call *call)
{
	const struct graph_node *n = &x->graph.nodes[call->node];
	struct operator_begun *begun;
	struct tenon_value *args;
	int i;

	if (!record_on())
		return NULL;
	args = calloc((size_t)call->count + 1, sizeof(*args));
	for (i = 0; args && i < call->count; i++)
		args[i] = tenon_arg_tensor(call->args[i].pointer);
	begun = args ? record_before(&(struct operator_call){
			       n->name, n->function, args, (uint32_t)call->count, n->input_count })
		     : NULL;
	free(args);
	return begun;
}

static int graph_run_profiled(struct tenon_model *m, const struct tenon_profiler *p)
{
	struct graph_exec *x = graph_exec_of(m);
	const struct graph_call *call = x->calls, *end = call + x->call_count;
	size_t mark = tenon_workspace_mark(), index = 0;
	uint32_t node = 0, *numbers;
	int code = LEGACY_NULL, err = 0;
	union legacy_value ret;
	struct operator_begun *begun;
	struct tenon_op op;
	uint64_t begin, done;

	if (x->unset)
		return refuse_unset(x);
	err = graph_follow(x);
	if (err)
		return err;
	numbers = entry_numbers(x);
	if (!numbers)
		return -TENON_E_NOMEM;
	for (; call < end && !err; call++) {
		for (node = next_op(x, node); node < call->node; node = next_op(x, node + 1))
			index++;
		begun = record_call(x, call);
		begin = clock_now();
		err = call->fn(call->args, x->codes, call->count, &ret, &code, call->resource);
		if (!err)
			err = graph_wait(x);
		done = clock_now();
		record_after(begun, err);
		if (err) {
			err = call_failed(x, call, mark);
			break;
		}
		fill_op(x, node, numbers, &op);
		p->op(p->context, index, &op, begin, done);
	}
	free(numbers);
	return err;
}

/* ---- ports */

static size_t graph_input_count(struct tenon_model *m)
{
	return graph_exec_of(m)->graph.input_count;
}

static size_t graph_output_count(struct tenon_model *m)
{
	return graph_exec_of(m)->graph.head_count;
}

static void describe_entry(const struct graph_exec *x, uint32_t entry, struct tenon_port *out)
{
	const struct graph_entry *e = &x->graph.entries[entry];

	*out = (struct tenon_port){ x->graph.nodes[e->node].name, e->dtype, e->ndim, e->shape };
}

static void graph_input(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	describe_entry(graph_exec_of(m), graph_input_entry(graph_exec_of(m), index), out);
}

static int graph_output_port(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	describe_entry(graph_exec_of(m), graph_exec_of(m)->graph.heads[index], out);
	return 0;
}

static int64_t graph_find_input(struct tenon_model *m, struct tenon_slice name)
{
	return (int64_t)(uintptr_t)string_map_get(&graph_exec_of(m)->inputs, name) - 1;
}

static bool graph_input_is_set(struct tenon_model *m, size_t index)
{
	return graph_exec_of(m)->set[index];
}

static int graph_model_set_input(struct tenon_model *m, size_t index,
				 const struct tenon_value *value)
{
	DLTensor *t;
	int err;

	err = tenon_value_tensor(value, &t);
	return err ? err : graph_set_input(graph_exec_of(m), index, t);
}

static int graph_model_bind_input(struct tenon_model *m, size_t index, struct tenon_tensor *tensor)
{
	return graph_bind_input(graph_exec_of(m), index, &tensor->dl, &tensor->object);
}

static int graph_model_set_param(struct tenon_model *m, size_t index, struct tenon_params *params,
				 const struct tenon_param *param)
{
	return graph_set_param(graph_exec_of(m), index, params, param);
}

static int graph_output_value(struct tenon_model *m, size_t index, struct tenon_value *out)
{
	struct tenon_tensor *t;
	int err;

	err = graph_output(graph_exec_of(m), index, &t);
	*out = tenon_arg_object(t);
	return err;
}

/* ---- inspection */

static void graph_memory(struct tenon_model *m, struct tenon_model_memory *out)
{
	struct graph_exec *x = graph_exec_of(m);
	uint32_t i;

	for (i = 0; i < x->graph.storage_count; i++) {
		out->activations += x->graph.storages[i].bytes;
		out->storages += x->graph.storages[i].used;
	}
	for (i = 0; i < x->graph.input_count; i++) {
		const struct graph_entry *e = &x->graph.entries[graph_input_entry(x, i)];

		if (!x->param[i] || e->storage < 0)
			continue;
		out->params += e->bytes;
		out->activations -= e->bytes;
	}
}

static int graph_each_op(struct tenon_model *m,
			 int (*visit)(void *context, size_t index, const struct tenon_op *op),
			 void *context)
{
	struct graph_exec *x = graph_exec_of(m);
	uint32_t node, *numbers = entry_numbers(x);
	struct tenon_op op;
	size_t index = 0;
	int stop = 0;

	if (!numbers)
		return -TENON_E_NOMEM;
	for (node = next_op(x, 0); node < x->graph.node_count && !stop;
	     node = next_op(x, node + 1)) {
		fill_op(x, node, numbers, &op);
		stop = visit(context, index++, &op);
	}
	free(numbers);
	return stop;
}

static size_t graph_value_count(struct tenon_model *m)
{
	return graph_exec_of(m)->graph.entry_count;
}

static int graph_value(struct tenon_model *m, size_t index, struct tenon_model_value *out)
{
	struct graph_exec *x = graph_exec_of(m);
	const struct graph_entry *e = &x->graph.entries[index];
	int64_t input = -1;

	describe_entry(x, (uint32_t)index, &out->port);
	out->role = TENON_ROLE_RESULT;
	out->storage = e->storage;
	out->bytes = e->bytes;
	if (x->graph.nodes[e->node].kind != GRAPH_INPUT)
		return 0;
	input = graph_find_input(m, out->port.name);
	out->role = input >= 0 && x->param[input] ? TENON_ROLE_PARAM : TENON_ROLE_INPUT;
	return 0;
}

/* ---- lifetime */

static void graph_destroy(struct tenon_model *m)
{
	struct graph_exec *x = graph_exec_of(m);
	uint32_t i;

	for (i = 0; x->outputs && i < x->graph.head_count; i++)
		tenon_object_unref(x->outputs[i]);
	for (i = 0; x->places && i < x->graph.entry_count; i++)
		tenon_object_unref(x->places[i].keep);
	graph_plan_fini(x);
	graph_free_memories(x);
	tenon_object_unref(x->arena);
	tenon_object_unref(x->lasting);
	string_map_fini(&x->inputs);
	heap_free(x->outputs);
	heap_free(x->places);
	heap_free(x->homes);
	heap_free(x->set);
	graph_fini(&x->graph);
	heap_free(x);
}

/* all operations except run */
#define GRAPH_OPS                                                                                  \
	.kind = "graph", .input_count = graph_input_count, .output_count = graph_output_count,     \
	.input = graph_input, .output = graph_output_port, .find_input = graph_find_input,         \
	.input_is_set = graph_input_is_set, .set_input = graph_model_set_input,                    \
	.bind_input = graph_model_bind_input, .set_param = graph_model_set_param,                  \
	.run_profiled = graph_run_profiled, .output_value = graph_output_value,                    \
	.memory = graph_memory, .each_op = graph_each_op, .value_count = graph_value_count,        \
	.value = graph_value, .destroy = graph_destroy

const struct model_ops graph_model_ops = { GRAPH_OPS, .run = graph_run };
const struct model_ops graph_device_model_ops = { GRAPH_OPS, .run = graph_run_on_devices,
						  .device_bytes = graph_device_bytes,
						  .shared_bytes = graph_shared_bytes };

/* An input is needed when an operator reads it or when it is an output. */
static void mark_needed(struct graph_exec *x, const bool *read)
{
	uint32_t i;

	for (i = 0; i < x->graph.input_count; i++) {
		x->needed[i] = read[graph_input_entry(x, i)];
		x->unset += x->needed[i];
	}
}

static int index_inputs(struct graph_exec *x)
{
	const struct graph *g = &x->graph;
	bool *read =
		heap_take(HEAP_TEMPORARY, 1, (size_t)g->entry_count + 1, "inputs that are read");
	uint32_t i, k;
	void **slot;

	x->inputs.memory = STRING_MAP_PERSISTENT;
	x->set = heap_zeroed(3 * ((size_t)g->input_count + 1), sizeof(*x->set), "states of inputs");
	if (!x->set || !read || string_map_reserve(&x->inputs, g->input_count)) {
		heap_free(read);
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " inputs",
				   g->input_count);
	}
	memset(read, 0, g->entry_count);
	x->param = x->set + g->input_count;
	x->needed = x->param + g->input_count;
	for (i = 0; i < g->input_count; i++) {
		slot = string_map_slot(&x->inputs, g->nodes[g->inputs[i]].name);
		*slot = (void *)(uintptr_t)(i + 1);
	}
	for (i = 0; i < g->node_count; i++)
		for (k = 0; k < g->nodes[i].input_count; k++)
			read[g->nodes[i].inputs[k]] = true;
	for (i = 0; i < g->head_count; i++)
		read[g->heads[i]] = true;
	mark_needed(x, read);
	heap_free(read);
	return 0;
}

int graph_exec_create(struct tenon_module *root, struct tenon_module *library,
		      struct tenon_slice json, struct tenon_params *params,
		      const struct tenon_model_options *o, struct graph_exec **out)
{
	struct graph_exec *x = heap_zeroed(1, sizeof(*x), "model");
	int err;

	*out = NULL;
	if (!x)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	err = graph_read(json, "graph.json", &x->graph);
	if (!err)
		err = index_inputs(x);
	if (!err)
		err = graph_place_all(x, params, o);
	if (!err && !o->describe)
		err = graph_plan(x, library);
	if (err) {
		graph_destroy(&x->base);
		return err;
	}
	model_init(&x->base,
		   PLACE_HAS_DEVICES && x->other_count ? &graph_device_model_ops : &graph_model_ops,
		   root, o);
	*out = x;
	return 0;
}
