/* SPDX-License-Identifier: MIT */
/* Tell which operators each node of a graph.json stands for. */
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

static int node_error(const struct op_graph *g, const struct graph_node *n, int status,
		      const char *what)
{
	return json_error(&g->json, n->token, status, "node %u (\"%.*s\") has %s",
			  (unsigned int)(n - g->graph.nodes), json_shown(n->name), n->name.data,
			  what);
}

/* An entry of the graph, of which a code generator takes less than the executor. */
static int take_value(struct op_graph *g, const struct graph_entry *e, struct op_value *v)
{
	const struct graph_node *n = &g->graph.nodes[e->node];
	int32_t i;

	if (e->ndim > OPERATOR_DIMS_MOST)
		return node_error(g, n, -TENON_E_VALUE, "a shape of more than 8 dimensions");
	v->name = n->name;
	v->dtype = e->dtype;
	/* graph_read() makes bool what libraries of its age have */
	if (v->dtype.code == TENON_DTYPE_UINT && v->dtype.bits == 1)
		v->dtype = tenon_dtype(TENON_DTYPE_BOOL, 8, v->dtype.lanes);
	v->input = n->kind == GRAPH_INPUT;
	v->ndim = e->ndim;
	v->elements = 1;
	for (i = 0; i < e->ndim; i++) {
		v->shape[i] = e->shape[i];
		if (v->shape[i] < 1 || v->shape[i] > INT32_MAX)
			return node_error(g, n, -TENON_E_VALUE,
					  "an extent of 0, or of 2^31 and more");
		if (__builtin_mul_overflow(v->elements, v->shape[i], &v->elements) ||
		    v->elements > INT64_MAX / 8)
			return node_error(g, n, -TENON_E_OVERFLOW, "a tensor too large");
	}
	return 0;
}

static int take_values(struct op_graph *g, struct tenon_params *params)
{
	uint32_t i;
	int err = new_values(g, g->graph.entry_count);

	for (i = 0; i < g->graph.entry_count && !err; i++) {
		err = take_value(g, &g->graph.entries[i], &g->values[i]);
		if (!err && g->values[i].input && params)
			g->values[i].param = tenon_params_find(params, g->values[i].name);
	}
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

/* Test a name, which is put between the quotes of other texts. */
static bool is_plain(struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < name.size; i++)
		if ((unsigned char)name.data[i] < ' ' || name.data[i] == '"' ||
		    name.data[i] == '\\')
			return false;
	return true;
}

static int take_nodes(struct op_graph *g)
{
	const struct graph_node *n = g->graph.nodes, *end = n + g->graph.node_count;
	struct op_node *o;

	if (g->graph.node_count > NODES_MOST)
		return node_error(g, n + NODES_MOST, -TENON_E_VALUE,
				  "8192 nodes before it, which are the most");
	g->nodes = o = calloc((size_t)g->graph.node_count + 1, sizeof(*o));
	if (!o)
		return no_memory();
	for (; n < end; n++) {
		if (!is_plain(n->name) || !is_plain(n->function))
			return node_error(
				g, n, -TENON_E_FORMAT,
				"a name with a quote, a backslash or a control character");
		if (n->kind == GRAPH_INPUT)
			continue;
		o->name = n->name;
		o->function = n->function;
		o->attrs = json_find(&g->json, n->token, "attrs");
		if (!o->attrs)
			o->attrs = json_find(&g->json, n->token, "attr");
		o->inputs = n->inputs;
		o->input_count = n->input_count;
		o->first_output = n->first_output;
		o->output_count = n->output_count;
		o++;
	}
	g->node_count = (uint32_t)(o - g->nodes);
	return 0;
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

int op_graph_read(struct tenon_slice text, const char *name, struct tenon_params *params,
		  struct op_graph *g)
{
	uint32_t i;
	int err;

	memset(g, 0, sizeof(*g));
	err = json_text_read(text, name, &g->json);
	if (!err)
		err = graph_read_tokens(&g->json, &g->graph);
	if (!err)
		err = take_nodes(g);
	if (!err)
		err = take_values(g, params);
	for (i = 0; i < g->node_count && !err; i++)
		err = add_operators(g, &g->nodes[i]);
	g->outputs = g->graph.heads;
	g->output_count = g->graph.head_count;
	if (!err)
		count_readers(g);
	return err;
}

void op_graph_fini(struct op_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->op_count; i++)
		free(g->ops[i].inputs);
	free(g->ops);
	free(g->nodes);
	free(g->values);
	graph_fini(&g->graph);
	json_text_fini(&g->json);
}

/* ---- attributes */

bool op_is(const struct op *o, const char *name)
{
	return slice_is(o->name, name);
}

const void *op_find(const struct op *o, const void *rows, size_t count, size_t size)
{
	const char *row = rows, *name;

	for (; count; count--, row += size) {
		memcpy(&name, row, sizeof(name));
		if (op_is(o, name))
			return row;
	}
	return NULL;
}

bool op_value_is(const struct op_value *v, const char *dtype)
{
	char name[TENON_DTYPE_NAME];

	return !strcmp(tenon_dtype_name(v->dtype, name), dtype);
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
