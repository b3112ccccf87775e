/* SPDX-License-Identifier: MIT */
/* Element-wise operators of one input, which are also post-ops: the end of other operators' names. */
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "runtime/byoc/dnnl/dnnl_operation.h"

static const struct eltwise {
	const char *name;
	const char *word; /* in names such as dnnl.conv2d_bias_relu */
	enum dnnl_eltwise what;
	float alpha, beta;
	const char *alpha_key, *beta_key; /* attributes that have the numbers instead */
	bool bounded;			  /* from 0 to 1 */
} rows[] = {
	{ "nn.relu", "_relu", DNNL_RELU, 0, 0, NULL, NULL, false },
	{ "nn.leaky_relu", NULL, DNNL_RELU, 0, 0, "alpha", NULL, false },
	{ "tanh", "_tanh", DNNL_TANH, 0, 0, NULL, NULL, false },
	{ "clip", "_clip", DNNL_CLIP, 0, 0, "a_min", "a_max", false },
	{ "sigmoid", "_sigmoid", DNNL_LOGISTIC, 0, 0, NULL, NULL, false },
	{ "nn.silu", "_swish", DNNL_SWISH, 1, 0, NULL, NULL, false },
	{ "gelu_erf", "_gelu", DNNL_GELU_ERF, 0, 0, NULL, NULL, false },
	{ "hard_swish", "_hardswish", DNNL_HARDSWISH, 1.F / 6, 0.5F, NULL, NULL, false },
	{ "hard_sigmoid", "_hardsigmoid", DNNL_LINEAR, 0.2F, 0.5F, "alpha", "beta", true },
	{ "gelu_tanh", NULL, DNNL_GELU_TANH, 0, 0, NULL, NULL, false },
	{ "linear", NULL, DNNL_LINEAR, 1, 0, "alpha", "beta", false },
	{ "abs", NULL, DNNL_ABS, 0, 0, NULL, NULL, false },
	{ "exp", NULL, DNNL_EXP, 0, 0, NULL, NULL, false },
	{ "log", NULL, DNNL_LOG, 0, 0, NULL, NULL, false },
	{ "sqrt", NULL, DNNL_SQRT, 0, 0, NULL, NULL, false },
	{ "round", NULL, DNNL_ROUND, 0, 0, NULL, NULL, false },
	{ NULL, NULL, DNNL_ELTWISE_COUNT, 0, 0, NULL, NULL, false },
};

static const struct eltwise *row_of(struct tenon_slice name)
{
	const struct eltwise *e;

	for (e = rows; e->name; e++)
		if (slice_is(name, e->name))
			return e;
	return NULL;
}

static void numbers_of(struct operation *o, const struct eltwise *e, float *alpha, float *beta)
{
	*alpha = e->alpha_key ? byoc_real(&o->in, e->alpha_key, e->alpha) : e->alpha;
	*beta = e->beta_key ? byoc_real(&o->in, e->beta_key, e->beta) : e->beta;
}

static void append_bounds(struct operation *o, struct dnnl_post_ops *ops)
{
	operation_call(o, dnnl_append_eltwise(ops, DNNL_CLIP, 0, 1), "a post-op");
}

static void append_row(struct operation *o, struct dnnl_post_ops *ops, const struct eltwise *e,
		       float alpha, float beta)
{
	operation_call(o, dnnl_append_eltwise(ops, e->what, alpha, beta), "a post-op");
	if (e->bounded)
		append_bounds(o, ops);
}

/* dnnl.conv2d_bias_sum_relu */
static void append_words(struct operation *o, struct dnnl_post_ops *ops)
{
	const struct eltwise *e;
	float alpha, beta;

	for (e = rows; e->name; e++)
		if (e->word && byoc_named(&o->in, e->word)) {
			numbers_of(o, e, &alpha, &beta);
			append_row(o, ops, e, alpha, beta);
		}
}

/* An item of "post_ops": an operator of one input; its numbers are in lists beside it. */
static void append_item(struct operation *o, struct dnnl_post_ops *ops, uint32_t item)
{
	const struct tenon_slice name = byoc_text_at(&o->in, "post_ops", item);
	const struct eltwise *e = row_of(name);
	float alpha, beta;

	if (!o->in.err && !e)
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "post-op %u, %.*s, is not supported",
					item, json_shown(name), name.data);
	if (o->in.err)
		return;
	alpha = e->alpha_key ? byoc_real_at(&o->in, "post_alpha", item, e->alpha) : e->alpha;
	beta = e->beta_key ? byoc_real_at(&o->in, "post_beta", item, e->beta) : e->beta;
	append_row(o, ops, e, alpha, beta);
}

/* The sum, and then those of the list or of the name. */
static void append_all(struct operation *o, struct dnnl_post_ops *ops)
{
	const uint32_t count = byoc_count(&o->in, "post_ops");
	uint32_t item = operation_has_sum(o);

	if (item && !o->in.err)
		o->in.err = dnnl_check(dnnl_append_sum(ops), "a sum");
	if (!count)
		append_words(o, ops);
	for (; item < count && !o->in.err; item++)
		append_item(o, ops, item);
}

/* Call @append_to with the post-ops of the primitive. */
static void set_post_ops(struct operation *o,
			 void (*append_to)(struct operation *o, struct dnnl_post_ops *ops))
{
	struct dnnl_post_ops *ops;

	operation_call(o, dnnl.post_ops_create(&ops), "post-ops");
	if (o->in.err)
		return;
	append_to(o, ops);
	operation_call(o, dnnl.primitive_attr_set_post_ops(o->attr, ops), "post-ops");
	dnnl.post_ops_destroy(ops);
}

bool operation_has_sum(struct operation *o)
{
	if (byoc_has(&o->in, "post_ops"))
		return slice_is(byoc_text_at(&o->in, "post_ops", 0), "sum");
	return byoc_named(&o->in, "_sum");
}

void operation_post_ops(struct operation *o)
{
	const struct tenon_slice activation = byoc_text(&o->in, "activation");

	if (!o->in.err && (byoc_has(&o->in, "o_scl_idx") || byoc_has(&o->in, "sum_idx") ||
			   (activation.size && !slice_is(activation, "none"))))
		o->in.err =
			tenon_error(-TENON_E_UNSUPPORTED, "quantised operators are not supported");
	set_post_ops(o, append_all);
}

bool make_eltwise(struct operation *o)
{
	const struct eltwise *e = row_of(o->in.n->name);
	struct dnnl_layout *layout;
	float alpha, beta;

	if (!e)
		return false;
	layout = operation_read_alike(o, NULL);
	numbers_of(o, e, &alpha, &beta);
	if (e->bounded)
		set_post_ops(o, append_bounds);
	operation_call(o, dnnl_eltwise(&o->pd, e->what, layout, alpha, beta, o->attr),
		       "an element-wise operator");
	operation_finish(o, NULL);
	return true;
}
