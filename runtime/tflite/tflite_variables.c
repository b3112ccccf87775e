/* SPDX-License-Identifier: MIT */
/*
 * Variables, which keep their values between the runs of an open model. VAR_HANDLE names one, READ_VARIABLE and ASSIGN_VARIABLE copy its
 * contents, and CALL_ONCE calls a graph that assigns constants, before the first run: it is done when the model is opened. In a graph
 * of an NPU (tflite_states.c), there is that operator alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/tflite/tflite_network.h"

/* variables are looked up one after the other */
#define VARIABLES_MOST 1024

enum { HANDLE_CONTAINER, HANDLE_NAME };

static int read_name(const struct tflite_operator *op, struct tenon_slice *container,
		     struct tenon_slice *name)
{
	int err = 0;

	*container = *name = (struct tenon_slice){ "", 0 };
	if (op->has_options)
		err = flatbuffer_string(&op->options, HANDLE_CONTAINER, container);
	if (!err && op->has_options)
		err = flatbuffer_string(&op->options, HANDLE_NAME, name);
	return err;
}

static struct tflite_variable *find(const struct tflite_network *n, struct tenon_slice container,
				    struct tenon_slice name)
{
	uint32_t i;

	for (i = 0; i < n->variable_count; i++)
		if (tenon_slice_equal(n->variables[i].name, name) &&
		    tenon_slice_equal(n->variables[i].container, container))
			return &n->variables[i];
	return NULL;
}

/* The type and size of a variable are those of the first tensor that is read from it or assigned to it. */
static int agree(const struct operator_call *c, struct tflite_variable *v,
		 const struct tflite_tensor *t)
{
	if (!v->known) {
		v->known = true;
		v->type = t->type;
		v->bytes = t->bytes;
	}
	if (v->type == t->type && v->bytes == t->bytes && tflite_type_bits(t->type))
		return 0;
	return operator_fault(c, NULL, -TENON_E_FORMAT,
			      "has type %s and %" PRIu64
			      " bytes for variable \"%.*s\", which has %s and %" PRIu64,
			      tflite_type_name(t->type), t->bytes, (int)v->name.size, v->name.data,
			      tflite_type_name(v->type), v->bytes);
}

/* ---- handles */

static uint32_t count_handles(const struct tflite_network *n)
{
	uint32_t i, count = 0;

	for (i = 0; i < n->model.operators.count; i++)
		count += n->steps[i].call.op.builtin == TFLITE_VAR_HANDLE;
	return count;
}

static int read_handle(struct tflite_network *n, const struct operator_call *c)
{
	struct tenon_slice container, name;
	struct tflite_variable *v;
	int err = read_name(&c->op, &container, &name);

	if (err)
		return err;
	if (c->output_count != 1)
		return operator_fault(c, NULL, -TENON_E_FORMAT, "has %" PRIu32 " outputs, want 1",
				      c->output_count);
	/* of another type it would have bytes, which its variable need not have */
	if (c->outputs[0]->info.type != TFLITE_RESOURCE)
		return operator_fault(c, c->outputs[0], -TENON_E_FORMAT,
				      "has type %s, want resource",
				      tflite_type_name(c->outputs[0]->info.type));
	v = find(n, container, name);
	if (!v) {
		v = &n->variables[n->variable_count++];
		*v = (struct tflite_variable){ .container = container, .name = name };
	}
	n->variable_of[c->outputs[0]->index] = (uint32_t)(v - n->variables) + 1;
	return 0;
}

static int variable_of(const struct tflite_network *n, const struct operator_call *c,
		       struct tflite_variable **out)
{
	const struct tflite_value *handle = c->input_count ? c->inputs[0] : NULL;
	const uint32_t number = handle && n->variable_of ? n->variable_of[handle->index] : 0;

	if (!number)
		return operator_fault(c, handle, -TENON_E_FORMAT, "is no variable of VAR_HANDLE");
	*out = &n->variables[number - 1];
	return 0;
}

/* ---- the graph of CALL_ONCE */

/* Find the variable of a handle that the graph makes. */
static int handle_in(const struct tflite_model *graph, int32_t handle,
		     struct tenon_slice *container, struct tenon_slice *name)
{
	struct tflite_operator op;
	uint32_t i;
	int err = 0;

	for (i = 0; i < graph->operators.count && !err; i++) {
		err = tflite_operator(graph, i, &op);
		if (!err && op.builtin == TFLITE_VAR_HANDLE && op.outputs.count == 1 &&
		    tflite_index(&op.outputs, 0) == handle)
			return read_name(&op, container, name);
	}
	return err ? err : -TENON_E_NOT_FOUND;
}

static int assign_first(struct tflite_network *n, const struct operator_call *c,
			const struct tflite_model *graph, const struct tflite_operator *op)
{
	struct tenon_slice container, name;
	struct tflite_variable *v;
	struct tflite_tensor t;
	int err;

	if (op->inputs.count != 2 || tflite_index(&op->inputs, 1) < 0 ||
	    handle_in(graph, tflite_index(&op->inputs, 0), &container, &name))
		return operator_fault(c, NULL, -TENON_E_FORMAT,
				      "calls graph %" PRIu32 ", which assigns to no variable",
				      graph->graph);
	err = tflite_tensor(graph, (uint32_t)tflite_index(&op->inputs, 1), &t);
	if (err)
		return err;
	if (!t.data.size || t.data.size != t.bytes)
		return operator_fault(c, NULL, -TENON_E_UNSUPPORTED,
				      "calls graph %" PRIu32
				      ", which assigns what is no constant to \"%.*s\"",
				      graph->graph, (int)name.size, name.data);
	v = find(n, container, name);
	if (!v)
		return 0; /* no operator of the model reads it */
	err = agree(c, v, &t);
	v->initial = t.data;
	return err;
}

static int do_first_time(struct tflite_network *n, const struct operator_call *c,
			 const struct tflite_model *graph, const struct tflite_operator *op)
{
	const struct tenon_slice name = tflite_operator_name(op);

	if (op->builtin == TFLITE_VAR_HANDLE)
		return 0;
	if (op->builtin == TFLITE_ASSIGN_VARIABLE)
		return assign_first(n, c, graph, op);
	if (npu_is(op) && graph->operators.count == 1 && !n->first_graph) {
		n->first_graph = graph->graph;
		return 0;
	}
	return operator_fault(c, NULL, -TENON_E_UNSUPPORTED,
			      "calls graph %" PRIu32
			      " with %.*s; VAR_HANDLE and ASSIGN_VARIABLE are supported there",
			      graph->graph, (int)name.size, name.data);
}

static int call_first_time(struct tflite_network *n, const struct operator_call *c)
{
	struct tflite_model graph;
	struct tflite_operator op;
	uint64_t number;
	uint32_t i;
	int err = operator_option(c, 0, 4, 0, &number);

	if (err)
		return err;
	if (!number || number >= n->model.graphs.count)
		return operator_fault(c, NULL, -TENON_E_FORMAT,
				      "calls graph %" PRIu64 " of a model of %" PRIu32, number,
				      n->model.graphs.count);
	err = tflite_graph(&n->model, (uint32_t)number, &graph);
	if (!err && graph.inputs.count)
		err = operator_fault(c, NULL, -TENON_E_UNSUPPORTED,
				     "calls graph %" PRIu32 ", which takes %" PRIu32
				     " inputs; a graph that is called once has none",
				     graph.graph, graph.inputs.count);
	if (!err && graph.operators.count > 2 * VARIABLES_MOST)
		err = operator_fault(c, NULL, -TENON_E_UNSUPPORTED,
				     "calls a graph of %" PRIu32 " operators; %d are the most",
				     graph.operators.count, 2 * VARIABLES_MOST);
	for (i = 0; !err && i < graph.operators.count; i++) {
		err = tflite_operator(&graph, i, &op);
		err = err ? err : do_first_time(n, c, &graph, &op);
	}
	return err;
}

/* ---- all */

static int read_step(struct tflite_network *n, const struct operator_call *c)
{
	const bool reads = c->op.builtin == TFLITE_READ_VARIABLE;
	struct tflite_variable *v = NULL;
	int err;

	if (c->op.builtin == TFLITE_CALL_ONCE)
		return call_first_time(n, c);
	if (!reads && c->op.builtin != TFLITE_ASSIGN_VARIABLE)
		return 0;
	err = variable_of(n, c, &v);
	if (err)
		return err;
	if (reads ? c->output_count != 1 : c->input_count != 2 || !c->inputs[1])
		return operator_fault(c, NULL, -TENON_E_FORMAT, "has not the tensors it needs");
	return agree(c, v, reads ? &c->outputs[0]->info : &c->inputs[1]->info);
}

int tflite_variables_read(struct tflite_network *n)
{
	const uint32_t count = count_handles(n);
	uint32_t i;
	int err = 0;

	if (count > VARIABLES_MOST)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%" PRIu32 " handles of variables; %d are the most", count,
				   VARIABLES_MOST);
	if (count) {
		n->variables = heap_zeroed(count, sizeof(*n->variables), "model");
		n->variable_of =
			heap_zeroed(n->model.tensors.count, sizeof(*n->variable_of), "model");
		if (!n->variables || !n->variable_of)
			return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " variables",
					   count);
	}
	for (i = 0; i < n->model.operators.count && !err; i++)
		if (n->steps[i].call.op.builtin == TFLITE_VAR_HANDLE)
			err = read_handle(n, &n->steps[i].call);
	for (i = 0; i < n->model.operators.count && !err; i++)
		err = read_step(n, &n->steps[i].call);
	return err;
}

void tflite_variables_bind(struct tflite_network *n)
{
	struct tflite_variable *v;
	uint32_t i;
	char *data;

	for (i = 0; i < n->variable_count; i++) {
		v = &n->variables[i];
		data = tflite_place(n, v->offset);
		if (v->initial.size)
			tflite_load(data, v->initial, v->type);
		else
			memset(data, 0, (size_t)v->bytes);
	}
	for (i = 0; n->variable_of && i < n->model.tensors.count; i++)
		if (n->variable_of[i])
			n->values[i].data =
				tflite_place(n, n->variables[n->variable_of[i] - 1].offset);
}
