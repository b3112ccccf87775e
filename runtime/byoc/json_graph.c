/* SPDX-License-Identifier: MIT */
/* Read the JSON of a graph and check shapes, types and the order of nodes. */
#include "runtime/byoc/json_graph.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"

/* Largest graph that is read. */
#define NODES_MOST (1 << 20)

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
}

/* ---- shapes and types */

/* Lists around the first item at @at. */
static uint32_t depth_at(const struct json_text *j, uint32_t at)
{
	uint32_t depth = 0;

	while (json_is(j, at, JSMN_ARRAY)) {
		depth++;
		if (!j->tokens[at].size)
			break;
		at++;
	}
	return depth;
}

static int take_shape(struct byoc_graph *g, uint32_t *at, struct byoc_entry *e)
{
	const uint32_t from = *at;
	uint32_t count, i;
	int err;

	err = json_enter(&g->json, at, JSMN_ARRAY, "a shape", &count);
	if (!err && count > GRAPH_DIMS_MOST)
		err = json_error(&g->json, from, -TENON_E_VALUE, "%u dimensions, at most %d",
				 (unsigned int)count, GRAPH_DIMS_MOST);
	e->bytes = sizeof(float); /* of the widest type */
	for (i = 0; i < count && !err; i++) {
		err = json_integer(&g->json, at, "an extent", 1, INT32_MAX, &e->shape[i]);
		if (!err && __builtin_mul_overflow(e->bytes, (size_t)e->shape[i], &e->bytes))
			err = json_error(&g->json, from, -TENON_E_OVERFLOW, "a tensor too large");
	}
	e->elements = e->bytes / sizeof(float);
	e->ndim = (int32_t)count;
	return err;
}

/* [[[1, 64]]]: the outer list is that of all attributes; it may be missing. */
static int take_shapes(struct byoc_graph *g, uint32_t *at, struct byoc_node *n)
{
	const uint32_t depth = depth_at(&g->json, *at);
	struct byoc_entry *grown;
	uint32_t count, i;
	int err = 0;

	if (depth < 2 || depth > 3)
		return json_error(&g->json, *at, -TENON_E_FORMAT, "no list of shapes");
	if (depth == 3)
		err = json_enter(&g->json, at, JSMN_ARRAY, "shapes", &count);
	if (!err)
		err = json_enter(&g->json, at, JSMN_ARRAY, "shapes", &count);
	if (err)
		return err;
	grown = realloc(g->entries, ((size_t)g->entry_count + count + 1) * sizeof(*grown));
	if (!grown)
		return no_memory();
	g->entries = grown;
	for (i = 0; i < count && !err; i++) {
		grown[g->entry_count + i] = (struct byoc_entry){ .node = (uint32_t)(n - g->nodes) };
		err = take_shape(g, at, &grown[g->entry_count + i]);
	}
	n->first_entry = g->entry_count;
	n->entry_count = count;
	g->entry_count += count;
	return err;
}

static const struct {
	const char *name;
	DLDataType type;
} types[] = {
	[BYOC_F32] = { "float32", { kDLFloat, 32, 1 } },
	[BYOC_S32] = { "int32", { kDLInt, 32, 1 } },
	[BYOC_S8] = { "int8", { kDLInt, 8, 1 } },
	[BYOC_U8] = { "uint8", { kDLUInt, 8, 1 } },
};

const char *byoc_type_name(enum byoc_type type)
{
	return types[type].name;
}

DLDataType byoc_dtype(enum byoc_type type)
{
	return types[type].type;
}

static void set_type(struct byoc_entry *e, struct tenon_slice name)
{
	enum byoc_type type;

	for (type = BYOC_F32; type <= BYOC_U8; type++)
		if (slice_is(name, types[type].name)) {
			e->type = type;
			e->bytes = e->elements * (types[type].type.bits / 8);
		}
}

static int take_types(struct byoc_graph *g, uint32_t at, struct byoc_node *n)
{
	struct tenon_slice type;
	uint32_t count, i;
	int err = 0;

	while (depth_at(&g->json, at) > 1)
		at++;
	err = json_enter(&g->json, &at, JSMN_ARRAY, "types", &count);
	if (!err && count != n->entry_count)
		err = json_error(&g->json, at, -TENON_E_FORMAT, "%u types of %u outputs",
				 (unsigned int)count, (unsigned int)n->entry_count);
	for (i = 0; i < count && !err; i++) {
		err = json_word(&g->json, &at, "a type", &type);
		if (!err)
			set_type(&g->entries[n->first_entry + i], type);
	}
	return err;
}

static int take_attrs(struct byoc_graph *g, uint32_t *at, struct byoc_node *n)
{
	const uint32_t from = *at;
	uint32_t count, i, types = 0;
	struct tenon_slice key;
	int err;

	n->attrs = from;
	err = json_enter(&g->json, at, JSMN_OBJECT, "attributes", &count);
	for (i = 0; i < count && !err; i++) {
		err = json_key(&g->json, at, &key);
		if (!err && slice_is(key, "dtype"))
			types = *at;
		if (!err && slice_is(key, "shape") && !n->entry_count)
			err = take_shapes(g, at, n);
		else if (!err)
			json_skip(&g->json, at);
	}
	if (!err && (!n->entry_count || !types))
		err = json_error(&g->json, from, -TENON_E_FORMAT, "a node without shape and dtype");
	return err ? err : take_types(g, types, n);
}

/* ---- nodes */

/* An entry of an earlier node. */
static int take_entry(struct byoc_graph *g, uint32_t *at, uint32_t before, uint32_t *out)
{
	const uint32_t from = *at;
	uint32_t node, output;
	int err = json_entry(&g->json, at, before, &node, &output);

	if (!err && output >= g->nodes[node].entry_count)
		err = json_error(&g->json, from, -TENON_E_VALUE, "an output is %u, the node has %u",
				 (unsigned int)output, (unsigned int)g->nodes[node].entry_count);
	*out = err ? 0 : g->nodes[node].first_entry + output;
	return err;
}

static int take_entries(struct byoc_graph *g, uint32_t *at, uint32_t before, uint32_t **list,
			uint32_t *count)
{
	const uint32_t from = *at;
	uint32_t i;
	int err;

	if (*list)
		return json_error(&g->json, from, -TENON_E_FORMAT, "a list that was given before");
	err = json_enter(&g->json, at, JSMN_ARRAY, "entries", count);
	if (err)
		return err;
	*list = calloc((size_t)*count + 1, sizeof(**list));
	if (!*list)
		return no_memory();
	for (i = 0; i < *count && !err; i++)
		err = take_entry(g, at, before, &(*list)[i]);
	return err;
}

static int take_kind(struct byoc_graph *g, uint32_t *at, struct byoc_node *n)
{
	static const char *const words[] = { "input", "const", "kernel" };
	const uint32_t from = *at;
	struct tenon_slice word;
	int err, i;

	err = json_word(&g->json, at, "op", &word);
	for (i = 0; i < 3 && !err; i++)
		if (slice_is(word, words[i])) {
			n->kind = (enum byoc_node_kind)i;
			return 0;
		}
	return err ? err
		   : json_error(&g->json, from, -TENON_E_FORMAT,
				"op \"%.*s\", want input, const or kernel", json_shown(word),
				word.data);
}

static int take_node(struct byoc_graph *g, uint32_t *at, uint32_t number)
{
	struct byoc_node *n = &g->nodes[number];
	const uint32_t from = *at;
	struct tenon_slice key;
	bool has_kind = false;
	uint32_t count;
	int err;

	err = json_enter(&g->json, at, JSMN_OBJECT, "a node", &count);
	while (json_next(&g->json, at, &count, &key, &err)) {
		if (slice_is(key, "op")) {
			err = take_kind(g, at, n);
			has_kind = true;
		} else if (slice_is(key, "name")) {
			err = json_word(&g->json, at, "a name", &n->name);
		} else if (slice_is(key, "inputs")) {
			err = take_entries(g, at, number, &n->inputs, &n->input_count);
		} else if (slice_is(key, "attrs") && !n->attrs) {
			err = take_attrs(g, at, n);
		} else {
			json_skip(&g->json, at);
		}
	}
	if (!err && (!has_kind || !n->attrs))
		err = json_error(&g->json, from, -TENON_E_FORMAT, "a node without op and attrs");
	return err;
}

static int take_nodes(struct byoc_graph *g, uint32_t at)
{
	const uint32_t from = at;
	uint32_t i, count;
	int err;

	err = json_enter(&g->json, &at, JSMN_ARRAY, "nodes", &count);
	if (!err && count > NODES_MOST)
		err = json_error(&g->json, from, -TENON_E_VALUE, "too many nodes");
	if (err)
		return err;
	g->nodes = calloc((size_t)count + 1, sizeof(*g->nodes));
	if (!g->nodes)
		return no_memory();
	g->node_count = count;
	for (i = 0; i < count && !err; i++)
		err = take_node(g, &at, i);
	return err;
}

/* Sort the nodes in "arg_nodes" into inputs and constants. */
static int take_arguments(struct byoc_graph *g, uint32_t at)
{
	const struct byoc_node *n;
	uint32_t i, k, count;
	int64_t node = 0;
	int err;

	err = json_enter(&g->json, &at, JSMN_ARRAY, "arg_nodes", &count);
	g->inputs = calloc((size_t)g->entry_count + 1, sizeof(*g->inputs));
	g->constants = calloc((size_t)g->entry_count + 1, sizeof(*g->constants));
	if (!err && (!g->inputs || !g->constants))
		err = no_memory();
	for (i = 0; i < count && !err; i++) {
		const uint32_t from = at;

		err = json_integer(&g->json, &at, "a node", 0, (int64_t)g->node_count - 1, &node);
		n = &g->nodes[node];
		if (!err && (n->kind == BYOC_KERNEL ||
			     g->input_count + g->constant_count + n->entry_count > g->entry_count))
			err = json_error(&g->json, from, -TENON_E_FORMAT,
					 "an argument that is an operator, or is there twice");
		for (k = 0; !err && k < n->entry_count; k++)
			if (n->kind == BYOC_INPUT)
				g->inputs[g->input_count++] = n->first_entry + k;
			else
				g->constants[g->constant_count++] = n->first_entry + k;
	}
	return err;
}

int byoc_graph_read(struct tenon_slice text, const char *name, struct byoc_graph *g)
{
	uint32_t nodes, arguments, heads;
	int err;

	memset(g, 0, sizeof(*g));
	g->text = malloc(text.size + 1);
	if (!g->text)
		return no_memory();
	memcpy(g->text, text.data, text.size);
	text.data = g->text;
	err = json_text_read(text, name, &g->json);
	if (err)
		return err;
	nodes = json_find(&g->json, 0, "nodes");
	arguments = json_find(&g->json, 0, "arg_nodes");
	heads = json_find(&g->json, 0, "heads");
	if (!nodes || !arguments || !heads)
		err = json_error(&g->json, 0, -TENON_E_FORMAT,
				 "a graph has nodes, arg_nodes and heads; one is missing");
	if (!err)
		err = take_nodes(g, nodes);
	if (!err)
		err = take_arguments(g, arguments);
	if (!err)
		err = take_entries(g, &heads, g->node_count, &g->heads, &g->head_count);
	return err;
}

void byoc_graph_fini(struct byoc_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->node_count; i++)
		free(g->nodes[i].inputs);
	free(g->nodes);
	free(g->entries);
	free(g->inputs);
	free(g->constants);
	free(g->heads);
	json_text_fini(&g->json);
	free(g->text);
}

/* ---- views of entries */

struct byoc_view byoc_view(const struct byoc_entry *e, const int *to)
{
	struct byoc_view v = { .ndim = e->ndim ? e->ndim : 1 };
	int64_t stride = 1;
	int i, axis;

	v.dims[0] = v.strides[0] = 1; /* a scalar is one element */
	for (i = e->ndim; i-- > 0;) {
		axis = to ? to[i] : i;
		v.dims[axis] = e->shape[i];
		v.strides[axis] = stride;
		stride *= e->shape[i];
	}
	return v;
}

struct byoc_view byoc_broadcast_view(const struct byoc_entry *e, int ndim)
{
	const struct byoc_view plain = byoc_view(e, NULL);
	struct byoc_view v = { .ndim = ndim };
	int i, k;

	for (i = 0; i < ndim; i++) {
		k = i - (ndim - e->ndim);
		v.dims[i] = k >= 0 ? plain.dims[k] : 1;
		v.strides[i] = k >= 0 ? plain.strides[k] : (int64_t)e->elements;
	}
	return v;
}

bool byoc_same_shape(const struct byoc_entry *a, const struct byoc_entry *b)
{
	return a->ndim == b->ndim &&
	       !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(a->shape[0]));
}
