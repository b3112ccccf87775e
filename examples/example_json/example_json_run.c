/* SPDX-License-Identifier: MIT */
/* Compute a graph's nodes on arguments in host memory. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/tensor.h>

#include "example_json_graph.h"

static DLTensor describe(const struct example_text *t, const struct example_node *node)
{
	int64_t *extents = node->ndim ? t->extents + node->first_extent : NULL;

	return tenon_dltensor(NULL, extents, (int32_t)node->ndim,
			      tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
}

static void print_shape(struct tenon_buffer *out, const DLTensor *dl)
{
	int32_t i;

	tenon_buffer_printf(out, "[");
	for (i = 0; i < dl->ndim; i++)
		tenon_buffer_printf(out, "%s%lld", i ? ", " : "", (long long)dl->shape[i]);
	tenon_buffer_printf(out, "]");
}

static int wrong_shape(const struct example_graph *g, int32_t argument, const DLTensor *given,
		       const DLTensor *want)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	print_shape(&text, given);
	tenon_buffer_printf(&text, ", the graph says ");
	print_shape(&text, want);
	err = tenon_error(-TENON_E_VALUE, "%.*s: argument %d has shape %s", (int)g->name.size,
			  g->name.data, argument, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return err;
}

/* Get the float data of an argument after a check against the graph. */
static int argument_data(const struct example_text *t, const struct example_graph *g,
			 const struct example_node *node, const struct tenon_value *args,
			 int32_t argument, float **out)
{
	const DLTensor want = describe(t, node);
	char dtype[TENON_DTYPE_NAME];
	DLTensor *dl;
	int32_t i;
	int err;

	err = tenon_value_tensor(&args[argument], &dl);
	if (err)
		return tenon_error_in(err, "%.*s: argument %d", (int)g->name.size, g->name.data,
				      argument);
	if (!tenon_dtype_equal(dl->dtype, want.dtype))
		return tenon_error(-TENON_E_TYPE,
				   "%.*s: argument %d has dtype %s, the graph wants float32",
				   (int)g->name.size, g->name.data, argument,
				   tenon_dtype_name(dl->dtype, dtype));
	if (dl->device.device_type != kDLCPU)
		return tenon_error(-TENON_E_VALUE,
				   "%.*s: argument %d is on %s, the graph runs on the cpu",
				   (int)g->name.size, g->name.data, argument,
				   tenon_device_name(dl->device.device_type));
	if (dl->ndim != want.ndim)
		return wrong_shape(g, argument, dl, &want);
	for (i = 0; i < dl->ndim; i++)
		if (dl->shape[i] != want.shape[i])
			return wrong_shape(g, argument, dl, &want);
	if (!tenon_tensor_compact(dl))
		return tenon_error(-TENON_E_VALUE, "%.*s: argument %d has gaps between elements",
				   (int)g->name.size, g->name.data, argument);
	*out = (float *)((char *)dl->data + dl->byte_offset);
	return 0;
}

static void compute(char op, const float *a, const float *b, float *out, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		out[i] = op == '+' ? a[i] + b[i] : op == '-' ? a[i] - b[i] : a[i] * b[i];
}

/* Compute all nodes. Inputs use the arguments' memory; the others are allocated here. */
static int run_nodes(const struct example_text *t, const struct example_graph *g,
		     const struct tenon_value *args, float **values)
{
	const struct example_node *node;
	DLTensor dl;
	size_t i, bytes;
	int err;

	for (i = 0; i < g->count; i++) {
		node = &t->nodes[g->first + i];
		if (node->op == '=') {
			err = argument_data(t, g, node, args, (int32_t)node->argument, &values[i]);
			if (err)
				return err;
			continue;
		}
		/*
		 * The parser checked that inputs and outputs of an operation have one shape, so
		 * this fits.
		 */
		dl = describe(t, node);
		err = tenon_tensor_bytes(&dl, &bytes);
		if (err)
			return err;
		values[i] = malloc(bytes + 1);
		if (!values[i])
			return tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes of node %u",
					   bytes, node->id);
		compute(node->op, values[node->operand[0] - g->first],
			values[node->operand[1] - g->first], values[i], bytes / sizeof(float));
	}
	return 0;
}

/* Copy the values of the last node to the last argument and to a new tensor. */
static int give_result(const struct example_text *t, const struct example_graph *g,
		       const struct tenon_value *args, float *const *values,
		       struct tenon_value *ret)
{
	const struct example_node *last = &t->nodes[g->first + g->count - 1];
	const DLTensor dl = describe(t, last);
	struct tenon_tensor *result;
	float *output;
	size_t bytes;
	int err;

	err = argument_data(t, g, last, args, (int32_t)g->inputs, &output);
	if (!err)
		err = tenon_tensor_bytes(&dl, &bytes);
	if (!err)
		err = tenon_tensor_create(dl.shape, dl.ndim, dl.dtype, &result);
	if (err)
		return err;
	/* The output may alias an input. */
	memmove(output, values[g->count - 1], bytes);
	memcpy(result->dl.data, output, bytes);
	*ret = tenon_arg_object(result);
	return 0;
}

int example_graph_run(const struct example_text *t, const struct example_graph *g,
		      const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	float **values;
	size_t i;
	int err;

	if (count < 0 || (uint32_t)count != g->inputs + 1)
		return tenon_error(-TENON_E_TYPE,
				   "%.*s: %d argument%s given, want %u: %u input%s and the output",
				   (int)g->name.size, g->name.data, count, count == 1 ? "" : "s",
				   g->inputs + 1, g->inputs, g->inputs == 1 ? "" : "s");
	values = calloc(g->count, sizeof(float *));
	if (!values)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu nodes", g->count);
	err = run_nodes(t, g, args, values);
	if (!err)
		err = give_result(t, g, args, values, ret);
	for (i = 0; i < g->count; i++)
		if (t->nodes[g->first + i].op != '=')
			free(values[i]);
	free(values);
	return err;
}
