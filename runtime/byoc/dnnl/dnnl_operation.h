/* SPDX-License-Identifier: MIT */
/* Make the primitive of one node, for the files that know its operator. */
#ifndef RUNTIME_BYOC_DNNL_DNNL_OPERATION_H
#define RUNTIME_BYOC_DNNL_DNNL_OPERATION_H

/*
 * An operator reads attributes, chooses layouts of its operands, describes a primitive of oneDNN and
 * finishes it. The node's reader keeps the first failure; after one the functions here do nothing,
 * so an operator tests @in.err only before it uses what they return.
 */

#include "runtime/byoc/dnnl/dnnl_plan.h"
#include "runtime/byoc/json_attributes.h"

/* inputs of a concatenation; the output and the memory of the primitive come after them */
#define OPERATION_INPUTS_MOST 64

struct operation {
	struct byoc_reader in; /* the node, and the first failure */
	struct dnnl_plan *p;
	struct dnnl_attr *attr; /* scratchpad and post-ops */
	struct dnnl_primitive_desc *pd;
	struct dnnl_use uses[OPERATION_INPUTS_MOST + 2];
	uint32_t use_count;
};

/* Call oneDNN, unless there is a failure already; keep the failure of the call, which @what describes. */
#define operation_call(o, status, what)                                                            \
	((o)->in.err = (o)->in.err ? (o)->in.err : dnnl_check((status), (what)))

/** operation_window - strides, dilation and padding; the kernel too, where @kernel is its key */
void operation_window(struct operation *o, const char *kernel, int dims, struct dnnl_window *w);

/* ---- layouts and memory: NULL after a failure */

struct dnnl_layout *operation_any(struct operation *o, const struct byoc_view *view,
				  const struct byoc_entry *e);

/** operation_dst_layout - for the output: left to oneDNN, which lacks fast code for many plain ones */
struct dnnl_layout *operation_dst_layout(struct operation *o, const int *to);

/** operation_now - the layout that an input has */
struct dnnl_layout *operation_now(struct operation *o, uint32_t input, const int *to);

/** operation_chosen - the layout that the primitive wants for its memory @what, a query */
struct dnnl_layout *operation_chosen(struct operation *o, int what, int index);

/** operation_read - read an input in a layout, as argument @arg of the primitive */
struct dnnl_layout *operation_read(struct operation *o, uint32_t input, const int *to,
				   struct dnnl_layout *want, int arg);

/** operation_read_as - read an input plain, with other extents of as many elements */
struct dnnl_layout *operation_read_as(struct operation *o, uint32_t input,
				      const struct byoc_view *view, int arg);

/** operation_read_vector - read an input of one element for each channel */
struct dnnl_layout *operation_read_vector(struct operation *o, uint32_t input, int64_t channels,
					  int arg);

/** operation_read_alike - read the first input in a layout that the output can have too */
struct dnnl_layout *operation_read_alike(struct operation *o, const int *to);

/* ---- the primitive */

/** operation_finish - write the output in the layout that the primitive wants, and append it */
void operation_finish(struct operation *o, const int *to);

/* ---- operators by file */

/**
 * operation_post_ops - append the post-ops that the operator's name ends in, or its attribute
 *
 * The attribute "post_ops" lists operators of one input by name, behind a "sum" if there is one:
 * ["sum", "clip", "linear"]. Their numbers are at the same places in "post_alpha" and "post_beta".
 */
void operation_post_ops(struct operation *o);

/** operation_has_sum - test whether the last input is added before the other post-ops */
bool operation_has_sum(struct operation *o);

/** make_eltwise - false where the name is that of no element-wise operator of one input */
bool make_eltwise(struct operation *o);

void make_convolution(struct operation *o, int unused);
void make_dense(struct operation *o, int unused);
void make_batch_matmul(struct operation *o, int unused);

#endif /* RUNTIME_BYOC_DNNL_DNNL_OPERATION_H */
