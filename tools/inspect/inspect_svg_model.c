/* SPDX-License-Identifier: MIT */
/* The operators of a model as a picture of a graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "tools/inspect/inspect.h"
#include "tools/inspect/inspect_svg.h"
#include "tools/opened_model/model.h"
#include "tools/svg/svg_graph.h"
#include "tools/text/text.h"

/* boxes that a reader can follow, and edges between them */
#define BOXES_MOST  240
#define EDGES_MOST  1500
#define INPUTS_MOST 32

/* different functions that the box of several operators names */
#define FUNCTIONS_MOST 6

#define NAME_MOST 96

#define NO_NODE UINT32_MAX

struct texts {
	struct tenon_buffer mark, title, text;
};

struct tally {
	struct tenon_buffer name;
	size_t count;
};

/**
 * struct picture - a graph that is collected
 * @nodes: inputs, boxes of operators, outputs
 * @texts: of the nodes
 * @count: how many
 * @boxes: first box
 * @edges: collected so far
 * @writer: for each value the node that wrote it last
 * @unread: and whether no node read it since
 * @tally: functions of the open box; those that have no room are counted at the end
 * @first: first operator of the open box
 * @seen: operators that were drawn so far
 */
struct picture {
	struct tenon_model *model;
	struct inspect_drawn *drawn;
	struct svg_node *nodes;
	struct texts *texts;
	uint32_t count, boxes;
	struct svg_edge *edges;
	size_t edge_count, edge_room;
	uint32_t *writer;
	bool *unread;
	size_t values;
	struct tally tally[FUNCTIONS_MOST + 1];
	size_t first, last, seen;
	int status;
};

/* Operators of the Relax machine that only check or allocate are no part of the network. */
static bool is_drawn(const struct tenon_op *op)
{
	static const char builtin[] = "vm.builtin.";

	return op->function.size < sizeof(builtin) - 1 ||
	       memcmp(op->function.data, builtin, sizeof(builtin) - 1) != 0 ||
	       (op->input_count && op->output_count);
}

static struct tenon_slice short_name(const struct tenon_op *op)
{
	return model_short_name(op->function.size ? op->function : op->name);
}

/* ---- edges */

static void add_edge(struct picture *p, uint32_t from, uint32_t to)
{
	const size_t room = p->edge_room ? p->edge_room * 2 : 256;
	struct svg_edge *more;

	if (from == NO_NODE || from == to || p->status)
		return;
	/* inputs of one operator often repeat */
	if (p->edge_count && p->edges[p->edge_count - 1].from == from &&
	    p->edges[p->edge_count - 1].to == to)
		return;
	if (p->edge_count == p->edge_room) {
		more = realloc(p->edges, room * sizeof(*more));
		if (!more) {
			p->status = tenon_error(-TENON_E_NOMEM, "no memory for %zu edges", room);
			return;
		}
		p->edges = more;
		p->edge_room = room;
	}
	p->edges[p->edge_count++] = (struct svg_edge){ from, to };
}

static int by_ends(const void *a, const void *b)
{
	const struct svg_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Sort the edges, and drop those that are there twice, or too many. */
static void tidy_edges(struct picture *p)
{
	size_t i, n = 0;

	if (p->edge_count)
		qsort(p->edges, p->edge_count, sizeof(*p->edges), by_ends);
	for (i = 0; i < p->edge_count; i++)
		if (!n || by_ends(&p->edges[n - 1], &p->edges[i]) != 0)
			p->edges[n++] = p->edges[i];
	p->drawn->edges = n;
	p->edge_count = n < EDGES_MOST ? n : EDGES_MOST;
	p->drawn->edges_drawn = p->edge_count;
}

/* ---- nodes */

static uint32_t add_node(struct picture *p, enum svg_node_kind kind)
{
	p->nodes[p->count].kind = kind;
	return p->count++;
}

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	struct picture *p = context;
	size_t i;

	p->drawn->operators = index + 1;
	if (!is_drawn(op))
		return 0;
	p->drawn->drawn++;
	for (i = 0; i < op->input_count; i++)
		if (op->inputs[i] < p->values)
			p->unread[op->inputs[i]] = true; /* until the second pass: it is read */
	return 0;
}

/* A box for each input that is read; the last for all that have none of their own. */
static void add_inputs(struct picture *p)
{
	struct tenon_model_value v;
	char type[INSPECT_TYPE_ROOM];
	size_t i, more = 0;
	uint32_t node;

	for (i = 0; i < p->values; i++) {
		if (!p->unread[i] || tenon_model_value_at(p->model, i, &v) ||
		    v.role != TENON_ROLE_INPUT)
			continue;
		if (p->count < INPUTS_MOST || !more++)
			add_node(p, SVG_NODE_PORT);
		node = p->count - 1;
		p->writer[i] = node;
		if (more)
			continue;
		printable_append(&p->texts[node].title, v.port.name, NAME_MOST);
		tenon_buffer_printf(&p->texts[node].text, "%s", inspect_type(&v.port, type));
	}
	if (more) {
		p->nodes[p->count - 1].kind = SVG_NODE_GROUP;
		tenon_buffer_printf(&p->texts[p->count - 1].title, "%zu more inputs", more);
	}
	memset(p->unread, 0, p->values * sizeof(*p->unread));
	p->boxes = p->count;
}

static void tally_op(struct picture *p, const struct tenon_op *op)
{
	const struct tenon_slice name = short_name(op);
	size_t i;

	for (i = 0; i < FUNCTIONS_MOST; i++) {
		struct tally *t = &p->tally[i];

		if (!t->count)
			tenon_buffer_slice(&t->name, name);
		else if (!tenon_slice_equal(name,
					    (struct tenon_slice){ t->name.data, t->name.size }))
			continue;
		break;
	}
	p->tally[i].count++;
}

static int larger_first(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* Write the texts of the open box, if it holds several operators. */
static void close_box(struct picture *p)
{
	struct texts *t;
	size_t i, n = 0;

	if (p->drawn->together < 2 || p->count == p->boxes)
		return;
	t = &p->texts[p->count - 1];
	qsort(p->tally, FUNCTIONS_MOST, sizeof(*p->tally), larger_first);
	tenon_buffer_printf(&t->mark, "%zu–%zu", p->first, p->last);
	for (i = 0; i <= FUNCTIONS_MOST; i++) {
		struct tally *of = &p->tally[i];

		if (of->count) {
			tenon_buffer_printf(&t->text, "%s%zu × ", t->text.size ? ", " : "",
					    of->count);
			printable_append(&t->text,
					 i < FUNCTIONS_MOST ? (struct tenon_slice){ of->name.data,
										    of->name.size }
							    : tenon_slice_of("others"),
					 NAME_MOST);
		}
		n += of->count;
		tenon_buffer_fini(&of->name);
		of->count = 0;
	}
	tenon_buffer_printf(&t->title, "%zu operator%s", n, n == 1 ? "" : "s");
}

/* The box of an operator: its own, or the open one. */
static uint32_t box_of(struct picture *p, size_t index, const struct tenon_op *op)
{
	struct tenon_model_value v;
	char type[INSPECT_TYPE_ROOM];
	struct texts *t;
	uint32_t node;

	if (p->seen++ % p->drawn->together == 0) {
		close_box(p);
		add_node(p, p->drawn->together > 1 ? SVG_NODE_GROUP : SVG_NODE_BOX);
		p->first = index;
	}
	p->last = index;
	node = p->count - 1;
	if (p->drawn->together > 1) {
		tally_op(p, op);
		return node;
	}
	t = &p->texts[node];
	tenon_buffer_printf(&t->mark, "%zu", index);
	printable_append(&t->title, short_name(op), NAME_MOST);
	if (op->output_count && !tenon_model_value_at(p->model, op->outputs[0], &v))
		tenon_buffer_printf(&t->text, "%s", inspect_type(&v.port, type));
	return node;
}

static int add_op(void *context, size_t index, const struct tenon_op *op)
{
	struct picture *p = context;
	uint32_t node;
	size_t i;

	if (!is_drawn(op))
		return 0;
	node = box_of(p, index, op);
	for (i = 0; i < op->input_count; i++) {
		if (op->inputs[i] >= p->values)
			continue;
		add_edge(p, p->writer[op->inputs[i]], node);
		p->unread[op->inputs[i]] = false;
	}
	for (i = 0; i < op->output_count; i++) {
		if (op->outputs[i] >= p->values)
			continue;
		p->writer[op->outputs[i]] = node;
		p->unread[op->outputs[i]] = true;
	}
	return p->status;
}

/* A box for each output, if the values that no operator reads are the outputs. */
static void add_outputs(struct picture *p)
{
	const size_t outputs = tenon_model_output_count(p->model);
	char type[INSPECT_TYPE_ROOM];
	struct tenon_port port;
	size_t i, n = 0;
	uint32_t node;

	for (i = 0; i < p->values; i++)
		n += p->unread[i];
	if (n != outputs || n > INPUTS_MOST)
		return;
	for (i = 0, n = 0; i < p->values; i++) {
		if (!p->unread[i] || tenon_model_output(p->model, n++, &port))
			continue;
		node = add_node(p, SVG_NODE_PORT);
		add_edge(p, p->writer[i], node);
		printable_append(&p->texts[node].title, port.name, NAME_MOST);
		tenon_buffer_printf(&p->texts[node].text, "%s", inspect_type(&port, type));
	}
}

static int allocate(struct picture *p)
{
	const size_t nodes = BOXES_MOST + 2 * INPUTS_MOST + 2;
	size_t i;

	p->values = tenon_model_value_count(p->model);
	p->nodes = calloc(nodes, sizeof(*p->nodes));
	p->texts = calloc(nodes, sizeof(*p->texts));
	p->writer = malloc((p->values + 1) * sizeof(*p->writer));
	p->unread = calloc(p->values + 1, sizeof(*p->unread));
	if (!p->nodes || !p->texts || !p->writer || !p->unread)
		return tenon_error(-TENON_E_NOMEM, "no memory for a picture of %zu values",
				   p->values);
	for (i = 0; i < p->values; i++)
		p->writer[i] = NO_NODE;
	return 0;
}

static void release(struct picture *p)
{
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		tenon_buffer_fini(&p->texts[i].mark);
		tenon_buffer_fini(&p->texts[i].title);
		tenon_buffer_fini(&p->texts[i].text);
	}
	for (i = 0; i <= FUNCTIONS_MOST; i++)
		tenon_buffer_fini(&p->tally[i].name);
	free(p->nodes);
	free(p->texts);
	free(p->edges);
	free(p->writer);
	free(p->unread);
}

static void name_nodes(struct picture *p)
{
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const struct texts *t = &p->texts[i];

		p->nodes[i].mark = (struct tenon_slice){ t->mark.data, t->mark.size };
		p->nodes[i].title = (struct tenon_slice){ t->title.data, t->title.size };
		p->nodes[i].text = (struct tenon_slice){ t->text.data, t->text.size };
	}
}

int inspect_svg_model(struct tenon_model *model, const char *title, bool alone,
		      struct inspect_drawn *drawn, struct tenon_buffer *out)
{
	struct picture p = { .model = model, .drawn = drawn };
	int err;

	*drawn = (struct inspect_drawn){ 0 };
	err = allocate(&p);
	if (err)
		goto release;
	/* ahead-of-time code has no list of operators */
	if (tenon_model_each_op(model, count_op, &p))
		tenon_error_clear();
	if (!drawn->drawn)
		goto release;
	drawn->together = (drawn->drawn - 1) / BOXES_MOST + 1;
	add_inputs(&p);
	err = tenon_model_each_op(model, add_op, &p);
	if (err)
		goto release;
	close_box(&p);
	add_outputs(&p);
	err = p.status;
	if (err)
		goto release;
	tidy_edges(&p);
	name_nodes(&p);
	err = svg_graph(out, tenon_slice_of(title), p.nodes, p.count, p.edges, p.edge_count, alone);
release:
	release(&p);
	return err;
}
