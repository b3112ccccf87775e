/* SPDX-License-Identifier: MIT */
/* What the operators share: read operands, choose layouts, finish a primitive. */
#include "runtime/byoc/dnnl/dnnl_integers.h"

#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

void operation_window(struct operation *o, const char *kernel, int dims, struct dnnl_window *w)
{
	const uint32_t count = (uint32_t)dims;
	uint32_t i;

	memset(w, 0, sizeof(*w));
	byoc_list(&o->in, "strides", count, 1, w->strides);
	byoc_list(&o->in, "dilation", count, 1, w->dilates);
	if (kernel)
		byoc_list(&o->in, kernel, count, 1, w->kernel);
	byoc_padding(&o->in, count, w->before, w->after);
	for (i = 0; i < count && !o->in.err; i++) {
		w->dilates[i]--; /* oneDNN counts the elements between neighbours */
		if (w->dilates[i] < 0 || !w->strides[i])
			o->in.err = tenon_error(-TENON_E_VALUE, "a stride or dilation is 0");
	}
}

/* ---- layouts and memory */

/* Functions that return a layout leave a message where they fail. */
static struct dnnl_layout *keep(struct operation *o, struct dnnl_layout *layout)
{
	if (!layout && !o->in.err)
		o->in.err = -TENON_E_UNSUPPORTED;
	return layout;
}

struct dnnl_layout *operation_any(struct operation *o, const struct byoc_view *view,
				  const struct byoc_entry *e)
{
	if (o->in.err)
		return NULL;
	return keep(o, dnnl_keep(o->p, dnnl_layout_any(view->ndim, view->dims, dnnl_type(e))));
}

struct dnnl_layout *operation_dst_layout(struct operation *o, const int *to)
{
	const struct byoc_view view = byoc_view(byoc_dst(&o->in), o->in.err ? NULL : to);

	return operation_any(o, &view, byoc_dst(&o->in));
}

struct dnnl_layout *operation_now(struct operation *o, uint32_t input, const int *to)
{
	return o->in.err ? NULL : keep(o, dnnl_now(o->p, o->in.n->inputs[input], to));
}

struct dnnl_layout *operation_chosen(struct operation *o, int what, int index)
{
	const struct dnnl_layout *l;

	if (o->in.err)
		return NULL;
	l = dnnl.primitive_desc_query_md(o->pd, what, index);
	return keep(o, dnnl_keep(o->p, l ? dnnl_layout_copy(l) : NULL));
}

struct dnnl_layout *operation_read(struct operation *o, uint32_t input, const int *to,
				   struct dnnl_layout *want, int arg)
{
	struct dnnl_use *use = &o->uses[o->use_count];

	if (!o->in.err)
		o->in.err = dnnl_read(o->p, o->in.n->inputs[input], to, want, use);
	if (o->in.err)
		return NULL;
	o->use_count++;
	use->arg = arg;
	return use->layout;
}

struct dnnl_layout *operation_read_as(struct operation *o, uint32_t input,
				      const struct byoc_view *view, int arg)
{
	size_t bytes = o->in.err ? 0 : byoc_dtype(byoc_src(&o->in, input)->type).bits / 8;
	int i;

	for (i = 0; i < view->ndim && !o->in.err; i++)
		if (__builtin_mul_overflow(bytes, (size_t)view->dims[i], &bytes))
			bytes = 0; /* no input has */
	if (!o->in.err && bytes != byoc_src(&o->in, input)->bytes)
		o->in.err = tenon_error(-TENON_E_VALUE, "an input has %zu bytes, want %zu",
					byoc_src(&o->in, input)->bytes, bytes);
	if (!operation_read(o, input, NULL, NULL, arg))
		return NULL;
	return o->uses[o->use_count - 1].layout =
		       keep(o, dnnl_view_layout(o->p, view, dnnl_type(byoc_src(&o->in, input))));
}

struct dnnl_layout *operation_read_vector(struct operation *o, uint32_t input, int64_t channels,
					  int arg)
{
	const struct byoc_view view = { 1, { channels }, { 1 } };

	return operation_read_as(o, input, &view, arg);
}

struct dnnl_layout *operation_read_alike(struct operation *o, const int *to)
{
	const struct byoc_entry *src = byoc_src(&o->in, 0), *dst = byoc_dst(&o->in);

	if (!o->in.err && !byoc_same_shape(src, dst))
		o->in.err = tenon_error(-TENON_E_VALUE, "input and output differ in shape");
	return operation_read(o, 0, to, operation_now(o, 0, to), DNNL_ARG_SRC);
}

/* ---- the primitive */

void operation_finish(struct operation *o, const int *to)
{
	struct dnnl_layout *layout = operation_chosen(o, DNNL_QUERY_DST, 0);
	struct dnnl_layout *own = operation_chosen(o, DNNL_QUERY_SCRATCHPAD, 0);
	struct dnnl_use *dst = &o->uses[o->use_count], *scratch = dst + 1;

	if (o->in.err)
		return;
	*dst = (struct dnnl_use){ .arg = DNNL_ARG_DST };
	*scratch = (struct dnnl_use){ .arg = DNNL_ARG_SCRATCHPAD, .layout = own };
	o->in.err = dnnl_write(o->p, o->in.n->first_entry, to, layout, dst);
	if (!o->in.err && dnnl.memory_desc_get_size(own))
		o->in.err = dnnl_scratch(o->p, own, &scratch->data);
	if (!o->in.err)
		o->in.err = dnnl_add_step(o->p, o->pd, o->uses, o->use_count + 2);
}
