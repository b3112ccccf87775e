/* SPDX-License-Identifier: MIT */
/* A graph as primitives of oneDNN, ready to run. */
#ifndef RUNTIME_BYOC_DNNL_DNNL_PLAN_H
#define RUNTIME_BYOC_DNNL_DNNL_PLAN_H

/*
 * A plan is what a graph becomes once its constants are known: primitives in order, each with the
 * memory that it uses. oneDNN chooses the layouts of convolutions, so a value has the layout that
 * its last reader or writer wanted, and reorders stand where two disagree. Constants are reordered
 * once, when the plan is made. Temporary values share one block of memory, by lifetime.
 *
 * A plan does not change once it is made. What a call changes is in a struct dnnl_run.
 */

#include <tenon/backend/module_kind.h>

#include "driver/dnnl/dnnl_library.h"
#include "runtime/byoc/json_buffers.h"
#include "runtime/byoc/json_constants.h"
#include "runtime/byoc/json_graph.h"

/* where the bytes of a memory are */
enum dnnl_place { DNNL_PLACE_NONE, DNNL_PLACE_ARGUMENT, DNNL_PLACE_CONSTANT, DNNL_PLACE_BUFFER };

/* struct dnnl_data - bytes: an argument's number, an address, or a buffer's number */
struct dnnl_data {
	enum dnnl_place place;
	uint32_t index;
	void *address;
};

/* struct dnnl_value - an entry of the graph while the plan is made; axes as in its shape */
struct dnnl_value {
	struct dnnl_data data;
	struct dnnl_data result;    /* where the caller receives it, plain, if it does */
	struct dnnl_layout *layout; /* NULL until it is computed */
	uint32_t readers;	    /* that are still to come */
	bool shared;		    /* another value has the same bytes */
};

/* struct dnnl_use - a memory of a primitive */
struct dnnl_use {
	struct dnnl_data data;
	struct dnnl_layout *layout;
	int arg;
};

struct dnnl_step {
	struct dnnl_primitive *primitive;
	uint32_t first_use;
	uint32_t use_count;
};

struct dnnl_plan {
	const struct byoc_graph *graph;
	struct dnnl_value *values;
	struct dnnl_step *steps;
	uint32_t step_count;
	struct dnnl_use *uses;
	uint32_t use_count;
	struct byoc_buffer *buffers;
	uint32_t buffer_count;
	struct dnnl_layout **layouts; /* all, to be freed */
	uint32_t layout_count;
	struct byoc_constants constants; /* reordered */
	size_t arena;			 /* bytes of all buffers */
};

/**
 * dnnl_plan_make - make primitives for a graph
 * @g: outlives the plan
 * @constants: data of @g->constant_count tensors, which outlive the plan
 * @p: receives the plan; free it with dnnl_plan_fini(), also on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED for an operator that is not here, or that oneDNN lacks;
 *	-TENON_E_VALUE for a graph or constants that do not fit together; -TENON_E_DEVICE without
 *	oneDNN; -TENON_E_NOMEM.
 */
int dnnl_plan_make(const struct byoc_graph *g, void *const *constants, struct dnnl_plan *p);

void dnnl_plan_fini(struct dnnl_plan *p);

/* ---- for operators: see dnnl_operation.h */

/** dnnl_operator - make the primitives of a node */
int dnnl_operator(struct dnnl_plan *p, const struct byoc_node *n);

/** dnnl_keep - let the plan own a layout; NULL with a message where it is NULL */
struct dnnl_layout *dnnl_keep(struct dnnl_plan *p, struct dnnl_layout *layout);

/** dnnl_view_layout - the layout of a view of elements of a type, a number of oneDNN's */
struct dnnl_layout *dnnl_view_layout(struct dnnl_plan *p, const struct byoc_view *view, int type);

/** dnnl_constant - memory for a constant that the plan makes */
int dnnl_constant(struct dnnl_plan *p, const struct dnnl_layout *layout, struct dnnl_data *data);

/**
 * dnnl_read - let a value have a layout
 * @entry: the value
 * @to: where its axes are in @want, or NULL for the same order
 * @want: the layout; NULL for the plain one
 * @use: receives the memory to read from, with the layout @want
 */
int dnnl_read(struct dnnl_plan *p, uint32_t entry, const int *to, struct dnnl_layout *want,
	      struct dnnl_use *use);

/**
 * dnnl_convert - reorder bytes
 * @to: has the layout; receives memory of its own where it has no data
 */
int dnnl_convert(struct dnnl_plan *p, const struct dnnl_use *from, struct dnnl_use *to);

/** dnnl_now - the layout that a value has, with its axes moved by @to; NULL with a message */
struct dnnl_layout *dnnl_now(struct dnnl_plan *p, uint32_t entry, const int *to);

/** dnnl_scratch - a buffer for the next step */
int dnnl_scratch(struct dnnl_plan *p, const struct dnnl_layout *layout, struct dnnl_data *data);

/**
 * dnnl_write - the memory of a value that the next step computes
 * @to: where its axes are in @layout
 * @layout: its layout
 */
int dnnl_write(struct dnnl_plan *p, uint32_t entry, const int *to, struct dnnl_layout *layout,
	       struct dnnl_use *use);

/** dnnl_deliver - let the caller receive a value that is computed, if it does */
int dnnl_deliver(struct dnnl_plan *p, uint32_t entry);

/**
 * dnnl_add_step - append a primitive
 * @pd: its description
 * @uses: @count memories, each with its arg; those without place are left out
 */
int dnnl_add_step(struct dnnl_plan *p, const struct dnnl_primitive_desc *pd,
		  const struct dnnl_use *uses, uint32_t count);

/* ---- runs */

/** struct dnnl_run - what one call at a time uses; calls that overlap have one each */
struct dnnl_run;

int dnnl_run_create(const struct dnnl_plan *p, struct dnnl_run **out);
void dnnl_run_destroy(struct dnnl_run *r);

/** dnnl_run - run a plan on the data of the inputs, then the heads; allocates nothing */
int dnnl_run(struct dnnl_run *r, void *const *data);

/** dnnl_load - loader of the kind */
int dnnl_load(struct tenon_cursor *c, const struct tenon_payload *payload,
	      struct tenon_module **out);

#endif /* RUNTIME_BYOC_DNNL_DNNL_PLAN_H */
