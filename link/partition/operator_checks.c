/* SPDX-License-Identifier: MIT */
/* What tables of several generators have in common: checks of types, extents and attributes. */
#include <string.h>
#include <tenon/backend/buffer.h>

#include "link/partition/partition.h"

/* ---- types and extents of all operands */

bool op_types(const struct op_graph *g, const struct op *o, const char *dtype)
{
	uint32_t i;

	for (i = 0; i < o->input_count; i++)
		if (!op_value_is(&g->values[o->inputs[i]], dtype))
			return false;
	return op_value_is(&g->values[o->output], dtype);
}

static bool same_shape(const struct op_value *a, const struct op_value *b)
{
	return a->ndim == b->ndim &&
	       !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(a->shape[0]));
}

bool op_same_shapes(const struct op_graph *g, const struct op *o)
{
	uint32_t i;

	for (i = 0; i < o->input_count; i++)
		if (!same_shape(&g->values[o->inputs[i]], &g->values[o->output]))
			return false;
	return true;
}

bool op_broadcasts(const struct op_graph *g, const struct op *o)
{
	const struct op_value *out = &g->values[o->output], *in;
	uint32_t i;
	int32_t k;

	for (i = 0; i < o->input_count; i++) {
		in = &g->values[o->inputs[i]];
		if (in->ndim > out->ndim)
			return false;
		for (k = 0; k < in->ndim; k++)
			if (in->shape[k] != 1 &&
			    in->shape[k] != out->shape[out->ndim - in->ndim + k])
				return false;
	}
	return true;
}

/* ---- operators */

static bool layout_is(const struct op_graph *g, const struct op *o, const char *key,
		      const char *want)
{
	const struct tenon_slice layout = op_attr(g, o, key);

	return !layout.size || tenon_slice_equal(layout, tenon_slice_of(want));
}

/* @inputs operands and the result have @ndim dimensions. */
static bool has_ranks(const struct op_graph *g, const struct op *o, uint32_t inputs, int32_t ndim)
{
	uint32_t i;

	for (i = 0; i < inputs && i < o->input_count; i++)
		if (g->values[o->inputs[i]].ndim != ndim)
			return false;
	return o->input_count == inputs && g->values[o->output].ndim == ndim;
}

bool op_is_dense(const struct op_graph *g, const struct op *o, const char *operands,
		 const char *result)
{
	const struct op_value *x, *w, *y = &g->values[o->output];

	if (!op_is(o, "nn.dense") || !has_ranks(g, o, 2, 2))
		return false;
	x = &g->values[o->inputs[0]];
	w = &g->values[o->inputs[1]];
	return op_value_is(x, operands) && op_value_is(w, operands) && op_value_is(y, result) &&
	       x->shape[0] == y->shape[0] && w->shape[0] == y->shape[1] &&
	       x->shape[1] == w->shape[1];
}

bool op_is_conv2d(const struct op_graph *g, const struct op *o)
{
	const int64_t *x, *w, *y = g->values[o->output].shape;
	int64_t groups;

	if (!op_is(o, "nn.conv2d") || !has_ranks(g, o, 2, 4) ||
	    !layout_is(g, o, "data_layout", "NCHW") || !layout_is(g, o, "out_layout", "NCHW") ||
	    !layout_is(g, o, "kernel_layout", "OIHW"))
		return false;
	x = g->values[o->inputs[0]].shape;
	w = g->values[o->inputs[1]].shape;
	op_numbers(g, o, "groups", 1, &groups, 1);
	return groups > 0 && x[0] == y[0] && w[0] == y[1] && !(y[1] % groups) &&
	       w[1] * groups == x[1];
}

bool op_is_pool2d(const struct op_graph *g, const struct op *o)
{
	const int64_t *x, *y = g->values[o->output].shape;

	if (!(op_is(o, "nn.max_pool2d") || op_is(o, "nn.avg_pool2d") ||
	      op_is(o, "nn.global_avg_pool2d")) ||
	    !has_ranks(g, o, 1, 4) || !layout_is(g, o, "layout", "NCHW") ||
	    !layout_is(g, o, "out_layout", "NCHW"))
		return false;
	x = g->values[o->inputs[0]].shape;
	return x[0] == y[0] && x[1] == y[1];
}

bool op_is_softmax(const struct op_graph *g, const struct op *o)
{
	return op_is(o, "nn.softmax") && o->input_count == 1 && op_same_shapes(g, o) &&
	       op_axis(g, o, -1, g->values[o->output].ndim) >= 0;
}

bool op_is_bias_add(const struct op_graph *g, const struct op *o)
{
	const struct op_value *out = &g->values[o->output];
	const int32_t axis = op_axis(g, o, 1, out->ndim);

	return op_is(o, "nn.bias_add") && axis >= 0 && o->input_count == 2 &&
	       same_shape(&g->values[o->inputs[0]], out) && g->values[o->inputs[1]].ndim == 1 &&
	       g->values[o->inputs[1]].shape[0] == out->shape[axis];
}

void op_window(const struct op_graph *g, const struct op *o, struct op_window *w)
{
	const uint32_t whole = op_is(o, "nn.global_avg_pool2d") ? 0 : UINT32_MAX;
	const uint32_t kernel = op_is(o, "nn.conv2d") ? 1 : whole;
	int64_t padding[4];
	uint32_t count = op_numbers(g, o, "padding", 0, padding, 4);

	op_numbers(g, o, "strides", 1, w->strides, 2);
	op_numbers(g, o, "dilation", 1, w->dilation, 2);
	op_numbers(g, o, "pool_size", 1, w->kernel, 2);
	if (kernel != UINT32_MAX)
		memcpy(w->kernel, &g->values[o->inputs[kernel]].shape[2], sizeof(w->kernel));
	w->before[0] = padding[0];
	w->before[1] = count > 1 ? padding[1] : padding[0];
}

/* ---- text */

void op_put_extents(struct tenon_buffer *out, const struct op_value *v, const char *between)
{
	int32_t i;

	for (i = 0; i < v->ndim; i++)
		tenon_buffer_printf(out, "%s%lld", i ? between : "", (long long)v->shape[i]);
}
