/* SPDX-License-Identifier: MIT */
/* Check types, shapes, storages and the order of nodes. */
#include "runtime/graph/graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/core/dtype.h"

/* allowed number of storages that no entry uses */
#define STORAGES_SPARE 1024

static int node_error(const struct graph *g, uint32_t node, int status)
{
	const struct graph_node *n = &g->nodes[node];

	return tenon_error_in(status, "node %" PRIu32 " (\"%.*s\")", node, (int)n->name.size,
			      n->name.data);
}

/* Convert a pair of node and output to an entry. */
static int resolve(const struct graph *g, const uint32_t pair[2], uint32_t *out)
{
	const struct graph_node *n;

	if (pair[0] >= g->node_count)
		return tenon_error(-TENON_E_FORMAT, "reads node %" PRIu32 ", there are %" PRIu32,
				   pair[0], g->node_count);
	n = &g->nodes[pair[0]];
	if (pair[1] >= n->output_count)
		return tenon_error(-TENON_E_FORMAT,
				   "reads output %" PRIu32 " of node %" PRIu32
				   " (\"%.*s\"), which has %" PRIu32,
				   pair[1], pair[0], (int)n->name.size, n->name.data,
				   n->output_count);
	*out = n->first_output + pair[1];
	return 0;
}

static int check_inputs(struct graph *g, uint32_t node)
{
	struct graph_node *n = &g->nodes[node];
	uint32_t i;
	int err;

	for (i = 0; i < n->input_count; i++) {
		const uint32_t *pair = n->inputs + 2 * (size_t)i;

		if (pair[0] == node)
			return tenon_error(-TENON_E_CYCLE, "reads its own output");
		if (pair[0] > node && pair[0] < g->node_count)
			return tenon_error(-TENON_E_CYCLE,
					   "reads node %" PRIu32
					   " (\"%.*s\"), which runs after it: a "
					   "cycle, or nodes that are out of order",
					   pair[0], (int)g->nodes[pair[0]].name.size,
					   g->nodes[pair[0]].name.data);
		err = resolve(g, pair, &n->inputs[i]);
		if (err)
			return err;
	}
	return 0;
}

static int check_size(struct graph_entry *e)
{
	uint64_t bytes = dtype_bytes(e->dtype);
	int32_t i;
	int err;

	err = dtype_check(e->dtype);
	if (err)
		return err;
	for (i = 0; i < e->ndim; i++)
		if (!e->shape[i]) {
			e->bytes = 0;
			return 0;
		}
	for (i = 0; i < e->ndim; i++)
		if (__builtin_mul_overflow(bytes, (uint64_t)e->shape[i], &bytes) ||
		    bytes > INT64_MAX / 2)
			return tenon_error(
				-TENON_E_OVERFLOW,
				"has a shape whose size does not fit: dimension %d is %" PRIi64, i,
				e->shape[i]);
	e->bytes = bytes;
	return 0;
}

static int check_storage(struct graph *g, struct graph_entry *e)
{
	struct graph_storage *s;

	if (e->storage < 0)
		return 0;
	if ((uint32_t)e->storage >= g->storage_count)
		return tenon_error(-TENON_E_VALUE,
				   "lies in storage %" PRIi32 "; %" PRIu32
				   " entries have no use for it",
				   e->storage, g->entry_count);
	s = &g->storages[e->storage];
	if (!s->used)
		s->device = e->device;
	if (s->device != e->device)
		return tenon_error(-TENON_E_VALUE,
				   "lies in storage %" PRIi32 " on device type %" PRIi32
				   ", another entry of it on %" PRIi32,
				   e->storage, e->device, s->device);
	s->used = true;
	if (e->bytes > s->bytes)
		s->bytes = e->bytes;
	return 0;
}

static int check_outputs(struct graph *g, uint32_t node)
{
	const struct graph_node *n = &g->nodes[node];
	uint32_t i, id;
	int err;

	for (i = 0; i < n->output_count; i++) {
		id = n->first_output + i;
		g->entries[id].node = node;
		g->entries[id].source = id;
		err = check_size(&g->entries[id]);
		if (!err)
			err = check_storage(g, &g->entries[id]);
		if (err)
			return tenon_error_in(err, "output %" PRIu32 " (entry %" PRIu32 ")", i, id);
	}
	return 0;
}

static int check_nop(struct graph *g, const struct graph_node *n)
{
	struct graph_entry *to = &g->entries[n->first_output], *from;

	if (!n->input_count || n->output_count != 1)
		return tenon_error(-TENON_E_FORMAT,
				   "a __nop of %" PRIu32 " inputs and %" PRIu32
				   " outputs, want 1 and 1",
				   n->input_count, n->output_count);
	from = &g->entries[n->inputs[0]];
	if (to->storage != from->storage)
		return tenon_error(-TENON_E_FORMAT,
				   "a __nop whose output lies in storage %" PRIi32
				   " and its input in %" PRIi32 ", want the same",
				   to->storage, from->storage);
	if (to->bytes > from->bytes)
		return tenon_error(-TENON_E_VALUE,
				   "a __nop that makes %" PRIu64 " bytes out of %" PRIu64,
				   to->bytes, from->bytes);
	to->source = from->source;
	return 0;
}

static int check_copy(const struct graph *g, const struct graph_node *n)
{
	const struct graph_entry *to = &g->entries[n->first_output];

	if (n->input_count != 1 || n->output_count != 1)
		return tenon_error(-TENON_E_FORMAT,
				   "a __copy of %" PRIu32 " inputs and %" PRIu32
				   " outputs, want 1 and 1",
				   n->input_count, n->output_count);
	if (to->bytes != g->entries[n->inputs[0]].bytes)
		return tenon_error(-TENON_E_VALUE, "a __copy of %" PRIu64 " bytes to %" PRIu64,
				   g->entries[n->inputs[0]].bytes, to->bytes);
	return 0;
}

/* Entries that code reads and writes need a storage. */
static int check_placed(const struct graph *g, const struct graph_node *n)
{
	uint32_t i;

	for (i = 0; i < n->input_count; i++)
		if (g->entries[n->inputs[i]].storage < 0)
			return tenon_error(-TENON_E_FORMAT, "input %" PRIu32 " has no storage", i);
	for (i = 0; i < n->output_count; i++)
		if (g->entries[n->first_output + i].storage < 0)
			return tenon_error(-TENON_E_FORMAT, "output %" PRIu32 " has no storage", i);
	return 0;
}

static int check_node(struct graph *g, uint32_t node)
{
	const struct graph_node *n = &g->nodes[node];
	int err;

	err = check_inputs(g, node);
	if (!err)
		err = check_outputs(g, node);
	if (err || n->kind == GRAPH_INPUT)
		return err;
	err = check_placed(g, n);
	if (!err && n->kind == GRAPH_NOP)
		err = check_nop(g, n);
	if (!err && n->kind == GRAPH_COPY)
		err = check_copy(g, n);
	return err;
}

static int count_storages(struct graph *g)
{
	uint32_t i, most = g->entry_count + STORAGES_SPARE;

	for (i = 0; i < g->entry_count; i++) {
		uint32_t id = (uint32_t)g->entries[i].storage + 1;

		if (id <= most && id > g->storage_count)
			g->storage_count = id;
	}
	g->storages = heap_zeroed(g->storage_count + 1, sizeof(*g->storages), "list of storages");
	if (!g->storages)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " storages",
				   g->storage_count);
	return 0;
}

int graph_check(struct graph *g)
{
	uint32_t i;
	int err;

	err = count_storages(g);
	if (err)
		return err;
	for (i = 0; i < g->node_count; i++) {
		err = check_node(g, i);
		if (err)
			return node_error(g, i, err);
	}
	for (i = 0; i < g->head_count; i++) {
		err = resolve(g, g->heads + 2 * (size_t)i, &g->heads[i]);
		if (!err && g->entries[g->heads[i]].storage < 0)
			err = tenon_error(-TENON_E_FORMAT, "entry %" PRIu32 " has no storage",
					  g->heads[i]);
		if (err)
			return tenon_error_in(err, "head %" PRIu32, i);
	}
	return 0;
}
