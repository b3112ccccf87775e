/* SPDX-License-Identifier: MIT */
/* Compile nodes to a flat list of calls. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/option.h"
#include "runtime/core/registry.h"
#include "runtime/device/kernel_call.h"
#include "runtime/library/call.h"
#include "runtime/graph/graph_exec.h"

/* state for calling a function of today's convention */
struct bridge {
	struct tenon_function *function;
	struct tenon_value *args;
	int32_t count;
};

static int bridge_call(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		       int *ret_code, void *resource)
{
	const struct bridge *b = resource;
	struct tenon_value result = tenon_arg_none();
	int err;

	err = tenon_function_call(b->function, b->args, b->count, &result);
	if (!err)
		tenon_value_release(&result);
	return err;
}

static int copy_call(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		     int *ret_code, void *resource)
{
	const DLTensor *from = args[0].pointer, *to = args[1].pointer;

	if (from->data != to->data)
		memcpy(to->data, from->data, (size_t)((struct graph_entry *)resource)->bytes);
	return 0;
}

/* Copy between devices, or within a device that is not the host. */
static int device_copy_call(union legacy_value *args, int *codes, int count,
			    union legacy_value *ret, int *ret_code, void *resource)
{
	return place_copy(args[0].pointer, args[1].pointer,
			  ((struct graph_entry *)resource)->bytes);
}

/* ---- counting */

struct counts {
	size_t calls, args, most, flat;
};

static void count_calls(const struct graph *g, struct counts *c)
{
	uint32_t i;

	*c = (struct counts){ 0 };
	for (i = 0; i < g->node_count; i++) {
		const struct graph_node *n = &g->nodes[i];
		size_t args = (size_t)n->input_count + n->output_count;

		if (n->kind != GRAPH_CALL && n->kind != GRAPH_COPY)
			continue;
		c->calls++;
		c->args += args;
		if (args > c->most)
			c->most = args;
		if (n->flatten)
			c->flat += args;
	}
}

static int allocate_lists(struct graph_exec *x, const struct counts *c)
{
	size_t i;

	x->calls = heap_zeroed(c->calls + 1, sizeof(*x->calls), "calls");
	x->codes = heap_alloc((c->most + 1) * sizeof(*x->codes), "types of arguments");
	x->values = heap_alloc((c->args + 1) * sizeof(*x->values), "arguments of calls");
	x->tensors = heap_alloc((c->args + 1) * sizeof(*x->tensors), "tensors of calls");
	x->flat = heap_alloc((c->flat + 1) * sizeof(*x->flat), "flat shapes");
	x->use_start = heap_zeroed((size_t)x->graph.entry_count + 2, sizeof(*x->use_start),
				   "uses of tensors");
	x->uses = heap_alloc((c->args + 1) * sizeof(*x->uses), "uses of tensors");
	x->functions =
		heap_alloc((c->calls + 1) * sizeof(struct tenon_function *), "list of functions");
	if (!x->functions || !x->calls || !x->codes || !x->values || !x->tensors || !x->flat ||
	    !x->use_start || !x->uses || c->args > UINT32_MAX)
		return tenon_error(-TENON_E_NOMEM, "no memory for a plan of %zu calls", c->calls);
	for (i = 0; i < c->most; i++)
		x->codes[i] = LEGACY_DLTENSOR;
	x->tensor_count = c->args;
	return 0;
}

/* ---- functions */

struct resolver {
	struct tenon_module *library;
	struct string_map found; /* names of functions to their objects */
	struct bridge *bridges;
	struct tenon_value *views;
};

static int find_function(struct resolver *r, struct graph_exec *x, struct tenon_slice name,
			 struct tenon_function **out)
{
	void **slot = string_map_slot(&r->found, name);
	int err;

	if (!slot)
		return -TENON_E_NOMEM;
	*out = *slot;
	if (*out)
		return 0;
	err = tenon_module_find_function(r->library, name, true, out);
	if (err)
		return err;
	/* None of the library's own functions is an operator: those need not be registered. */
	if (!*out)
		registry_find(name, out);
	if (!*out && !ERROR_MESSAGES)
		return tenon_error(-TENON_E_NO_FUNCTION, "no function \"%s\"", name.data);
	if (!*out) {
		/* Look up again for the nearest names in the message. */
		err = model_needs_function(r->library, name.data, out);
		if (err)
			return err;
	}
	*slot = *out;
	x->functions[x->function_count++] = *out;
	return 0;
}

/* Functions that need no bridge are called by address. */
static void set_function(struct graph_call *call, struct tenon_function *function,
			 struct resolver *r)
{
	struct bridge *b;
	void *symbol;
	int i;

	if (tvm_legacy_function_raw(function, &symbol)) {
		call->fn = (legacy_fn)symbol;
		return;
	}
	b = r->bridges++;
	b->function = function;
	b->args = r->views;
	b->count = call->count;
	for (i = 0; i < call->count; i++) {
		DLTensor *t = call->args[i].pointer;

		/* Convert to today's bool. */
		if (t->dtype.code == TENON_DTYPE_UINT && t->dtype.bits == 1)
			t->dtype = tenon_dtype(TENON_DTYPE_BOOL, 8, t->dtype.lanes);
		*r->views++ = tenon_arg_tensor(t);
	}
	call->fn = bridge_call;
	call->resource = b;
}

/* Make room for a bridge per call when the first is needed: most plans have none. */
static int make_bridges(struct graph_exec *x, struct resolver *r)
{
	char *at = heap_zeroed(1,
			       (x->call_count + 1) * sizeof(struct bridge) +
				       (x->tensor_count + 1) * sizeof(struct tenon_value),
			       "values of calls");

	if (!at)
		return tenon_error(-TENON_E_NOMEM, "no memory for a plan");
	x->bridges = at;
	r->bridges = (struct bridge *)(void *)at;
	r->views = (struct tenon_value *)(void *)(at + (x->call_count + 1) * sizeof(struct bridge));
	return 0;
}

static int resolve_call(struct graph_exec *x, struct resolver *r, struct graph_call *call)
{
	const struct graph_node *n = &x->graph.nodes[call->node];
	struct tenon_function *function;
	void *symbol;
	int err;

	if (n->kind == GRAPH_COPY) {
		call->fn = graph_on_host(x, n->inputs[0]) && graph_on_host(x, n->first_output)
				   ? copy_call
				   : device_copy_call;
		call->resource = &x->graph.entries[n->first_output];
		return 0;
	}
	err = find_function(r, x, n->function, &function);
	if (!err && !r->bridges && !tvm_legacy_function_raw(function, &symbol))
		err = make_bridges(x, r);
	if (OPTION_ON(DEVICES) && !err && heap_now())
		err = kernel_function_bind(function);
	if (err)
		return tenon_error_in(err, "node %" PRIu32 " (\"%.*s\")", call->node,
				      (int)n->name.size, n->name.data);
	set_function(call, function, r);
	return 0;
}

static int resolve_calls(struct graph_exec *x, struct tenon_module *library)
{
	struct resolver r = { .library = library, .found = { .memory = STRING_MAP_TEMPORARY } };
	size_t i;
	int err;

	err = string_map_reserve(&r.found, x->call_count);
	for (i = 0; i < x->call_count && !err; i++)
		err = resolve_call(x, &r, &x->calls[i]);
	string_map_fini(&r.found);
	return err;
}

/* ---- arguments */

struct filler {
	DLTensor *tensor;
	union legacy_value *value;
	int64_t *flat;
};

static void add_argument(struct graph_exec *x, struct filler *f, uint32_t entry,
			 const struct graph_node *n)
{
	DLTensor *t = f->tensor++;
	int32_t i;

	*t = graph_entry_tensor(x, entry);
	/* Compiled code uses the compiler's device numbers. */
	if (n->kind == GRAPH_CALL && x->graph.entries[entry].device)
		t->device.device_type = (DLDeviceType)x->graph.entries[entry].device;
	if (n->flatten) {
		/*
		 * The size in bytes was checked; next to an extent of 0 the others may have any
		 * value.
		 */
		*f->flat = x->graph.entries[entry].bytes ? 1 : 0;
		for (i = 0; *f->flat && i < t->ndim; i++)
			*f->flat *= t->shape[i];
		t->shape = f->flat++;
		t->ndim = 1;
	}
	(f->value++)->pointer = t;
	x->use_start[x->graph.entries[entry].source + 1]++;
}

static void fill_calls(struct graph_exec *x)
{
	struct filler f = { x->tensors, x->values, x->flat };
	struct graph_call *call = x->calls;
	uint32_t i, k;

	for (i = 0; i < x->graph.node_count; i++) {
		const struct graph_node *n = &x->graph.nodes[i];

		if (n->kind != GRAPH_CALL && n->kind != GRAPH_COPY)
			continue;
		call->node = i;
		call->args = f.value;
		call->count = (int)(n->input_count + n->output_count);
		for (k = 0; k < n->input_count; k++)
			add_argument(x, &f, n->inputs[k], n);
		for (k = 0; k < n->output_count; k++)
			add_argument(x, &f, n->first_output + k, n);
		call++;
	}
	x->call_count = (size_t)(call - x->calls);
}

/* Index which arguments to update when an entry moves. */
static void index_uses(struct graph_exec *x)
{
	const struct graph *g = &x->graph;
	uint32_t i, k, number = 0, *next = x->use_start;

	for (i = 0; i < g->entry_count; i++)
		x->use_start[i + 1] += x->use_start[i];
	for (i = 0; i < g->node_count; i++) {
		const struct graph_node *n = &g->nodes[i];

		if (n->kind != GRAPH_CALL && n->kind != GRAPH_COPY)
			continue;
		for (k = 0; k < n->input_count; k++)
			x->uses[next[g->entries[n->inputs[k]].source]++] = number++;
		for (k = 0; k < n->output_count; k++)
			x->uses[next[g->entries[n->first_output + k].source]++] = number++;
	}
	/* Each start was advanced to the next entry's start: shift back by one. */
	for (i = g->entry_count; i > 0; i--)
		x->use_start[i] = x->use_start[i - 1];
	x->use_start[0] = 0;
}

/* ---- parameters linked into the library */

static int linked_address(struct tenon_function *lookup, int64_t storage, void **out)
{
	struct tenon_value ret = tenon_arg_none();
	int err;

	err = tenon_call(lookup, &ret, tenon_arg_int(storage));
	if (!err)
		err = tenon_value_pointer(&ret, out);
	if (err)
		tenon_error_in(err, "_lookup_linked_param of storage %" PRIi64, storage);
	tenon_value_release(&ret);
	return err;
}

/* Use linked data. The address is in host memory: copy it if the entry is on a device. */
static int use_linked(struct graph_exec *x, uint32_t entry, void *address)
{
	DLTensor to = graph_entry_tensor(x, entry), from = to;

	if (graph_on_host(x, entry)) {
		graph_move(x, entry, address, NULL, true);
		return 0;
	}
	from.data = address;
	from.device = (DLDevice){ kDLCPU, 0 };
	return place_copy(&from, &to, x->graph.entries[entry].bytes);
}

static int link_params(struct graph_exec *x, struct tenon_module *library)
{
	static const struct tenon_slice name = { "_lookup_linked_param", 20 };
	struct tenon_function *lookup;
	void *address;
	uint32_t i, entry;
	int err;

	err = tenon_module_find_function(library, name, true, &lookup);
	if (err || !lookup)
		return err;
	for (i = 0; i < x->graph.input_count && !err; i++) {
		entry = graph_input_entry(x, i);
		if (x->graph.entries[entry].storage < 0)
			continue;
		err = linked_address(lookup, x->graph.entries[entry].storage, &address);
		if (err || !address)
			continue;
		err = use_linked(x, entry, address);
		x->param[i] = true;
		graph_mark_set(x, i);
	}
	/* The library owns the memory, and the model holds the library. */
	tenon_object_unref(lookup);
	return err;
}

int graph_plan(struct graph_exec *x, struct tenon_module *library)
{
	struct counts counts;
	int err;

	count_calls(&x->graph, &counts);
	err = allocate_lists(x, &counts);
	if (err)
		return err;
	fill_calls(x);
	index_uses(x);
	err = resolve_calls(x, library);
	if (!err)
		err = link_params(x, library);
	return err;
}

void graph_plan_fini(struct graph_exec *x)
{
	size_t i;

	for (i = 0; i < x->function_count; i++)
		tenon_object_unref(x->functions[i]);
	heap_free(x->functions);
	heap_free(x->bridges);
	heap_free(x->calls);
	heap_free(x->codes);
	heap_free(x->values);
	heap_free(x->tensors);
	heap_free(x->flat);
	heap_free(x->use_start);
	heap_free(x->uses);
}
