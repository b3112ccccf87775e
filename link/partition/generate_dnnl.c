/* SPDX-License-Identifier: MIT */
/*
 * dnnl_json, for oneDNN: the generator for a vendor's library behind a JSON runtime, in the form
 * that TVM writes. A convolution or dense takes the bias, the sum and the activation behind it;
 * parameters become constants in a const_loader module.
 */
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/slice_text.h"
#include "link/partition/generate_json.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- what it supports */

/* The axis that has a bias: 1 of a dense. */
static int32_t channel_axis(const struct op_graph *g, const struct op *o)
{
	struct tenon_slice layout = op_attr(g, o, "out_layout");
	const char *at;

	if (!layout.size)
		layout = op_attr(g, o, "data_layout");
	at = memchr(layout.data, 'C', layout.size);
	return at && op_is(o, "nn.conv2d") ? (int32_t)(at - layout.data) : 1;
}

static bool is_image(const struct op_graph *g, const struct op *o)
{
	return g->values[o->inputs[0]].ndim == 4 && g->values[o->output].ndim == 4;
}

static bool is_conv(const struct op_graph *g, const struct op *o)
{
	return o->input_count == 2 && is_image(g, o) && g->values[o->inputs[1]].ndim == 4;
}

static bool is_dense(const struct op_graph *g, const struct op *o)
{
	return op_is_dense(g, o, "float32", "float32");
}

/* A bias of the last axis is an add; another must follow a convolution, which takes it. */
static bool is_bias(const struct op_graph *g, const struct op *o)
{
	const int32_t ndim = g->values[o->output].ndim, axis = op_axis(g, o, 1, ndim);
	uint32_t i;

	if (!op_is_bias_add(g, o))
		return false;
	for (i = 0; i < g->op_count; i++)
		if (g->ops[i].output == o->inputs[0] && op_is(&g->ops[i], "nn.conv2d") &&
		    axis == channel_axis(g, &g->ops[i]) && g->values[o->inputs[0]].readers == 1 &&
		    g->values[o->inputs[1]].input)
			return true;
	return axis == ndim - 1;
}

static bool is_unary(const struct op_graph *g, const struct op *o)
{
	return o->input_count == 1 && op_same_shapes(g, o);
}

static bool is_binary(const struct op_graph *g, const struct op *o)
{
	return o->input_count == 2 && op_broadcasts(g, o);
}

/* oneDNN broadcasts the second operand. */
static bool is_ordered(const struct op_graph *g, const struct op *o)
{
	return is_binary(g, o) && g->values[o->inputs[0]].elements == g->values[o->output].elements;
}

static bool is_reshape(const struct op_graph *g, const struct op *o)
{
	return g->values[o->inputs[0]].elements == g->values[o->output].elements;
}

static bool is_concatenation(const struct op_graph *g, const struct op *o)
{
	uint32_t i;

	for (i = 0; i < o->input_count; i++)
		if (g->values[o->inputs[i]].ndim != g->values[o->output].ndim)
			return false;
	return o->input_count <= 64 && op_axis(g, o, 0, g->values[o->output].ndim) >= 0;
}

static const struct row {
	const char *op;
	bool (*fits)(const struct op_graph *g, const struct op *o);
} rows[] = {
	{ "nn.conv2d", is_conv },
	{ "nn.dense", is_dense },
	{ "nn.max_pool2d", is_image },
	{ "nn.avg_pool2d", is_image },
	{ "nn.global_avg_pool2d", is_image },
	{ "nn.softmax", op_is_softmax },
	{ "nn.bias_add", is_bias },
	{ "nn.batch_flatten", is_reshape },
	{ "reshape", is_reshape },
	{ "concatenate", is_concatenation },
	{ "add", is_binary },
	{ "multiply", is_binary },
	{ "maximum", is_binary },
	{ "minimum", is_binary },
	{ "subtract", is_ordered },
	{ "divide", is_ordered },
	{ "nn.relu", is_unary },
	{ "nn.leaky_relu", is_unary },
	{ "nn.silu", is_unary },
	{ "tanh", is_unary },
	{ "sigmoid", is_unary },
	{ "abs", is_unary },
	{ "exp", is_unary },
	{ "log", is_unary },
	{ "sqrt", is_unary },
	{ "clip", is_unary },
	{ "hard_swish", is_unary },
	{ "hard_sigmoid", is_unary },
};

static bool dnnl_supports(const struct op_graph *g, const struct op *o)
{
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		if (op_is(o, rows[i].op))
			return o->input_count && op_types(g, o, "float32") && rows[i].fits(g, o);
	return false;
}

/* ---- fusing */

/* The operator of the region that is the only reader of a value; SIZE_MAX for none. */
static size_t only_reader(const struct json *j, uint32_t value)
{
	uint32_t i;

	if (j->p->g->values[value].readers != 1)
		return SIZE_MAX;
	for (i = 0; i < j->op_count; i++)
		if (!j->taken[i] &&
		    partition_place(j->ops[i]->inputs, j->ops[i]->input_count, value) != UINT32_MAX)
			return i;
	return SIZE_MAX;
}

static uint32_t other_of(const struct op *o, uint32_t value)
{
	return o->inputs[o->inputs[0] == value];
}

/* Broadcasting can give the sum more elements than an operand has. */
static bool keeps_shape(const struct json *j, const struct op *o, uint32_t value)
{
	const struct op_value *v = &j->p->g->values[value], *out = &j->p->g->values[o->output];

	return v->elements == out->elements && v->ndim == out->ndim;
}

/* One element for each channel: [C] of a dense, [C, 1, 1] or [1, C, 1, 1] of a convolution. */
static bool is_per_channel(const struct json *j, const struct op *o, uint32_t value,
			   int32_t channels)
{
	const struct op_value *v = &j->p->g->values[value], *out = &j->p->g->values[o->output];
	const int32_t axis = v->ndim - (out->ndim - channels);

	if (!j->node[value] || channels >= out->ndim || v->elements != out->shape[channels])
		return false;
	if (op_is(o, "nn.bias_add"))
		return op_axis(j->p->g, o, 1, out->ndim) == channels;
	return axis >= 0 && v->shape[axis] == v->elements;
}

/* struct fused - a convolution or dense operator with the operators that join it */
struct fused {
	char name[64];
	uint32_t inputs[4];
	uint32_t input_count;
	const struct op *last; /* whose output the node has */
};

static void take(struct json *j, struct fused *f, size_t at, const char *word, uint32_t input)
{
	/* what TVM calls a fused nn.conv2d */
	if (!strncmp(f->name, "nn.", 3))
		snprintf(f->name, sizeof(f->name), "dnnl.%.*s", 32,
			 op_is(f->last, "nn.dense") ? "dense" : "conv2d");
	strcat(f->name, word);
	if (input != UINT32_MAX)
		f->inputs[f->input_count++] = input;
	f->last = j->ops[at];
	j->taken[at] = true;
}

static void fuse(struct json *j, struct fused *f)
{
	static const char *const activations[][2] = {
		{ "nn.relu", "_relu" },
		{ "tanh", "_tanh" },
		{ "sigmoid", "_sigmoid" },
		{ "clip", "_clip" },
		{ "nn.silu", "_swish" },
		{ "hard_swish", "_hardswish" },
		{ "hard_sigmoid", "_hardsigmoid" },
	};
	const int32_t channels = channel_axis(j->p->g, f->last);
	const bool conv = op_is(f->last, "nn.conv2d");
	uint32_t value, other, i;
	size_t at;

	value = f->last->output;
	at = only_reader(j, value);
	if (at != SIZE_MAX && keeps_shape(j, j->ops[at], value) &&
	    (op_is(j->ops[at], "add") || op_is(j->ops[at], "nn.bias_add"))) {
		other = other_of(j->ops[at], value);
		if (is_per_channel(j, j->ops[at], other, channels))
			take(j, f, at, "_bias", other);
	}
	value = f->last->output;
	at = only_reader(j, value);
	if (conv && at != SIZE_MAX && op_is(j->ops[at], "add") &&
	    op_same_shapes(j->p->g, j->ops[at])) {
		other = other_of(j->ops[at], value);
		if (j->node[other] && other != value)
			take(j, f, at, "_sum", other);
	}
	at = only_reader(j, f->last->output);
	for (i = 0; at != SIZE_MAX && i < COUNT(activations); i++)
		if (op_is(j->ops[at], activations[i][0])) {
			take(j, f, at, activations[i][1], UINT32_MAX);
			break;
		}
}

static void put_op(struct json *j, size_t at)
{
	const struct op *o = j->ops[at];
	const uint32_t *inputs = o->inputs;
	struct fused f = { .last = o };
	uint32_t count = o->input_count;

	j->taken[at] = true;
	snprintf(f.name, sizeof(f.name), "%.*s", slice_shown(o->name, 32), o->name.data);
	if (op_is(o, "nn.conv2d") || op_is(o, "nn.dense")) {
		f.inputs[0] = inputs[0];
		f.inputs[1] = inputs[1];
		f.input_count = 2;
		fuse(j, &f);
		inputs = f.inputs;
		count = f.input_count;
	}
	json_put_op(j, tenon_slice_of(op_is(o, "nn.bias_add") ? "add" : f.name), inputs, count, o,
		    f.last);
}

static int dnnl_generate(struct partition *p, const struct generator *self)
{
	return json_generate(p, self, "dnnl_json", put_op);
}

extern const struct generator dnnl_generator;
const struct generator dnnl_generator = {
	.name = "dnnl",
	.summary = "graphs for oneDNN, as TVM writes them",
	.bakes = true,
	.supports = dnnl_supports,
	.generate = dnnl_generate,
};
