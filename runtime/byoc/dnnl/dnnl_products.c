/* SPDX-License-Identifier: MIT */
/* Operators with weights, which take a bias, a sum and an activation, and products of matrices. */
#include <stdint.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/byoc/dnnl/dnnl_integers.h"

/* struct weighted - a convolution or dense while it is made; axes as oneDNN wants them */
struct weighted {
	struct byoc_view src;
	struct byoc_view weights;
	int src_to[DNNL_DIMS_MOST]; /* where the axes of the graph are */
	int dst_to[DNNL_DIMS_MOST];
	int64_t channels; /* of the output */
	struct dnnl_layout *plain_weights, *bias;
	struct dnnl_layout *any_src, *any_weights, *dst;
};

/* Output and input channels of weights as the first two axes, in groups. */
static void view_weights(struct operation *o, bool transposed, struct byoc_view *view)
{
	static const char *const orders[] = { "OIW", "OIHW", "OIDHW" };
	const struct byoc_view plain = byoc_view(byoc_src(&o->in, 1), NULL);
	const int64_t groups = byoc_integer(&o->in, "groups", 1);
	struct tenon_slice layout = byoc_text(&o->in, "kernel_layout");
	int to[DNNL_DIMS_MOST], i;

	if (!o->in.err && plain.ndim != byoc_src(&o->in, 0)->ndim)
		o->in.err = tenon_error(-TENON_E_VALUE, "weights and input differ in dimensions");
	if (o->in.err)
		return;
	if (!layout.size)
		layout = tenon_slice_of(orders[plain.ndim - 3]);
	/* for transposed convolutions TVM writes OIDHW, but the weights are IODHW */
	if (transposed && tenon_slice_equal(layout, tenon_slice_of("OIDHW")))
		layout = tenon_slice_of("IODHW");
	byoc_axes(&o->in, layout, orders[plain.ndim - 3], to);
	for (i = 0; i < plain.ndim && !o->in.err; i++) {
		view->dims[to[i] + 1] = plain.dims[i];
		view->strides[to[i] + 1] = plain.strides[i];
	}
	if (!o->in.err && (groups < 1 || groups > INT32_MAX || view->dims[1] % groups))
		o->in.err = tenon_error(-TENON_E_VALUE, "%lld channels in %lld groups",
					(long long)view->dims[1], (long long)groups);
	if (o->in.err)
		return;
	view->ndim = plain.ndim + 1;
	view->dims[0] = groups;
	view->dims[1] /= groups;
	view->strides[0] = view->strides[1] * view->dims[1];
}

/* Before the primitive is described: read operands of fixed layout; oneDNN chooses the others. */
static void begin(struct operation *o, struct weighted *w, const int *dst_to)
{
	w->plain_weights = operation_read_as(o, 1, &w->weights, DNNL_ARG_WEIGHTS);
	if (byoc_named(&o->in, "_bias")) {
		byoc_want(&o->in, 3);
		w->bias = operation_read_vector(o, 2, w->channels, DNNL_ARG_BIAS);
	}
	if (operation_of_integers(o))
		operation_integers(o, w->channels, w->weights.ndim > w->src.ndim ? 2 : 1);
	operation_post_ops(o);
	w->any_src = operation_any(o, &w->src, byoc_src(&o->in, 0));
	w->any_weights = operation_any(o, &w->weights, byoc_src(&o->in, 1));
	w->dst = operation_dst_layout(o, dst_to);
}

/* oneDNN adds to its output: give it the other summand, or a copy if another operator reads that. */
static void begin_sum(struct operation *o, const int *to, struct dnnl_layout *layout)
{
	const uint32_t input = o->in.n->input_count - 1, summand = o->in.n->inputs[input];
	struct dnnl_value *v = &o->p->values[summand], *dst = &o->p->values[o->in.n->first_entry];
	struct dnnl_layout *now = operation_now(o, input, to);
	struct dnnl_use from = { v->data, now, 0 }, into = { .arg = 0 };

	if (!o->in.err && !byoc_same_shape(byoc_src(&o->in, input), byoc_dst(&o->in)))
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "a sum of different shapes");
	if (o->in.err)
		return;
	if (v->data.place == DNNL_PLACE_BUFFER && v->readers == 1 && !v->shared &&
	    !dst->data.place && dnnl.memory_desc_equal(now, layout)) {
		dst->data = v->data;
		return;
	}
	o->in.err = dnnl_write(o->p, o->in.n->first_entry, to, layout, &into);
	if (!o->in.err)
		o->in.err = dnnl_convert(o->p, &from, &into);
}

/* What comes after it: weights and source in the layouts that the primitive wants. */
static void finish(struct operation *o, struct weighted *w, const int *src_to, const int *dst_to)
{
	struct dnnl_layout *wanted = operation_chosen(o, DNNL_QUERY_WEIGHTS, 0);
	struct dnnl_use reordered = { .layout = wanted, .arg = DNNL_ARG_WEIGHTS };

	if (!o->in.err && !dnnl.memory_desc_equal(wanted, w->plain_weights)) {
		o->in.err = dnnl_convert(o->p, &o->uses[0], &reordered);
		o->uses[0] = reordered;
	}
	operation_read(o, 0, src_to, operation_chosen(o, DNNL_QUERY_SRC, 0), DNNL_ARG_SRC);
	if (operation_has_sum(o))
		begin_sum(o, dst_to, operation_chosen(o, DNNL_QUERY_DST, 0));
	operation_finish(o, dst_to);
}

void make_convolution(struct operation *o, int unused)
{
	const bool transposed = byoc_named(&o->in, "transpose") || byoc_named(&o->in, "deconv");
	const struct byoc_entry *src, *dst = byoc_dst(&o->in);
	struct weighted w = { .channels = 1 };
	struct dnnl_window window;
	int i;

	byoc_want(&o->in, 2);
	if (o->in.err)
		return;
	src = byoc_src(&o->in, 0);
	byoc_data_axes(&o->in, "data_layout", NULL, src->ndim, w.src_to);
	byoc_data_axes(&o->in, "out_layout", "data_layout", dst->ndim, w.dst_to);
	operation_window(o, NULL, src->ndim - 2, &window);
	view_weights(o, transposed, &w.weights);
	if (transposed)
		operation_need_float(o);
	if (o->in.err)
		return;
	w.src = byoc_view(src, w.src_to);
	for (i = 0; i < dst->ndim; i++)
		if (w.dst_to[i] == 1)
			w.channels = dst->shape[i];
	begin(o, &w, w.dst_to);
	operation_call(o,
		       dnnl_convolution(&o->pd, transposed, w.any_src, w.any_weights, w.bias, w.dst,
					&window, o->attr),
		       "a convolution");
	finish(o, &w, w.src_to, w.dst_to);
}

void make_dense(struct operation *o, int unused)
{
	struct weighted w = { .channels = 1 };

	byoc_want(&o->in, 2);
	if (o->in.err)
		return;
	w.src = byoc_view(byoc_src(&o->in, 0), NULL);
	w.weights = byoc_view(byoc_src(&o->in, 1), NULL);
	w.channels = w.weights.dims[0];
	if (w.src.ndim != 2 || w.weights.ndim != 2)
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "%d and %d dimensions, want 2",
					w.src.ndim, w.weights.ndim);
	begin(o, &w, NULL);
	operation_call(o,
		       dnnl_inner_product(&o->pd, w.any_src, w.any_weights, w.bias, w.dst, o->attr),
		       "a dense");
	finish(o, &w, NULL, NULL);
}

static struct dnnl_layout *read_matrix(struct operation *o, uint32_t input, bool transposed)
{
	static const int last_two[] = { 0, 2, 1 };
	const struct byoc_entry *src = byoc_src(&o->in, input);
	struct byoc_view view;

	if (!o->in.err && src->ndim != 3)
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "%d dimensions, want 3", src->ndim);
	if (o->in.err)
		return NULL;
	view = byoc_view(src, transposed ? last_two : NULL);
	return operation_read_as(o, input, &view, input ? DNNL_ARG_WEIGHTS : DNNL_ARG_SRC);
}

void make_batch_matmul(struct operation *o, int unused)
{
	struct dnnl_layout *a, *b, *dst;

	byoc_want(&o->in, 2);
	if (o->in.err)
		return;
	/* the second operand is transposed unless the graph says otherwise */
	a = read_matrix(o, 0, byoc_integer(&o->in, "transpose_a", 0));
	b = read_matrix(o, 1, byoc_integer(&o->in, "transpose_b", 1));
	dst = operation_dst_layout(o, NULL);
	operation_call(o, dnnl_matmul(&o->pd, a, b, NULL, dst, o->attr), "a matrix product");
	operation_finish(o, NULL);
}
