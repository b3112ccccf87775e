/* SPDX-License-Identifier: MIT */
/* The table of operators, and those that are neither products nor element-wise with one input. */
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/byoc/dnnl/dnnl_integers.h"

/* ---- pooling */

/* An extent that was rounded up needs more padding at its end. */
static void pad_last(const struct byoc_view *in, const struct byoc_view *out, struct dnnl_window *w)
{
	int64_t needed;
	int i;

	for (i = 0; i < in->ndim - 2; i++) {
		needed = (out->dims[i + 2] - 1) * w->strides[i] +
			 (w->kernel[i] - 1) * (w->dilates[i] + 1) + 1 - in->dims[i + 2] -
			 w->before[i];
		if (needed > w->after[i] && needed < w->after[i] + w->strides[i])
			w->after[i] = needed;
	}
}

static void make_pooling(struct operation *o, int algorithm)
{
	const bool whole = byoc_named(&o->in, "global") || byoc_named(&o->in, "adaptive");
	const struct byoc_entry *src = byoc_src(&o->in, 0), *dst = byoc_dst(&o->in);
	int src_to[DNNL_DIMS_MOST], dst_to[DNNL_DIMS_MOST], i;
	struct dnnl_layout *now, *out;
	struct byoc_view in, result;
	struct dnnl_window w;

	byoc_data_axes(&o->in, "layout", NULL, src->ndim, src_to);
	byoc_data_axes(&o->in, "out_layout", "layout", dst->ndim, dst_to);
	if (!o->in.err && src->ndim != dst->ndim)
		o->in.err = tenon_error(-TENON_E_VALUE, "input and output differ in dimensions");
	operation_window(o, "pool_size", src->ndim - 2, &w);
	if (byoc_integer(&o->in, "count_include_pad", 0) && algorithm == DNNL_POOLING_AVG_EXCLUDE)
		algorithm = DNNL_POOLING_AVG_INCLUDE;
	if (o->in.err)
		return;
	in = byoc_view(src, src_to);
	result = byoc_view(dst, dst_to);
	for (i = 0; whole && i < in.ndim - 2; i++)
		w.kernel[i] = in.dims[i + 2];
	pad_last(&in, &result, &w);
	now = operation_read(o, 0, src_to, operation_now(o, 0, src_to), DNNL_ARG_SRC);
	out = operation_dst_layout(o, dst_to);
	operation_call(o, dnnl_pooling(&o->pd, algorithm, now, out, &w, o->attr), "a pooling");
	operation_finish(o, dst_to);
}

/* ---- normalisation */

static void make_softmax(struct operation *o, int unused)
{
	struct dnnl_layout *layout = operation_read_alike(o, NULL);
	const int axis = byoc_axis(&o->in, -1, byoc_dst(&o->in)->ndim);

	operation_call(o, dnnl_softmax(&o->pd, layout, layout, axis, o->attr), "a softmax");
	operation_finish(o, NULL);
}

static float take_epsilon(struct operation *o)
{
	const bool both = byoc_integer(&o->in, "scale", 1) && byoc_integer(&o->in, "center", 1);

	if (!o->in.err && !both)
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "no scale or no center");
	return byoc_real(&o->in, "epsilon", 1e-5F);
}

static void read_vectors(struct operation *o, int64_t channels, const int *args, uint32_t count)
{
	uint32_t i;

	byoc_want(&o->in, count + 1);
	for (i = 0; i < count && !o->in.err; i++)
		operation_read_vector(o, i + 1, channels, args[i]);
}

static void make_batch_norm(struct operation *o, int unused)
{
	static const int args[] = { DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN,
				    DNNL_ARG_VARIANCE };
	const struct byoc_entry *dst = byoc_dst(&o->in);
	const int axis = byoc_axis(&o->in, 1, dst->ndim);
	const float epsilon = take_epsilon(o);
	struct dnnl_layout *layout;
	int to[DNNL_DIMS_MOST], i;

	if (!o->in.err && (dst->ndim < 2 || !axis))
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "no axis before the channels");
	/* the channels are the second axis; the others keep their order */
	for (i = 0; i < dst->ndim; i++)
		to[i] = i == axis ? 1 : i == 0 ? 0 : i < axis ? i + 1 : i;
	byoc_want(&o->in, 5);
	layout = operation_read_alike(o, to);
	read_vectors(o, dst->shape[axis], args, 4);
	operation_call(o, dnnl_batch_norm(&o->pd, layout, epsilon, o->attr),
		       "a batch normalisation");
	operation_finish(o, to);
}

static void make_layer_norm(struct operation *o, int unused)
{
	static const int args[] = { DNNL_ARG_SCALE, DNNL_ARG_SHIFT };
	const struct byoc_entry *dst = byoc_dst(&o->in);
	const int axis = byoc_axis(&o->in, -1, dst->ndim);
	const float epsilon = take_epsilon(o);
	struct byoc_view view = byoc_view(dst, NULL);
	struct dnnl_layout *layout, *statistics;
	int i;

	if (!o->in.err && (dst->ndim < 2 || axis != dst->ndim - 1))
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "want the last axis of several");
	byoc_want(&o->in, 3);
	layout = operation_read_as(o, 0, &view, DNNL_ARG_SRC);
	read_vectors(o, dst->shape[axis], args, 2);
	if (o->in.err)
		return;
	view.ndim--;
	for (i = 0; i < view.ndim; i++)
		view.strides[i] /= dst->shape[axis] + !dst->shape[axis];
	statistics = dnnl_view_layout(o->p, &view, DNNL_F32);
	o->in.err = statistics ? 0 : -TENON_E_NOMEM;
	operation_call(o, dnnl_layer_norm(&o->pd, layout, statistics, epsilon, o->attr),
		       "a layer normalisation");
	operation_finish(o, NULL);
}

/* ---- two operands */

/* Read an operand that may have fewer dimensions. */
static struct dnnl_layout *read_broadcast(struct operation *o, uint32_t input, int arg)
{
	struct byoc_view view;

	if (!o->in.err && byoc_src(&o->in, input)->ndim > byoc_dst(&o->in)->ndim)
		o->in.err = tenon_error(-TENON_E_VALUE, "more dimensions than the result");
	if (o->in.err)
		return NULL;
	view = byoc_broadcast_view(byoc_src(&o->in, input), byoc_dst(&o->in)->ndim);
	return operation_read_as(o, input, &view, arg);
}

static void make_binary(struct operation *o, int algorithm)
{
	const bool ordered = algorithm == DNNL_BINARY_SUB || algorithm == DNNL_BINARY_DIV;
	const struct byoc_entry *dst = byoc_dst(&o->in);
	struct dnnl_layout *a, *b, *out;
	uint32_t first;

	byoc_want(&o->in, 2);
	if (o->in.err)
		return;
	first = !ordered && !byoc_same_shape(byoc_src(&o->in, 0), dst);
	if (byoc_same_shape(byoc_src(&o->in, first), dst)) {
		out = operation_now(o, first, NULL);
		a = operation_read(o, first, NULL, out, DNNL_ARG_SRC);
	} else {
		a = read_broadcast(o, first, DNNL_ARG_SRC);
		out = operation_dst_layout(o, NULL);
	}
	/* a vector of channels that a convolution computed is blocked as its result is */
	if (!o->in.err && a == out && byoc_src(&o->in, !first)->ndim == dst->ndim) {
		b = operation_read(o, !first, NULL,
				   byoc_same_shape(byoc_src(&o->in, !first), dst)
					   ? a
					   : operation_now(o, !first, NULL),
				   DNNL_ARG_SRC_1);
	} else {
		b = read_broadcast(o, !first, DNNL_ARG_SRC_1);
	}
	operation_call(o, dnnl_binary(&o->pd, algorithm, a, b, out, o->attr),
		       "an operator of two operands");
	operation_finish(o, NULL);
}

/* ---- bytes that only move */

static void make_concat(struct operation *o, int unused)
{
	const int axis = byoc_axis(&o->in, 0, byoc_dst(&o->in)->ndim);
	const struct dnnl_layout *layouts[OPERATION_INPUTS_MOST];
	const uint32_t count = o->in.n->input_count;
	struct dnnl_layout *out;
	uint32_t i;

	if (!o->in.err && count > OPERATION_INPUTS_MOST)
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "%u inputs, want 1 to %d", count,
					OPERATION_INPUTS_MOST);
	for (i = 0; i < count && !o->in.err; i++) {
		if (byoc_src(&o->in, i)->ndim != byoc_dst(&o->in)->ndim)
			o->in.err = tenon_error(-TENON_E_VALUE, "inputs of different dimensions");
		layouts[i] = operation_read(o, i, NULL, operation_now(o, i, NULL),
					    DNNL_ARG_MULTIPLE_SRC + (int)i);
	}
	out = operation_dst_layout(o, NULL);
	operation_call(o, dnnl_concat(&o->pd, out, (int)count, axis, layouts, o->attr),
		       "a concatenation");
	operation_finish(o, NULL);
}

/* The same bytes with another shape: no primitive. */
static void make_reshape(struct operation *o, int unused)
{
	const struct byoc_view view = byoc_view(byoc_dst(&o->in), NULL);
	struct dnnl_value *dst = &o->p->values[o->in.n->first_entry];

	dst->layout = operation_read_as(o, 0, &view, DNNL_ARG_SRC);
	if (o->in.err)
		return;
	dst->data = o->uses[0].data;
	dst->shared = o->p->values[o->in.n->inputs[0]].shared = true;
}

/* ---- the table */

/* A name that ends in "*" begins so. Element-wise operators have a table of their own. */
static const struct operator_row {
	const char *name;
	void (*make)(struct operation *o, int algorithm);
	int algorithm;
} rows[] = {
	{ "nn.conv*", make_convolution, 0 },
	{ "dnnl.conv*", make_convolution, 0 },
	{ "dnnl.deconv*", make_convolution, 0 },
	{ "nn.dense", make_dense, 0 },
	{ "dnnl.dense*", make_dense, 0 },
	{ "nn.batch_matmul", make_batch_matmul, 0 },
	{ "nn.max_pool*", make_pooling, DNNL_POOLING_MAX },
	{ "nn.avg_pool*", make_pooling, DNNL_POOLING_AVG_EXCLUDE },
	{ "nn.global_avg_pool2d", make_pooling, DNNL_POOLING_AVG_EXCLUDE },
	{ "nn.global_max_pool2d", make_pooling, DNNL_POOLING_MAX },
	{ "nn.batch_norm", make_batch_norm, 0 },
	{ "nn.layer_norm", make_layer_norm, 0 },
	{ "nn.softmax", make_softmax, 0 },
	{ "concatenate", make_concat, 0 },
	{ "nn.batch_flatten", make_reshape, 0 },
	{ "reshape", make_reshape, 0 },
	{ "add", make_binary, DNNL_BINARY_ADD },
	{ "multiply", make_binary, DNNL_BINARY_MUL },
	{ "maximum", make_binary, DNNL_BINARY_MAX },
	{ "minimum", make_binary, DNNL_BINARY_MIN },
	{ "subtract", make_binary, DNNL_BINARY_SUB },
	{ "divide", make_binary, DNNL_BINARY_DIV },
};

static const struct operator_row *row_of(struct tenon_slice name)
{
	size_t i, n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n = strcspn(rows[i].name, "*");
		if (name.size >= n && !memcmp(name.data, rows[i].name, n) &&
		    (rows[i].name[n] || name.size == n))
			return &rows[i];
	}
	return NULL;
}

int dnnl_operator(struct dnnl_plan *p, const struct byoc_node *n)
{
	struct operation o = { .in = { .g = p->graph, .n = n }, .p = p };
	const struct operator_row *row = row_of(n->name);

	byoc_want(&o.in, 1);
	if (!o.in.err && !n->entry_count)
		o.in.err = tenon_error(-TENON_E_VALUE, "no output");
	operation_call(&o, dnnl.primitive_attr_create(&o.attr), "attributes");
	if (o.in.err)
		return o.in.err;
	o.in.err = dnnl_check(dnnl.primitive_attr_set_scratchpad_mode(o.attr, DNNL_SCRATCHPAD_USER),
			      "attributes");
	/* only these take integers; they check types themselves then */
	if (!operation_of_integers(&o) || !row ||
	    (row->make != make_convolution && row->make != make_dense))
		operation_need_float(&o);
	if (row && !o.in.err)
		row->make(&o, row->algorithm);
	else if (!o.in.err && !make_eltwise(&o))
		o.in.err = tenon_error(-TENON_E_UNSUPPORTED, "this operator is not supported");
	if (!o.in.err)
		o.in.err = dnnl_deliver(p, n->first_entry);
	if (o.pd)
		dnnl.primitive_desc_destroy(o.pd);
	dnnl.primitive_attr_destroy(o.attr);
	return o.in.err;
}
