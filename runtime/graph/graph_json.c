/* SPDX-License-Identifier: MIT */
/* Read graph.json in one pass into one allocation. */
#include "runtime/graph/graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/json_read.h"

#define NDIM_MOST 64

/* All parts share one allocation, whose size the text bounds. */
struct reader {
	struct json_text t;
	struct graph *g;
	uint32_t attrs;	   /* tokens of "attrs", which has all shapes */
	char *strings;	   /* buffer for names */
	int64_t *extents;  /* buffer for shapes */
	uint32_t *entries; /* buffer for entry lists: pairs of node and index until graph_check() */
};

enum section { NODES, ARG_NODES, HEADS, ATTRS, ROW_PTR, SECTIONS };

static const char *const section_keys[SECTIONS] = { "nodes", "arg_nodes", "heads", "attrs",
						    "node_row_ptr" };

static bool is_key(struct tenon_slice key, const char *word, size_t size)
{
	return key.size == size && !memcmp(key.data, word, size);
}

#define IS(key, word) is_key(key, word, sizeof(word) - 1)

/* Find the sections. Like TVM, stop at "metadata". */
static int find_sections(struct reader *r, uint32_t place[SECTIONS])
{
	uint32_t at = 0, count, k;
	struct tenon_slice key;
	int err;

	memset(place, 0, SECTIONS * sizeof(*place));
	err = json_enter(&r->t, &at, JSMN_OBJECT, "a graph", &count);
	while (json_next(&r->t, &at, &count, &key, &err)) {
		if (IS(key, "metadata"))
			break;
		for (k = 0; k < SECTIONS; k++)
			if (is_key(key, section_keys[k], strlen(section_keys[k])))
				break;
		if (k == SECTIONS)
			return json_error(&r->t, at - 1, -TENON_E_FORMAT,
					  "key \"%.*s\" has no place in a graph", json_shown(key),
					  key.data);
		if (place[k])
			return json_error(&r->t, at - 1, -TENON_E_FORMAT, "key \"%s\" comes twice",
					  section_keys[k]);
		place[k] = at;
		json_skip(&r->t, &at);
		if (k == ATTRS)
			r->attrs = at - place[ATTRS];
	}
	for (k = 0; k < SECTIONS && !err; k++)
		if (!place[k])
			err = tenon_error(-TENON_E_FORMAT, "%s: key \"%s\" is missing", r->t.name,
					  section_keys[k]);
	return err;
}

static int read_entries(struct reader *r, uint32_t *at, const char *what, uint32_t **list,
			uint32_t *count)
{
	uint32_t i;
	int err;

	err = json_enter(&r->t, at, JSMN_ARRAY, what, count);
	*list = r->entries;
	/* pairs, which graph_check() makes entries */
	for (i = 0; i < *count && !err; i++, r->entries += 2)
		err = json_entry(&r->t, at, UINT64_C(1) << 32, &r->entries[0], &r->entries[1]);
	return err;
}

/* Read a number in a string. */
static int read_quoted(struct reader *r, uint32_t *at, const char *what, uint32_t *out)
{
	struct tenon_slice raw;
	uint64_t v = 0;
	size_t i;

	if (!json_is(&r->t, *at, JSMN_STRING))
		return json_error(&r->t, *at, -TENON_E_FORMAT, "%s is no string", what);
	raw = json_raw(&r->t, *at);
	for (i = 0; i < raw.size && raw.data[i] >= '0' && raw.data[i] <= '9' && v < UINT32_MAX; i++)
		v = 10 * v + (uint64_t)(raw.data[i] - '0');
	if (!raw.size || i < raw.size || v > UINT32_MAX)
		return json_error(&r->t, *at, -TENON_E_FORMAT, "%s is \"%.*s\", want a number",
				  what, json_shown(raw), raw.data);
	*out = (uint32_t)v;
	++*at;
	return 0;
}

/* attributes of an operator that are required */
struct op_attrs {
	uint32_t inputs, outputs, flatten, seen;
};

enum { SEEN_INPUTS = 1, SEEN_OUTPUTS = 2, SEEN_FLATTEN = 4, SEEN_FUNCTION = 8, SEEN_ALL = 15 };

static int read_attrs(struct reader *r, uint32_t *at, struct graph_node *n, struct op_attrs *a)
{
	struct tenon_slice key;
	uint32_t count;
	int err;

	err = json_enter(&r->t, at, JSMN_OBJECT, "a node's attributes", &count);
	while (json_next(&r->t, at, &count, &key, &err)) {
		if (IS(key, "func_name")) {
			err = json_string(&r->t, at, "func_name", &r->strings, &n->function);
			a->seen |= SEEN_FUNCTION;
		} else if (IS(key, "num_inputs")) {
			err = read_quoted(r, at, "num_inputs", &a->inputs);
			a->seen |= SEEN_INPUTS;
		} else if (IS(key, "num_outputs")) {
			err = read_quoted(r, at, "num_outputs", &a->outputs);
			a->seen |= SEEN_OUTPUTS;
		} else if (IS(key, "flatten_data")) {
			err = read_quoted(r, at, "flatten_data", &a->flatten);
			a->seen |= SEEN_FLATTEN;
		} else {
			json_skip(&r->t, at);
		}
	}
	return err;
}

static int finish_op(struct reader *r, uint32_t at, struct graph_node *n, const struct op_attrs *a)
{
	static const char *const names[] = { "num_inputs", "num_outputs", "flatten_data",
					     "func_name" };
	unsigned int missing = SEEN_ALL & ~a->seen;

	if (missing)
		return json_error(&r->t, at, -TENON_E_FORMAT, "operator \"%.*s\" has no %s",
				  (int)n->name.size, n->name.data, names[__builtin_ctz(missing)]);
	if (a->inputs != n->input_count)
		return json_error(&r->t, at, -TENON_E_FORMAT,
				  "operator \"%.*s\" has %" PRIu32
				  " inputs, its num_inputs is %" PRIu32,
				  (int)n->name.size, n->name.data, n->input_count, a->inputs);
	n->output_count = a->outputs;
	n->flatten = a->flatten != 0;
	n->kind = IS(n->function, "__nop")    ? GRAPH_NOP
		  : IS(n->function, "__copy") ? GRAPH_COPY
					      : GRAPH_CALL;
	return 0;
}

static int read_node(struct reader *r, uint32_t *at, struct graph_node *n)
{
	struct op_attrs attrs = { 0, 0, 0, 0 };
	struct tenon_slice key, op = { NULL, 0 };
	uint32_t start = *at, count;
	bool inputs = false;
	int err;

	n->token = start;
	err = json_enter(&r->t, at, JSMN_OBJECT, "a node", &count);
	while (json_next(&r->t, at, &count, &key, &err)) {
		if (IS(key, "op")) {
			op = json_raw(&r->t, *at);
			json_skip(&r->t, at);
		} else if (IS(key, "name")) {
			err = json_string(&r->t, at, "a node's name", &r->strings, &n->name);
		} else if (IS(key, "inputs") && !inputs) {
			err = read_entries(r, at, "a node's inputs", &n->inputs, &n->input_count);
			inputs = true;
		} else if (IS(key, "attrs") || IS(key, "attr")) {
			err = read_attrs(r, at, n, &attrs);
		} else if (IS(key, "control_deps")) {
			json_skip(&r->t, at);
		} else {
			err = json_error(&r->t, *at - 1, -TENON_E_FORMAT,
					 "key \"%.*s\" has no place in a node", json_shown(key),
					 key.data);
		}
	}
	if (err)
		return err;
	if (!op.data || !n->name.data || !inputs)
		return json_error(&r->t, start, -TENON_E_FORMAT, "a node without %s",
				  !op.data	  ? "op"
				  : !n->name.data ? "name"
						  : "inputs");
	if (IS(op, "tvm_op"))
		return finish_op(r, start, n, &attrs);
	if (!IS(op, "null"))
		return json_error(&r->t, start, -TENON_E_FORMAT,
				  "a node of op \"%.*s\", want null or tvm_op", json_shown(op),
				  op.data);
	if (n->input_count)
		return json_error(&r->t, start, -TENON_E_FORMAT, "input \"%.*s\" has inputs itself",
				  (int)n->name.size, n->name.data);
	n->kind = GRAPH_INPUT;
	n->output_count = 1;
	return 0;
}

static int read_nodes(struct reader *r, uint32_t at)
{
	uint32_t count, i;
	int err;

	err = json_enter(&r->t, &at, JSMN_ARRAY, "\"nodes\"", &count);
	for (i = 0; i < count && !err; i++)
		err = read_node(r, &at, &r->g->nodes[i]);
	return err;
}

/* Read the first entry of each node, and the number of entries at the end. */
static int read_rows(struct reader *r, uint32_t at)
{
	struct graph *g = r->g;
	int64_t first, next;
	uint32_t count, i;
	int err;

	err = json_enter(&r->t, &at, JSMN_ARRAY, "\"node_row_ptr\"", &count);
	if (err)
		return err;
	if (count != g->node_count + 1)
		return json_error(&r->t, at - 1, -TENON_E_FORMAT,
				  "node_row_ptr has %" PRIu32 " numbers for %" PRIu32
				  " nodes, want one more",
				  count, g->node_count);
	err = json_integer(&r->t, &at, "node_row_ptr", 0, 0, &first);
	for (i = 0; i < g->node_count && !err; i++) {
		struct graph_node *n = &g->nodes[i];

		err = json_integer(&r->t, &at, "node_row_ptr", first, g->entry_count, &next);
		if (err)
			break;
		if (next - first != n->output_count)
			err = json_error(&r->t, at - 1, -TENON_E_FORMAT,
					 "node_row_ptr gives node %" PRIu32 " (\"%.*s\") %" PRIi64
					 " outputs, it has %" PRIu32,
					 i, (int)n->name.size, n->name.data, next - first,
					 n->output_count);
		n->first_output = (uint32_t)first;
		first = next;
	}
	if (!err && first != g->entry_count)
		err = json_error(&r->t, at - 1, -TENON_E_FORMAT,
				 "node_row_ptr ends at %" PRIi64 ", there are %" PRIu32 " entries",
				 first, g->entry_count);
	return err;
}

static int read_args(struct reader *r, uint32_t at)
{
	struct graph *g = r->g;
	int64_t node;
	uint32_t i;
	int err;

	err = json_enter(&r->t, &at, JSMN_ARRAY, "\"arg_nodes\"", &g->input_count);
	g->inputs = r->entries;
	for (i = 0; i < g->input_count && !err; i++) {
		err = json_integer(&r->t, &at, "arg_nodes", 0, (int64_t)g->node_count - 1, &node);
		if (!err && g->nodes[node].kind != GRAPH_INPUT)
			err = json_error(&r->t, at - 1, -TENON_E_FORMAT,
					 "arg_nodes has node %" PRIi64 ", which is an operator",
					 node);
		*r->entries++ = (uint32_t)node;
	}
	return err;
}

static int read_dtypes(struct reader *r, uint32_t *at)
{
	static const struct tenon_slice usual = { "float32", 7 };
	uint32_t i;

	for (i = 0; i < r->g->entry_count; i++) {
		struct graph_entry *e = &r->g->entries[i];
		struct tenon_slice raw;
		int err = 0;

		if (!json_is(&r->t, *at, JSMN_STRING))
			return json_error(&r->t, *at, -TENON_E_FORMAT, "a dtype is no string");
		raw = json_raw(&r->t, *at);
		if (tenon_slice_equal(raw, usual))
			e->dtype = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
		else
			err = tenon_dtype_parse(raw, &e->dtype);
		if (err)
			return json_error(&r->t, *at, err, "\"%.*s\" is no dtype", json_shown(raw),
					  raw.data);
		if (e->dtype.code == TENON_DTYPE_BOOL)
			e->dtype = tenon_dtype(TENON_DTYPE_UINT, 1, e->dtype.lanes);
		++*at;
	}
	return 0;
}

/* All entries are plain memory here; in another scope, such as a texture, kernels expect another. */
static int check_scopes(struct reader *r, uint32_t *at)
{
	struct tenon_slice scope;
	uint32_t i;

	for (i = 0; i < r->g->entry_count; i++) {
		if (!json_is(&r->t, *at, JSMN_STRING))
			return json_error(&r->t, *at, -TENON_E_FORMAT,
					  "a storage_scope is no string");
		scope = json_raw(&r->t, *at);
		if (scope.size && !IS(scope, "global"))
			return json_error(&r->t, *at, -TENON_E_UNSUPPORTED,
					  "entry %" PRIu32
					  " is in memory \"%.*s\"; \"global\" alone is supported: "
					  "compile the model without textures",
					  i, json_shown(scope), scope.data);
		++*at;
	}
	return 0;
}

static int read_shapes(struct reader *r, uint32_t *at)
{
	uint32_t i, k, ndim;
	int err;

	for (i = 0; i < r->g->entry_count; i++) {
		struct graph_entry *e = &r->g->entries[i];

		err = json_enter(&r->t, at, JSMN_ARRAY, "a shape", &ndim);
		if (err)
			return err;
		if (ndim > NDIM_MOST)
			return json_error(&r->t, *at - 1, -TENON_E_FORMAT,
					  "a shape of %" PRIu32 " dimensions, %d at most", ndim,
					  NDIM_MOST);
		e->ndim = (int32_t)ndim;
		e->shape = r->extents;
		for (k = 0; k < ndim; k++) {
			err = json_integer(&r->t, at, "an extent", 0, INT64_MAX, r->extents++);
			if (err)
				return err;
		}
	}
	return 0;
}

static int read_numbers(struct reader *r, uint32_t *at, const char *what, size_t member,
			int64_t least)
{
	uint32_t i;

	for (i = 0; i < r->g->entry_count; i++) {
		char *entry = (char *)&r->g->entries[i];
		int64_t v;
		int err;

		err = json_integer(&r->t, at, what, least, INT32_MAX, &v);
		if (err)
			return err;
		*(int32_t *)(void *)(entry + member) = (int32_t)v;
	}
	return 0;
}

/* Enter [type, list]. The first such list determines the number of entries. */
static int enter_list(struct reader *r, uint32_t *at, const char *key, const char *type)
{
	uint32_t count;
	int err;

	err = json_enter(&r->t, at, JSMN_ARRAY, key, &count);
	if (err)
		return err;
	if (count != 2 || !json_is(&r->t, *at, JSMN_STRING) ||
	    !tenon_slice_equal(json_raw(&r->t, *at), tenon_slice_of(type)))
		return json_error(&r->t, *at - 1, -TENON_E_FORMAT, "%s wants [\"%s\", […]]", key,
				  type);
	++*at;
	err = json_enter(&r->t, at, JSMN_ARRAY, key, &count);
	if (err)
		return err;
	if (count != r->g->entry_count)
		return json_error(&r->t, *at - 1, -TENON_E_FORMAT,
				  "%s has %" PRIu32 " items for %" PRIu32 " entries", key, count,
				  r->g->entry_count);
	return 0;
}

/* Skip an attribute for other readers, but only in a form that TVM skips too. */
static int skip_attribute(struct reader *r, uint32_t *at, struct tenon_slice key)
{
	struct tenon_slice type = { NULL, 0 };

	if (json_is(&r->t, *at, JSMN_ARRAY) && json_is(&r->t, *at + 1, JSMN_STRING))
		type = json_raw(&r->t, *at + 1);
	if (!IS(type, "list_int") && !IS(type, "size_t"))
		return json_error(&r->t, *at, -TENON_E_FORMAT,
				  "attribute \"%.*s\" is unknown, and neither list_int nor size_t",
				  json_shown(key), key.data);
	json_skip(&r->t, at);
	return 0;
}

enum { SEEN_DTYPE = 1, SEEN_STORAGE = 2, SEEN_SHAPE = 4, SEEN_EACH = 7 };

static int read_graph_attrs(struct reader *r, uint32_t at)
{
	static const char *const names[] = { "dltype", "storage_id", "shape" };
	unsigned int seen = 0;
	struct tenon_slice key;
	uint32_t count, start = at;
	int err;

	err = json_enter(&r->t, &at, JSMN_OBJECT, "\"attrs\"", &count);
	while (json_next(&r->t, &at, &count, &key, &err)) {
		if (IS(key, "dltype") && !(seen & SEEN_DTYPE)) {
			err = enter_list(r, &at, "dltype", "list_str");
			err = err ? err : read_dtypes(r, &at);
			seen |= SEEN_DTYPE;
		} else if (IS(key, "shape") && !(seen & SEEN_SHAPE)) {
			err = enter_list(r, &at, "shape", "list_shape");
			err = err ? err : read_shapes(r, &at);
			seen |= SEEN_SHAPE;
		} else if (IS(key, "storage_id")) {
			err = enter_list(r, &at, "storage_id", "list_int");
			err = err ? err
				  : read_numbers(r, &at, "a storage_id",
						 offsetof(struct graph_entry, storage), -1);
			seen |= SEEN_STORAGE;
		} else if (IS(key, "device_index")) {
			err = enter_list(r, &at, "device_index", "list_int");
			err = err ? err
				  : read_numbers(r, &at, "a device_index",
						 offsetof(struct graph_entry, device), 0);
		} else if (IS(key, "storage_scope")) {
			err = enter_list(r, &at, "storage_scope", "list_str");
			err = err ? err : check_scopes(r, &at);
		} else {
			err = skip_attribute(r, &at, key);
		}
	}
	if (!err && seen != SEEN_EACH)
		err = json_error(&r->t, start, -TENON_E_FORMAT, "attribute \"%s\" is missing",
				 names[__builtin_ctz(SEEN_EACH & ~seen)]);
	return err;
}

/* Count the entries in storage_id; the other lists must have as many. */
static int count_entries(struct reader *r, uint32_t attrs)
{
	struct tenon_slice key;
	uint32_t count, at = attrs;
	int err;

	err = json_enter(&r->t, &at, JSMN_OBJECT, "\"attrs\"", &count);
	while (json_next(&r->t, &at, &count, &key, &err)) {
		if (IS(key, "storage_id") && json_is(&r->t, at, JSMN_ARRAY) &&
		    r->t.tokens[at].size == 2 && json_is(&r->t, at + 2, JSMN_ARRAY)) {
			r->g->entry_count = (uint32_t)r->t.tokens[at + 2].size;
			return 0;
		}
		json_skip(&r->t, &at);
	}
	return err ? err : json_error(&r->t, attrs, -TENON_E_FORMAT, "no \"storage_id\" list");
}

static void *carve(char **at, size_t count, size_t size)
{
	void *part = *at;

	*at += (count * size + 15) & ~(size_t)15;
	return part;
}

/* Allocate the graph. No part is larger than the tokens or the text that it is read from. */
static int allocate_graph(struct reader *r)
{
	struct graph *g = r->g;
	size_t tokens = r->t.count;
	/* Counts are ints, so 64 bits do not overflow, but a size_t may. */
	uint64_t room = (uint64_t)g->node_count * sizeof(*g->nodes) +
			(uint64_t)g->entry_count * sizeof(*g->entries) +
			(uint64_t)r->attrs * sizeof(*r->extents) +
			(uint64_t)tokens * sizeof(*r->entries) + r->t.text.size + 5 * 16;
	char *at;

	at = room <= PTRDIFF_MAX ? heap_alloc((size_t)room, "nodes and entries") : NULL;
	if (!at)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for the graph", r->t.name);
	memset(at, 0,
	       g->node_count * sizeof(*g->nodes) + g->entry_count * sizeof(*g->entries) + 32);
	g->memory = at;
	g->nodes = carve(&at, g->node_count, sizeof(*g->nodes));
	g->entries = carve(&at, g->entry_count, sizeof(*g->entries));
	r->extents = carve(&at, r->attrs, sizeof(*r->extents));
	r->entries = carve(&at, tokens, sizeof(*r->entries));
	r->strings = at;
	return 0;
}

static int read_sections(struct reader *r)
{
	uint32_t place[SECTIONS], at;
	int err;

	err = find_sections(r, place);
	if (err)
		return err;
	at = place[NODES];
	err = json_enter(&r->t, &at, JSMN_ARRAY, "\"nodes\"", &r->g->node_count);
	if (!err)
		err = count_entries(r, place[ATTRS]);
	if (!err)
		err = allocate_graph(r);
	if (!err)
		err = read_nodes(r, place[NODES]);
	if (!err)
		err = read_rows(r, place[ROW_PTR]);
	if (!err)
		err = read_args(r, place[ARG_NODES]);
	if (!err)
		err = read_entries(r, &place[HEADS], "\"heads\"", &r->g->heads, &r->g->head_count);
	if (!err)
		err = read_graph_attrs(r, place[ATTRS]);
	return err;
}

int graph_read_tokens(const struct json_text *json, struct graph *out)
{
	struct reader r = { .t = *json, .g = out };
	int err;

	*out = (struct graph){ 0 };
	err = read_sections(&r);
	if (!err) {
		err = graph_check(out);
		if (err)
			tenon_error_in(err, "%s", json->name);
	}
	if (err)
		graph_fini(out);
	return err;
}

int graph_read(struct tenon_slice json, const char *name, struct graph *out)
{
	struct json_text t;
	int err;

	*out = (struct graph){ 0 };
	err = json_text_read_of_model(json, name, &t);
	if (!err)
		err = graph_read_tokens(&t, out);
	json_text_fini(&t);
	return err;
}

void graph_fini(struct graph *g)
{
	heap_free(g->memory);
	heap_free(g->storages);
	*g = (struct graph){ 0 };
}
