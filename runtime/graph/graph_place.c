/* SPDX-License-Identifier: MIT */
/* Locations of a graph's tensors, and moving them. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/core/tensor_view.h"
#include "runtime/graph/graph_exec.h"

/* ---- memory of storages */

/* where a storage's memory is */
enum home {
	HOME_PLANNED,  /* in memory of tensors, which another model may share */
	HOME_LASTING,  /* in memory of the model alone: it holds a parameter */
	HOME_IN_PLACE, /* nowhere: the parameter is used where it is */
};

static bool used_in_place(const struct graph_exec *x, uint32_t entry, const struct tenon_param *p)
{
	return graph_on_host(x, entry) && !((uintptr_t)p->tensor.data % TENON_TENSOR_ALIGN);
}

/* Find the storages of parameters. */
static void find_params(const struct graph_exec *x, const struct tenon_params *params,
			uint8_t *home, uint32_t *owner)
{
	const struct graph *g = &x->graph;
	const struct tenon_param *p;
	uint32_t i, entry;
	uintptr_t input;
	size_t k;

	for (k = 0; params && (p = tenon_params_at(params, k)); k++) {
		input = (uintptr_t)string_map_get(&x->inputs, p->name);
		if (!input)
			continue;
		entry = graph_input_entry(x, input - 1);
		if (g->entries[entry].storage < 0)
			continue;
		i = (uint32_t)g->entries[entry].storage;
		if (!used_in_place(x, entry, p) || home[i] == HOME_LASTING)
			home[i] = HOME_LASTING;
		else
			home[i] = HOME_IN_PLACE;
		owner[i] = entry;
	}
}

/* A storage with other tensors, too, keeps its memory. */
static void keep_homes(const struct graph_exec *x, uint8_t *home, const uint32_t *owner)
{
	const struct graph *g = &x->graph;
	uint32_t i;

	for (i = 0; i < g->entry_count; i++)
		if (g->entries[i].storage >= 0 && home[g->entries[i].storage] == HOME_IN_PLACE &&
		    g->entries[i].source != owner[g->entries[i].storage])
			home[g->entries[i].storage] = HOME_LASTING;
	/* The receiver of an output may write to it. */
	for (i = 0; i < g->head_count; i++)
		if (home[g->entries[g->heads[i]].storage] == HOME_IN_PLACE)
			home[g->entries[g->heads[i]].storage] = HOME_LASTING;
}

/* Lay out the storages of one home, and allocate them. @home NULL: all storages */
static int lay_out(struct graph_exec *x, const uint8_t *home, uint8_t which, struct storage **out)
{
	const struct graph *g = &x->graph;
	bool describe = !out;
	uint64_t at = 0, end;
	uint32_t i;
	int err = 0;

	for (i = 0; i < g->storage_count; i++) {
		if ((!graph_storage_on_host(x, i) && !describe) || (home && home[i] != which))
			continue;
		x->homes[i] = (char *)(uintptr_t)at; /* an offset until there is memory */
		/* cannot overflow: each size is at most INT64_MAX / 2 (graph_check.c) */
		end = at + g->storages[i].bytes;
		if (end > INT64_MAX - TENON_TENSOR_ALIGN)
			return tenon_error(-TENON_E_OVERFLOW,
					   "storage %" PRIu32 " of %" PRIu64
					   " bytes: all together do not fit into memory",
					   i, g->storages[i].bytes);
		at = (end + TENON_TENSOR_ALIGN - 1) & ~(uint64_t)(TENON_TENSOR_ALIGN - 1);
	}
	if (describe)
		return 0;
	if (which == HOME_PLANNED)
		err = storage_create(at, out);
	else if (at)
		err = storage_create_lasting(at, out);
	for (i = 0; i < g->storage_count && !err; i++)
		if (graph_storage_on_host(x, i) && (!home || home[i] == which) && *out)
			x->homes[i] = (*out)->data + (uintptr_t)x->homes[i];
	return err;
}

/* In a caller's memory parameters take no room that they do not use, and none that another model may overwrite. */
static int lay_out_by_home(struct graph_exec *x, const struct tenon_params *params,
			   const struct tenon_params *of_options)
{
	size_t n = (size_t)x->graph.storage_count + 1;
	uint32_t *owner = heap_take(HEAP_TEMPORARY, _Alignof(uint32_t), n * (sizeof(*owner) + 1),
				    "homes of storages");
	uint8_t *home = (uint8_t *)(owner + n);
	int err;

	if (!owner)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu storages", n - 1);
	memset(home, HOME_PLANNED, n);
	find_params(x, params, home, owner);
	find_params(x, of_options, home, owner);
	keep_homes(x, home, owner);
	err = lay_out(x, home, HOME_PLANNED, &x->arena);
	if (!err)
		err = lay_out(x, home, HOME_LASTING, &x->lasting);
	heap_free(owner);
	return err;
}

static int make_storages(struct graph_exec *x, const struct tenon_params *params,
			 const struct tenon_model_options *o)
{
	int err;

	if (o->describe)
		return lay_out(x, NULL, HOME_PLANNED, NULL);
	/* First: a dma-buf begins with what its device uses. */
	err = graph_make_memories(x);
	if (err)
		return err;
	return heap_now() ? lay_out_by_home(x, params, o->params)
			  : lay_out(x, NULL, HOME_PLANNED, &x->arena);
}

int graph_place_all(struct graph_exec *x, const struct tenon_params *params,
		    const struct tenon_model_options *o)
{
	const struct graph *g = &x->graph;
	uint32_t i;
	int err;

	err = graph_choose_devices(x, o);
	if (err)
		return err;
	x->homes = heap_zeroed((size_t)g->storage_count + 1, sizeof(char *), "places of storages");
	x->places =
		heap_zeroed((size_t)g->entry_count + 1, sizeof(*x->places), "places of tensors");
	x->outputs = heap_zeroed((size_t)g->head_count + 1, sizeof(struct tenon_tensor *),
				 "list of outputs");
	if (!x->homes || !x->places || !x->outputs)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " tensors",
				   g->entry_count);
	err = make_storages(x, params, o);
	for (i = 0; i < g->entry_count && !err; i++)
		if (x->arena && g->entries[i].storage >= 0)
			x->places[i].data = graph_own_storage(x, i);
	return err;
}

DLTensor graph_entry_tensor(const struct graph_exec *x, uint32_t entry)
{
	const struct graph_entry *e = &x->graph.entries[entry];
	DLTensor t = tenon_dltensor(x->places[e->source].data, e->shape, e->ndim, e->dtype);

	t.device = graph_entry_device(x, entry);
	return t;
}

/* ---- moving */

/* Drop the tensors handed out for outputs: they keep the old memory. */
static void forget_outputs(struct graph_exec *x, uint32_t source)
{
	uint32_t i;

	for (i = 0; i < x->graph.head_count; i++) {
		if (x->graph.entries[x->graph.heads[i]].source != source)
			continue;
		tenon_object_unref(x->outputs[i]);
		x->outputs[i] = NULL;
	}
}

void graph_move(struct graph_exec *x, uint32_t entry, void *data, struct tenon_object *keep,
		bool constant)
{
	uint32_t source = x->graph.entries[entry].source, i;
	struct graph_place *p = &x->places[source];

	tenon_object_ref(keep);
	tenon_object_unref(p->keep);
	p->keep = keep;
	p->constant = constant;
	if (p->data == data)
		return;
	p->data = data;
	forget_outputs(x, source);
	if (!x->uses)
		return;
	for (i = x->use_start[source]; i < x->use_start[source + 1]; i++)
		x->tensors[x->uses[i]].data = data;
}

void graph_make_writable(struct graph_exec *x, uint32_t entry)
{
	uint32_t source = x->graph.entries[entry].source;
	const struct graph_entry *e = &x->graph.entries[source];
	char *to;

	if (!x->places[source].constant || e->storage < 0)
		return;
	to = graph_own_storage(x, source);
	if (!to)
		return;
	if (e->bytes)
		memcpy(to, x->places[source].data, (size_t)e->bytes);
	graph_move(x, source, to, NULL, false);
}

/* ---- checking */

static void shape_text(const int64_t *shape, int32_t ndim, struct tenon_buffer *out)
{
	int32_t i;

	tenon_buffer_printf(out, "[");
	for (i = 0; i < ndim && i < 8; i++)
		tenon_buffer_printf(out, "%s%" PRIi64, i ? ", " : "", shape[i]);
	tenon_buffer_printf(out, "%s]", ndim > 8 ? ", …" : "");
}

static int shape_error(const DLTensor *t, const struct graph_entry *e)
{
	struct tenon_buffer given = TENON_BUFFER_INIT, want = TENON_BUFFER_INIT;
	int err;

	if (ERROR_MESSAGES) {
		shape_text(t->shape, t->ndim, &given);
		shape_text(e->shape, e->ndim, &want);
	}
	err = tenon_error(-TENON_E_VALUE, "has shape %s, the graph was compiled for %s",
			  given.data ? given.data : "?", want.data ? want.data : "?");
	tenon_buffer_fini(&given);
	tenon_buffer_fini(&want);
	return err;
}

static bool same_dtype(DLDataType a, DLDataType b)
{
	/* TVM 0.22 changed the code of bool. */
	if (a.code == TENON_DTYPE_BOOL && a.bits == 8)
		a = tenon_dtype(TENON_DTYPE_UINT, 1, a.lanes);
	return tenon_dtype_equal(a, b);
}

int graph_check_tensor(const struct graph_exec *x, uint32_t entry, const DLTensor *t)
{
	const struct graph_entry *e = &x->graph.entries[entry];
	char given[TENON_DTYPE_NAME], want[TENON_DTYPE_NAME];

	if (!same_dtype(t->dtype, e->dtype))
		return tenon_error(-TENON_E_TYPE, "has dtype %s, the graph was compiled for %s",
				   tenon_dtype_name(t->dtype, given),
				   tenon_dtype_name(e->dtype, want));
	if (t->ndim != e->ndim ||
	    (e->ndim && memcmp(t->shape, e->shape, (size_t)e->ndim * sizeof(*e->shape))))
		return shape_error(t, e);
	if (!tenon_tensor_compact(t))
		return tenon_error(-TENON_E_VALUE, "has strides, want a compact tensor");
	if (!t->data && e->bytes)
		return tenon_error(-TENON_E_VALUE, "has no data");
	return 0;
}

int graph_check_place(const struct graph_exec *x, uint32_t entry, const DLTensor *t)
{
	uintptr_t address = (uintptr_t)t->data + (uintptr_t)t->byte_offset;
	DLDevice want = graph_entry_device(x, entry);
	int err;

	err = graph_check_tensor(x, entry, t);
	if (err)
		return err;
	if (!place_same(t->device, want))
		return tenon_error(-TENON_E_DEVICE, "lies on %s:%d, want %s:%d; copy it instead",
				   tenon_device_name((int32_t)t->device.device_type),
				   t->device.device_id,
				   tenon_device_name((int32_t)want.device_type), want.device_id);
	/* Data of a device tensor need not be an address. */
	if (t->byte_offset && !place_has_addresses(want))
		return tenon_error(-TENON_E_VALUE,
				   "begins %" PRIu64
				   " bytes into its memory, want none; copy it instead",
				   t->byte_offset);
	if (place_is_host(want) && address % TENON_TENSOR_ALIGN)
		return tenon_error(
			-TENON_E_VALUE,
			"lies at %p, want an address that is a multiple of %d; copy it instead",
			(void *)address, TENON_TENSOR_ALIGN);
	return 0;
}

/* ---- inputs and outputs */

void graph_mark_set(struct graph_exec *x, size_t index)
{
	if (!x->set[index] && x->needed[index])
		x->unset--;
	x->set[index] = true;
}

static bool same_memory(const DLTensor *a, const DLTensor *b)
{
	return place_same(a->device, b->device) && a->data == b->data &&
	       a->byte_offset == b->byte_offset;
}

/*
 * Code of these models stores sub-byte elements in one byte each, but a caller's tensor is packed.
 */
static int check_size(const struct graph_entry *e, const DLTensor *t)
{
	size_t bytes;
	int err = tenon_tensor_bytes(t, &bytes);

	if (err || bytes == e->bytes)
		return err;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "has %zu bytes, the graph keeps %" PRIu64
			   ": elements of less than a byte are parameters only",
			   bytes, e->bytes);
}

static int no_memory_of_its_own(void)
{
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"is a parameter that is used where it lies, and has no memory of its own "
		"to copy to: bind a tensor to it");
}

int graph_set_input(struct graph_exec *x, size_t index, const DLTensor *t)
{
	uint32_t entry = graph_input_entry(x, index);
	const struct graph_entry *e = &x->graph.entries[entry];
	DLTensor to;
	int err;

	err = graph_check_tensor(x, entry, t);
	if (!err)
		err = check_size(e, t);
	if (err)
		return err;
	if (e->storage >= 0 && !graph_own_storage(x, entry))
		return no_memory_of_its_own();
	if (e->storage >= 0) {
		if (x->places[entry].keep || x->places[entry].constant)
			graph_move(x, entry, graph_own_storage(x, entry), NULL, false);
		/* The source may be a tensor that was handed out for this entry. */
		to = graph_entry_tensor(x, entry);
		err = same_memory(t, &to) ? 0 : place_copy(t, &to, e->bytes);
		if (err)
			return err;
	}
	x->param[index] = false;
	graph_mark_set(x, index);
	return 0;
}

int graph_bind_input(struct graph_exec *x, size_t index, const DLTensor *t,
		     struct tenon_object *keep)
{
	uint32_t entry = graph_input_entry(x, index);
	int err;

	err = graph_check_place(x, entry, t);
	if (!err)
		err = check_size(&x->graph.entries[entry], t);
	if (err)
		return err;
	if (x->graph.entries[entry].storage >= 0)
		graph_move(x, entry, (char *)t->data + t->byte_offset, keep, false);
	x->param[index] = false;
	graph_mark_set(x, index);
	return 0;
}

int graph_bind_output(struct graph_exec *x, size_t index, const DLTensor *t,
		      struct tenon_object *keep)
{
	uint32_t entry = x->graph.heads[index], source = x->graph.entries[entry].source;
	const struct graph_entry *e = &x->graph.entries[source];
	int err;

	err = graph_check_place(x, entry, t);
	if (!err)
		err = check_size(&x->graph.entries[entry], t);
	if (err)
		return err;
	if (x->graph.nodes[e->node].kind == GRAPH_INPUT)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "is an input passed on: bind the input instead");
	if (e->bytes > x->graph.entries[entry].bytes)
		return tenon_error(-TENON_E_VALUE,
				   "is a part of %" PRIu64 " bytes, which do not fit here",
				   e->bytes);
	graph_move(x, entry, (char *)t->data + t->byte_offset, keep, false);
	return 0;
}

int graph_set_param(struct graph_exec *x, size_t index, struct tenon_params *params,
		    const struct tenon_param *param)
{
	uint32_t entry = graph_input_entry(x, index);
	const struct graph_entry *e = &x->graph.entries[entry];
	DLTensor to;
	int err;

	err = graph_check_tensor(x, entry, &param->tensor);
	if (!err && param->bytes != e->bytes)
		err = tenon_error(-TENON_E_VALUE, "has %zu bytes, the graph wants %" PRIu64,
				  param->bytes, e->bytes);
	if (err)
		return err;
	if (e->storage < 0 || !x->arena) {
		/* No operator reads it. */
	} else if (!graph_on_host(x, entry)) {
		graph_move(x, entry, graph_own_storage(x, entry), NULL, false);
		to = graph_entry_tensor(x, entry);
		err = place_copy(&param->tensor, &to, e->bytes);
	} else if (!((uintptr_t)param->tensor.data % TENON_TENSOR_ALIGN)) {
		graph_move(x, entry, param->tensor.data, (struct tenon_object *)params, true);
	} else if (!graph_own_storage(x, entry)) {
		err = no_memory_of_its_own();
	} else {
		graph_move(x, entry, graph_own_storage(x, entry), NULL, false);
		err = tenon_params_load(params, param, x->places[entry].data);
	}
	if (err)
		return err;
	x->param[index] = true;
	graph_mark_set(x, index);
	return 0;
}

int graph_view(struct graph_exec *x, uint32_t entry, struct tenon_tensor **out)
{
	const struct graph_place *p = &x->places[x->graph.entries[entry].source];
	DLTensor t = graph_entry_tensor(x, entry);

	return tensor_view_of_model(&t, p->keep ? p->keep : graph_own_keeper(x, entry), out);
}

int graph_output(struct graph_exec *x, size_t index, struct tenon_tensor **out)
{
	int err = 0;

	*out = NULL;
	if (!x->outputs[index]) {
		/* The receiver may write to it. */
		graph_make_writable(x, x->graph.heads[index]);
		err = graph_view(x, x->graph.heads[index], &x->outputs[index]);
	}
	if (err)
		return err;
	tenon_object_ref(x->outputs[index]);
	*out = x->outputs[index];
	return 0;
}
