/* SPDX-License-Identifier: MIT */
/* Read graph.json and tell which operators each node stands for. */
#include "link/partition/operator_graph.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/number.h"
#include "lib/slice_text.h"

#define NODES_MOST (1 << 13)

/* operators that a name which TVM compiled may have, and their inputs; the longest of a word first */
static const struct fused_word {
	const char *word, *op;
	uint32_t inputs;
} fused_words[] = {
	{ "nn_dense", "nn.dense", 2 },
	{ "nn_relu", "nn.relu", 1 },
	{ "nn_softmax", "nn.softmax", 1 },
	{ "nn_bias_add", "nn.bias_add", 2 },
	{ "add", "add", 2 },
	{ "subtract", "subtract", 2 },
	{ "multiply", "multiply", 2 },
	{ "divide", "divide", 2 },
	{ "maximum", "maximum", 2 },
	{ "minimum", "minimum", 2 },
	{ "tanh", "tanh", 1 },
	{ "sigmoid", "sigmoid", 1 },
	{ "exp", "exp", 1 },
	{ "sqrt", "sqrt", 1 },
	{ NULL, NULL, 0 },
};

/* struct reading - a graph that is read */
struct reading {
	struct op_graph *g;
	struct tenon_params *params;
	uint32_t *first; /* of each node of the file: its first value */
	uint32_t *count; /* and how many it has */
	uint32_t file_nodes;
	uint32_t nodes, arguments, heads, attrs; /* tokens */
	uint32_t shapes, types;			 /* tokens of the next of each list */
	uint32_t shapes_left, types_left;
};

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
}

/* Find an attribute among those of a node or operator, of which @attrs is 0 for none. */
static uint32_t find_attr(const struct json_text *j, uint32_t attrs, const char *key)
{
	return attrs ? json_find(j, attrs, key) : 0;
}

/* ---- values */

static int new_values(struct op_graph *g, uint32_t count)
{
	struct op_value *bigger =
		realloc(g->values, ((size_t)g->value_count + count + 1) * sizeof(*bigger));

	if (!bigger)
		return no_memory();
	g->values = bigger;
	memset(&bigger[g->value_count], 0, count * sizeof(*bigger));
	g->value_count += count;
	return 0;
}

static int take_shape(struct reading *r, uint32_t *at, struct op_value *v)
{
	const uint32_t from = *at;
	const struct json_text *j = &r->g->json;
	uint32_t count, i;
	int err;

	err = json_enter(j, at, JSMN_ARRAY, "a shape", &count);
	if (!err && count > OPERATOR_DIMS_MOST)
		err = json_error(j, from, -TENON_E_VALUE, "%u dimensions, at most %d",
				 (unsigned int)count, OPERATOR_DIMS_MOST);
	v->elements = 1;
	for (i = 0; i < count && !err; i++) {
		err = json_integer(j, at, "an extent", 1, INT32_MAX, &v->shape[i]);
		if (!err && (__builtin_mul_overflow(v->elements, v->shape[i], &v->elements) ||
			     v->elements > INT64_MAX / 8))
			err = json_error(j, from, -TENON_E_OVERFLOW, "a tensor too large");
	}
	v->ndim = (int32_t)count;
	return err;
}

/* "attrs" has ["list_shape", [...]], and ["list_str", [...]] for types. */
static int take_lists(struct reading *r)
{
	const struct json_text *j = &r->g->json;
	uint32_t *const lists[] = { &r->shapes, &r->types };
	uint32_t *const left[] = { &r->shapes_left, &r->types_left };
	static const char *const keys[] = { "shape", "dltype" };
	uint32_t count, i;
	int err = 0;

	for (i = 0; i < 2 && !err; i++) {
		*lists[i] = json_find(j, r->attrs, keys[i]);
		if (!*lists[i])
			return json_error(j, r->attrs, -TENON_E_FORMAT, "no list \"%s\"", keys[i]);
		err = json_enter(j, lists[i], JSMN_ARRAY, "a list", &count);
		if (!err && count != 2)
			err = json_error(j, *lists[i], -TENON_E_FORMAT, "want a type and a list");
		if (!err)
			json_skip(j, lists[i]);
		if (!err)
			err = json_enter(j, lists[i], JSMN_ARRAY, "a list", left[i]);
	}
	return err;
}

/* The outputs of a node become values. */
static int add_outputs(struct reading *r, uint32_t file_node, uint32_t count,
		       struct tenon_slice name)
{
	struct op_graph *g = r->g;
	struct op_value *v;
	uint32_t i;
	int err;

	r->first[file_node] = g->value_count;
	r->count[file_node] = count;
	err = new_values(g, count);
	for (i = 0; i < count && !err; i++) {
		v = &g->values[r->first[file_node] + i];
		v->name = name;
		if (!r->shapes_left-- || !r->types_left--)
			return json_error(&g->json, r->attrs, -TENON_E_FORMAT,
					  "fewer shapes or types than entries");
		err = take_shape(r, &r->shapes, v);
		if (!err)
			err = json_word(&r->g->json, &r->types, "a type", &v->dtype);
	}
	return err;
}

static int take_entry(struct reading *r, uint32_t *at, uint32_t before, uint32_t *out)
{
	const uint32_t from = *at;
	uint32_t node, output;
	int err = json_entry(&r->g->json, at, before, &node, &output);

	if (!err && output >= r->count[node])
		err = json_error(&r->g->json, from, -TENON_E_VALUE,
				 "an output is %u, the node has %u", (unsigned int)output,
				 (unsigned int)r->count[node]);
	*out = err ? 0 : r->first[node] + output;
	return err;
}

static int take_entries(struct reading *r, uint32_t at, uint32_t before, uint32_t **list,
			uint32_t *count)
{
	uint32_t i;
	int err;

	err = json_enter(&r->g->json, &at, JSMN_ARRAY, "entries", count);
	if (err)
		return err;
	*list = calloc((size_t)*count + 1, sizeof(**list));
	if (!*list)
		return no_memory();
	for (i = 0; i < *count && !err; i++)
		err = take_entry(r, &at, before, &(*list)[i]);
	return err;
}

/* ---- operators */

static int add_op(struct op_graph *g, struct tenon_slice name, uint32_t attrs,
		  const uint32_t *inputs, uint32_t count, uint32_t output)
{
	struct op *bigger = realloc(g->ops, ((size_t)g->op_count + 1) * sizeof(*bigger)), *o;
	uint32_t i;

	if (!bigger)
		return no_memory();
	g->ops = bigger;
	o = &bigger[g->op_count];
	*o = (struct op){ name, attrs, calloc((size_t)count + 1, sizeof(*o->inputs)), count,
			  output };
	if (!o->inputs)
		return no_memory();
	g->op_count++;
	for (i = 0; i < count; i++)
		o->inputs[i] = inputs[i];
	return 0;
}

/* Take the next operator from the rest of a compiled name, ignoring a suffix such as "_1". */
static const struct fused_word *next_word(struct tenon_slice *rest)
{
	const struct fused_word *w;
	size_t n;

	for (w = fused_words; w->word; w++) {
		n = strlen(w->word);
		if (rest->size >= n && !memcmp(rest->data, w->word, n) &&
		    (rest->size == n || rest->data[n] == '_')) {
			n += rest->size > n;
			rest->data += n;
			rest->size -= n;
			return w;
		}
	}
	return NULL;
}

static bool only_digits(struct tenon_slice text)
{
	while (text.size && text.data[text.size - 1] >= '0' && text.data[text.size - 1] <= '9')
		text.size--;
	return !text.size;
}

/* Operators behind the first compute element by element, so all results have the node's shape. */
static int add_fused(struct op_graph *g, struct op_node *n, struct tenon_slice rest)
{
	uint32_t inputs[2], used = 0, last = 0, i;
	const struct fused_word *w;
	int err = 0;

	while (rest.size && !only_digits(rest) && !err) {
		w = next_word(&rest);
		if (!w || (n->op_count && !strcmp(w->op, "nn.dense")) ||
		    used + w->inputs - !!n->op_count > n->input_count)
			goto unknown;
		for (i = 0; i < w->inputs; i++)
			inputs[i] = n->op_count && !i ? last : n->inputs[used++];
		last = n->first_output;
		if (rest.size && !only_digits(rest)) {
			last = g->value_count;
			err = new_values(g, 1);
			if (err)
				return err;
			g->values[last] = g->values[n->first_output];
		}
		err = add_op(g, tenon_slice_of(w->op), 0, inputs, w->inputs, last);
		n->op_count += !err;
	}
	if (err || (n->op_count && used == n->input_count))
		return err;
unknown:
	for (; n->op_count; n->op_count--)
		free(g->ops[--g->op_count].inputs);
	return 0;
}

static int add_operators(struct op_graph *g, struct op_node *n)
{
	static const char fused[] = "_fused_";
	struct tenon_slice rest = n->function;
	const char *at = memmem(rest.data, rest.size, fused, strlen(fused));

	n->first_op = g->op_count;
	if (n->output_count != 1)
		return 0;
	if (at) {
		at += strlen(fused);
		rest.size -= (size_t)(at - rest.data);
		rest.data = at;
		return add_fused(g, n, rest);
	}
	if (slice_is(n->function, "__nop"))
		rest = tenon_slice_of("reshape");
	n->op_count = 1;
	return add_op(g, rest, n->attrs, n->inputs, n->input_count, n->first_output);
}

/* ---- nodes */

static int add_input(struct reading *r, uint32_t number, struct tenon_slice name)
{
	struct op_value *v;
	int err = add_outputs(r, number, 1, name);

	if (err)
		return err;
	v = &r->g->values[r->first[number]];
	v->input = true;
	v->param = r->params ? tenon_params_find(r->params, name) : NULL;
	return 0;
}

static int take_node(struct reading *r, uint32_t *at, uint32_t number)
{
	struct op_graph *g = r->g;
	struct op_node *n = &g->nodes[g->node_count];
	const uint32_t from = *at;
	uint32_t op = json_find(&g->json, from, "op"), name = json_find(&g->json, from, "name");
	uint32_t inputs = json_find(&g->json, from, "inputs"), function, outputs;
	struct tenon_slice kind;
	int64_t count = 1;
	int err;

	json_skip(&g->json, at);
	if (!op || !name)
		return json_error(&g->json, from, -TENON_E_FORMAT, "a node without op and name");
	err = json_word(&r->g->json, &op, "op", &kind);
	if (!err)
		err = json_word(&r->g->json, &name, "a name", &n->name);
	if (err)
		return err;
	if (slice_is(kind, "null"))
		return add_input(r, number, n->name);
	n->attrs = json_find(&g->json, from, "attrs");
	if (!n->attrs)
		n->attrs = json_find(&g->json, from, "attr");
	function = find_attr(&g->json, n->attrs, "func_name");
	outputs = find_attr(&g->json, n->attrs, "num_outputs");
	if (!function || !inputs)
		return json_error(&g->json, from, -TENON_E_FORMAT,
				  "a node without func_name and inputs");
	err = json_word(&r->g->json, &function, "a function", &n->function);
	if (!err)
		err = take_entries(r, inputs, number, &n->inputs, &n->input_count);
	if (!err && outputs)
		count = strtoll(json_raw(&g->json, outputs).data, NULL, 10);
	if (!err && (count < 1 || count > NODES_MOST))
		err = json_error(&g->json, outputs, -TENON_E_VALUE, "no number of outputs");
	g->node_count++;
	if (!err)
		err = add_outputs(r, number, (uint32_t)count, n->name);
	n->first_output = r->first[number];
	n->output_count = (uint32_t)count;
	return err;
}

static int take_nodes(struct reading *r)
{
	struct op_graph *g = r->g;
	uint32_t at = r->nodes, i;
	int err;

	err = json_enter(&g->json, &at, JSMN_ARRAY, "nodes", &r->file_nodes);
	if (!err && r->file_nodes > NODES_MOST)
		err = json_error(&g->json, r->nodes, -TENON_E_VALUE, "too many nodes");
	if (err)
		return err;
	g->nodes = calloc((size_t)r->file_nodes + 1, sizeof(*g->nodes));
	r->first = calloc((size_t)r->file_nodes + 1, sizeof(*r->first));
	r->count = calloc((size_t)r->file_nodes + 1, sizeof(*r->count));
	if (!g->nodes || !r->first || !r->count)
		return no_memory();
	for (i = 0; i < r->file_nodes && !err; i++)
		err = take_node(r, &at, i);
	return err;
}

static void count_readers(struct op_graph *g)
{
	uint32_t i, k;

	for (i = 0; i < g->op_count; i++)
		for (k = 0; k < g->ops[i].input_count; k++)
			g->values[g->ops[i].inputs[k]].readers++;
	for (i = 0; i < g->node_count; i++)
		for (k = 0; !g->nodes[i].op_count && k < g->nodes[i].input_count; k++)
			g->values[g->nodes[i].inputs[k]].readers++;
	for (i = 0; i < g->output_count; i++) {
		g->values[g->outputs[i]].readers++;
		g->values[g->outputs[i]].output = true;
	}
}

static int read_all(struct reading *r)
{
	struct op_graph *g = r->g;
	uint32_t i;
	int err;

	err = take_lists(r);
	if (!err)
		err = take_nodes(r);
	if (!err)
		err = take_entries(r, r->heads, r->file_nodes, &g->outputs, &g->output_count);
	for (i = 0; i < g->node_count && !err; i++)
		err = add_operators(g, &g->nodes[i]);
	if (!err)
		count_readers(g);
	return err;
}

int op_graph_read(struct tenon_slice text, const char *name, struct tenon_params *params,
		  struct op_graph *g)
{
	struct reading r = { .g = g, .params = params };
	int err;

	memset(g, 0, sizeof(*g));
	err = json_text_read(text, name, &g->json);
	if (!err) {
		r.nodes = json_find(&g->json, 0, "nodes");
		r.heads = json_find(&g->json, 0, "heads");
		r.attrs = json_find(&g->json, 0, "attrs");
	}
	if (!err && (!r.nodes || !r.heads || !r.attrs))
		err = json_error(&g->json, 0, -TENON_E_FORMAT,
				 "a graph has nodes, heads and attrs; one is missing");
	if (!err)
		err = read_all(&r);
	free(r.first);
	free(r.count);
	return err;
}

void op_graph_fini(struct op_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->op_count; i++)
		free(g->ops[i].inputs);
	for (i = 0; i < g->node_count; i++)
		free(g->nodes[i].inputs);
	free(g->ops);
	free(g->nodes);
	free(g->values);
	free(g->outputs);
	json_text_fini(&g->json);
}

/* ---- attributes */

bool op_is(const struct op *o, const char *name)
{
	return slice_is(o->name, name);
}

struct tenon_slice op_attr(const struct op_graph *g, const struct op *o, const char *key)
{
	const uint32_t at = find_attr(&g->json, o->attrs, key);

	return at && json_is(&g->json, at, JSMN_STRING) ? json_raw(&g->json, at)
							: (struct tenon_slice){ "", 0 };
}

uint32_t op_numbers(const struct op_graph *g, const struct op *o, const char *key,
		    int64_t otherwise, int64_t *out, uint32_t most)
{
	const struct tenon_slice text = op_attr(g, o, key);
	uint32_t count = 0, i;
	size_t at = 0;
	bool minus;

	for (i = 0; i < most; i++)
		out[i] = otherwise;
	while (count < most && at < text.size) {
		if (text.data[at] < '0' || text.data[at] > '9') {
			at++;
			continue;
		}
		minus = at && text.data[at - 1] == '-';
		for (out[count] = 0; at < text.size && text.data[at] >= '0' && text.data[at] <= '9';
		     at++)
			if (out[count] < INT32_MAX)
				out[count] = 10 * out[count] + text.data[at] - '0';
		out[count] = minus ? -out[count] : out[count];
		count++;
	}
	return count;
}

bool op_flag(const struct op_graph *g, const struct op *o, const char *key)
{
	int64_t number;

	op_numbers(g, o, key, 0, &number, 1);
	return number || slice_is(op_attr(g, o, key), "True");
}

double op_real(const struct op_graph *g, const struct op *o, const char *key, double otherwise)
{
	const struct tenon_slice text = op_attr(g, o, key);
	char number[64];

	if (!text.size || text.size >= sizeof(number))
		return otherwise;
	memcpy(number, text.data, text.size);
	number[text.size] = '\0';
	return number_read(number, NULL);
}

int32_t op_axis(const struct op_graph *g, const struct op *o, int64_t otherwise, int32_t ndim)
{
	int64_t axis;

	op_numbers(g, o, "axis", otherwise, &axis, 1);
	axis += axis < 0 ? ndim : 0;
	return axis >= 0 && axis < ndim ? (int32_t)axis : -1;
}
