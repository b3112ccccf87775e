/* SPDX-License-Identifier: MIT */
/* Turn a graph into steps: place values, convert layouts, keep constants. */
#include "runtime/byoc/dnnl/dnnl_integers.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/threads.h>

#include "lib/brief_errors.h"

_Static_assert(GRAPH_DIMS_MOST == DNNL_DIMS_MOST, "views are passed to oneDNN");

struct dnnl_layout *dnnl_keep(struct dnnl_plan *p, struct dnnl_layout *layout)
{
	struct dnnl_layout **slot;

	if (!layout) {
		tenon_error(-TENON_E_UNSUPPORTED, "oneDNN does not make a layout");
		return NULL;
	}
	slot = byoc_append(&p->layouts, &p->layout_count, sizeof(*slot));
	if (!slot) {
		dnnl_layout_free(layout);
		return NULL;
	}
	return *slot = layout;
}

struct dnnl_layout *dnnl_view_layout(struct dnnl_plan *p, const struct byoc_view *view, int type)
{
	return dnnl_keep(p, dnnl_layout_strided(view->ndim, view->dims, type, view->strides));
}

static struct dnnl_layout *plain_layout(struct dnnl_plan *p, uint32_t entry)
{
	const struct byoc_entry *e = &p->graph->entries[entry];
	const struct byoc_view view = byoc_view(e, NULL);

	return dnnl_view_layout(p, &view, dnnl_type(e));
}

static struct dnnl_layout *moved(struct dnnl_plan *p, struct dnnl_layout *layout, const int *to)
{
	return to ? dnnl_keep(p, dnnl_layout_permuted(layout, to)) : layout;
}

/* The other way round. */
static struct dnnl_layout *moved_back(struct dnnl_plan *p, struct dnnl_layout *layout,
				      const int *to, int ndim)
{
	int back[DNNL_DIMS_MOST], i;

	if (!to)
		return layout;
	for (i = 0; i < ndim; i++)
		back[to[i]] = i;
	return dnnl_keep(p, dnnl_layout_permuted(layout, back));
}

struct dnnl_layout *dnnl_now(struct dnnl_plan *p, uint32_t entry, const int *to)
{
	if (!p->values[entry].layout) {
		tenon_error(-TENON_E_UNSUPPORTED, "an output that is not computed is read");
		return NULL;
	}
	return moved(p, p->values[entry].layout, to);
}

/* ---- memory */

int dnnl_scratch(struct dnnl_plan *p, const struct dnnl_layout *layout, struct dnnl_data *data)
{
	struct byoc_buffer *b = byoc_append(&p->buffers, &p->buffer_count, sizeof(*b));

	if (!b)
		return -TENON_E_NOMEM;
	b->bytes = dnnl.memory_desc_get_size(layout);
	b->first = b->last = p->step_count;
	*data = (struct dnnl_data){ DNNL_PLACE_BUFFER, p->buffer_count - 1, NULL };
	return 0;
}

int dnnl_constant(struct dnnl_plan *p, const struct dnnl_layout *layout, struct dnnl_data *data)
{
	void *at = byoc_constant_take(&p->constants, dnnl.memory_desc_get_size(layout));

	*data = (struct dnnl_data){ DNNL_PLACE_CONSTANT, 0, at };
	return at ? 0 : -TENON_E_NOMEM;
}

int dnnl_add_step(struct dnnl_plan *p, const struct dnnl_primitive_desc *pd,
		  const struct dnnl_use *uses, uint32_t count)
{
	struct dnnl_step *step = byoc_append(&p->steps, &p->step_count, sizeof(*step));
	struct dnnl_use *use;
	uint32_t i;
	int err = step ? 0 : -TENON_E_NOMEM;

	if (!err)
		err = dnnl_check(dnnl.primitive_create(&step->primitive, pd), "a primitive");
	if (err)
		return err;
	step->first_use = p->use_count;
	for (i = 0; i < count; i++) {
		if (!uses[i].data.place)
			continue;
		use = byoc_append(&p->uses, &p->use_count, sizeof(*use));
		if (!use)
			return -TENON_E_NOMEM;
		*use = uses[i];
		if (use->data.place == DNNL_PLACE_BUFFER)
			p->buffers[use->data.index].last = p->step_count - 1;
		step->use_count++;
	}
	return 0;
}

/* Run a reorder of a constant now, as a plan of one step. */
static int run_once(const struct dnnl_primitive_desc *pd, const struct dnnl_use *uses)
{
	struct dnnl_plan once = { .graph = NULL };
	struct dnnl_run *run = NULL;
	int err = dnnl_add_step(&once, pd, uses, 2);

	if (!err)
		err = dnnl_run_create(&once, &run);
	if (!err)
		err = dnnl_run(run, NULL);
	dnnl_run_destroy(run);
	dnnl_plan_fini(&once);
	return err;
}

int dnnl_convert(struct dnnl_plan *p, const struct dnnl_use *from, struct dnnl_use *to)
{
	struct dnnl_use uses[] = { { from->data, from->layout, DNNL_ARG_SRC },
				   { to->data, to->layout, DNNL_ARG_DST } };
	const bool now = (to->data.place ? to : from)->data.place == DNNL_PLACE_CONSTANT;
	const int threads = now ? dnnl_threads_for(to->layout) : 0;
	struct dnnl_primitive_desc *pd;
	int err = 0;

	if (!to->data.place)
		err = (now ? dnnl_constant : dnnl_scratch)(p, to->layout, &to->data);
	uses[1].data = to->data;
	if (!err)
		err = dnnl_check(dnnl.reorder_primitive_desc_create(&pd, from->layout, dnnl.engine,
								    to->layout, dnnl.engine, NULL),
				 "a reorder");
	if (!err) {
		err = now ? run_once(pd, uses) : dnnl_add_step(p, pd, uses, 2);
		dnnl.primitive_desc_destroy(pd);
	}
	dnnl_threads_restore(threads);
	return err;
}

int dnnl_read(struct dnnl_plan *p, uint32_t entry, const int *to, struct dnnl_layout *want,
	      struct dnnl_use *use)
{
	struct dnnl_value *v = &p->values[entry];
	struct dnnl_use from, into = { .arg = 0 };
	int err;

	if (!v->layout)
		return tenon_error(-TENON_E_UNSUPPORTED, "an output that is not computed is read");
	into.layout = want ? moved_back(p, want, to, p->graph->entries[entry].ndim)
			   : plain_layout(p, entry);
	if (!into.layout)
		return -TENON_E_NOMEM;
	if (!dnnl.memory_desc_equal(into.layout, v->layout)) {
		from = (struct dnnl_use){ v->data, v->layout, 0 };
		err = dnnl_convert(p, &from, &into);
		if (err)
			return err;
		/* keep the converted value: the next reader probably wants the same layout */
		v->layout = into.layout;
		v->data = into.data;
		v->shared = false;
	}
	use->data = v->data;
	use->layout = want ? want : moved(p, into.layout, to);
	return use->layout ? 0 : -TENON_E_NOMEM;
}

int dnnl_write(struct dnnl_plan *p, uint32_t entry, const int *to, struct dnnl_layout *layout,
	       struct dnnl_use *use)
{
	struct dnnl_value *v = &p->values[entry];
	struct dnnl_layout *own = moved_back(p, layout, to, p->graph->entries[entry].ndim);
	const bool direct = !v->data.place && v->result.place;
	struct dnnl_layout *plain = direct ? plain_layout(p, entry) : NULL;
	int err = own && (plain || !direct) ? 0 : -TENON_E_NOMEM;

	if (!err && direct && dnnl.memory_desc_equal(own, plain))
		v->data = v->result;
	else if (!err && !v->data.place)
		err = dnnl_scratch(p, layout, &v->data);
	v->layout = own;
	use->data = v->data;
	use->layout = layout;
	return err;
}

int dnnl_deliver(struct dnnl_plan *p, uint32_t entry)
{
	struct dnnl_value *v = &p->values[entry];
	const struct dnnl_use from = { v->data, v->layout, 0 };
	struct dnnl_use to = { .data = v->result };

	if (!v->result.place ||
	    (v->data.place == v->result.place && v->data.index == v->result.index))
		return 0;
	v->data = v->result;
	v->layout = to.layout = plain_layout(p, entry);
	v->shared = false;
	return to.layout ? dnnl_convert(p, &from, &to) : -TENON_E_NOMEM;
}

/* ---- making a plan */

/* A value that is there before the first step. */
static int set_plain(struct dnnl_plan *p, uint32_t entry, struct dnnl_data data)
{
	p->values[entry].data = data;
	p->values[entry].layout = plain_layout(p, entry);
	return p->values[entry].layout ? 0 : -TENON_E_NOMEM;
}

static int set_arguments(struct dnnl_plan *p, void *const *constants)
{
	const struct byoc_graph *g = p->graph;
	struct dnnl_value *v;
	uint32_t i;
	int err = 0;

	for (i = 0; i < g->constant_count && !err; i++) {
		err = set_plain(p, g->constants[i],
				(struct dnnl_data){ DNNL_PLACE_CONSTANT, .address = constants[i] });
		v = &p->values[g->constants[i]];
		p->constants.expected += err ? 0 : dnnl.memory_desc_get_size(v->layout);
	}
	for (i = 0; i < g->input_count && !err; i++)
		err = set_plain(p, g->inputs[i],
				(struct dnnl_data){ DNNL_PLACE_ARGUMENT, .index = i });
	for (i = 0; i < g->head_count && !err; i++) {
		v = &p->values[g->heads[i]];
		if (v->data.place || v->result.place)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "output %u is an input, a constant or another output",
					   i);
		v->result = (struct dnnl_data){ DNNL_PLACE_ARGUMENT, .index = g->input_count + i };
	}
	return err;
}

static int add_operators(struct dnnl_plan *p)
{
	const struct byoc_graph *g = p->graph;
	const struct byoc_node *n;
	uint32_t i, k;
	int err = 0;

	for (i = 0; i < g->node_count; i++)
		for (k = 0; k < g->nodes[i].input_count; k++)
			p->values[g->nodes[i].inputs[k]].readers++;
	for (i = 0; i < g->node_count && !err; i++) {
		n = &g->nodes[i];
		if (n->kind != BYOC_KERNEL)
			continue;
		err = dnnl_operator(p, n);
		if (err)
			json_error(&g->json, n->attrs, err, "node %u, %.*s: %s", i,
				   json_shown(n->name), n->name.data, tenon_error_message());
		for (k = 0; k < n->input_count; k++)
			p->values[n->inputs[k]].readers--;
	}
	for (i = 0; i < g->head_count && !err; i++)
		if (!p->values[g->heads[i]].layout)
			err = tenon_error(-TENON_E_UNSUPPORTED, "output %u is not computed", i);
	return err;
}

int dnnl_plan_make(const struct byoc_graph *g, void *const *constants, struct dnnl_plan *p)
{
	int err, threads;

	memset(p, 0, sizeof(*p));
	p->graph = g;
	err = dnnl_library();
	if (err)
		return err;
	p->values = calloc((size_t)g->entry_count + 1, sizeof(*p->values));
	if (!p->values)
		return tenon_error(-TENON_E_NOMEM, "no memory for a plan");
	threads = dnnl_threads_at_most(tenon_parallel_workers());
	err = set_arguments(p, constants);
	if (!err)
		err = add_operators(p);
	dnnl_threads_restore(threads);
	if (!err)
		err = byoc_place_buffers(p->buffers, p->buffer_count, &p->arena);
	return err;
}

void dnnl_plan_fini(struct dnnl_plan *p)
{
	uint32_t i;

	for (i = 0; i < p->step_count; i++)
		if (p->steps[i].primitive)
			dnnl.primitive_destroy(p->steps[i].primitive);
	for (i = 0; i < p->layout_count; i++)
		dnnl_layout_free(p->layouts[i]);
	byoc_constants_free(&p->constants);
	free(p->values);
	free(p->steps);
	free(p->uses);
	free(p->buffers);
	free(p->layouts);
}
