/* SPDX-License-Identifier: MIT */
/* Parse the text of a module and check ids, shapes and operands. */
#define _GNU_SOURCE /* memmem() */
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "example_json_graph.h"

#define ID_BASE	  4096
#define NDIM_MOST 16

/* parser state */
struct parser {
	struct example_text *t;
	const char *at; /* position in the current line */
	const char *end;
	unsigned int line;
	uint32_t *places; /* node of each id, plus one; all graphs share the ids */
	size_t place_count;
};

#define FAULT(p, format, ...)                                                                      \
	tenon_error(-TENON_E_FORMAT, "line %u: " format, (p)->line, __VA_ARGS__)

#define ROOM_LEAST 4

/* Make room for one more item: capacity doubles at each power of two. */
static int grow(void *list, size_t count, size_t size)
{
	void **items = list, *more;

	if (count && (count < ROOM_LEAST || count & (count - 1)))
		return 0;
	more = realloc(*items, (count ? 2 * count : ROOM_LEAST) * size);
	if (!more)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	*items = more;
	return 0;
}

static bool is_blank(char c)
{
	/* tab, line feed, vertical tab, form feed, carriage return; lines have no line feed */
	return c == ' ' || (unsigned char)(c - '\t') <= '\r' - '\t';
}

/* Get the next word of the line; empty at the end of the line. */
static struct tenon_slice next_word(struct parser *p)
{
	struct tenon_slice word;

	while (p->at < p->end && is_blank(*p->at))
		p->at++;
	word.data = p->at;
	while (p->at < p->end && !is_blank(*p->at))
		p->at++;
	word.size = (size_t)(p->at - word.data);
	return word;
}

static bool is(struct tenon_slice word, const char *text)
{
	return tenon_slice_equal(word, tenon_slice_of(text));
}

static bool to_number(struct tenon_slice word, uint64_t *out)
{
	size_t i;

	*out = 0;
	for (i = 0; i < word.size && i < 18; i++) {
		if (word.data[i] < '0' || word.data[i] > '9')
			return false;
		*out = *out * 10 + (uint64_t)(word.data[i] - '0');
	}
	return word.size > 0 && word.size <= 18;
}

static int want_number(struct parser *p, const char *what, uint64_t *out)
{
	struct tenon_slice word = next_word(p);

	if (to_number(word, out))
		return 0;
	return FAULT(p, "\"%.*s\" where %s should be", (int)word.size, word.data, what);
}

static int want_word(struct parser *p, const char *text)
{
	struct tenon_slice word = next_word(p);

	if (is(word, text))
		return 0;
	return FAULT(p, "\"%.*s\" where \"%s\" should be", (int)word.size, word.data, text);
}

static struct example_graph *current(struct parser *p)
{
	return &p->t->graphs[p->t->graph_count - 1];
}

/* Find the node with an id in the current graph; SIZE_MAX if there is none. */
static size_t find_node(const struct parser *p, uint64_t id)
{
	const struct example_graph *g = &p->t->graphs[p->t->graph_count - 1];

	if (id >= p->place_count || p->places[id] <= g->first)
		return SIZE_MAX;
	return p->places[id] - 1;
}

static int note_id(struct parser *p, uint64_t id)
{
	size_t count = p->place_count ? p->place_count : 16;
	uint32_t *places;

	/* Limit the id table by the size of the text. */
	if (id >= ID_BASE + p->t->size)
		return FAULT(p, "id %llu is too large", (unsigned long long)id);
	if (find_node(p, id) != SIZE_MAX)
		return FAULT(p, "id %llu is there already", (unsigned long long)id);
	while (count <= id)
		count *= 2;
	if (count != p->place_count) {
		places = realloc(p->places, count * sizeof(*places));
		if (!places)
			return tenon_error(-TENON_E_NOMEM, "no memory for %zu ids", count);
		memset(places + p->place_count, 0, (count - p->place_count) * sizeof(*places));
		p->places = places;
		p->place_count = count;
	}
	p->places[id] = (uint32_t)p->t->node_count + 1;
	return 0;
}

static int parse_shape(struct parser *p, struct example_node *node)
{
	struct example_text *t = p->t;
	struct tenon_slice word;
	uint64_t extent;
	int err;

	node->first_extent = t->extent_count;
	for (word = next_word(p); word.size; word = next_word(p)) {
		if (!to_number(word, &extent))
			return FAULT(p, "\"%.*s\" where an extent should be", (int)word.size,
				     word.data);
		if (++node->ndim > NDIM_MOST)
			return FAULT(p, "more than %d extents", NDIM_MOST);
		err = grow(&t->extents, t->extent_count, sizeof(*t->extents));
		if (err)
			return err;
		t->extents[t->extent_count++] = (int64_t)extent;
	}
	return 0;
}

static bool same_shape(const struct example_text *t, const struct example_node *a,
		       const struct example_node *b)
{
	return a->ndim == b->ndim &&
	       (!a->ndim || !memcmp(t->extents + a->first_extent, t->extents + b->first_extent,
				    a->ndim * sizeof(int64_t)));
}

static int parse_operands(struct parser *p, struct example_node *node)
{
	uint64_t id;
	int i, err;

	err = want_word(p, "inputs:");
	for (i = 0; i < 2 && !err; i++) {
		err = want_number(p, "the id of an input", &id);
		if (err)
			return err;
		node->operand[i] = find_node(p, id);
		if (node->operand[i] == SIZE_MAX)
			return FAULT(p, "there is no node %llu before this one in the graph",
				     (unsigned long long)id);
	}
	return err ? err : want_word(p, "shape:");
}

static int parse_node(struct parser *p, char op)
{
	struct example_text *t = p->t;
	struct example_node node = { .op = op };
	uint64_t id;
	int i, err;

	if (!t->graph_count)
		return FAULT(p, "a node before the first %s", "\"subgraph_\"");
	err = want_number(p, "an id", &id);
	if (!err && op != '=')
		err = parse_operands(p, &node);
	if (!err)
		err = note_id(p, id);
	if (!err)
		err = parse_shape(p, &node);
	if (!err)
		err = grow(&t->nodes, t->node_count, sizeof(*t->nodes));
	if (err)
		return err;
	node.id = (uint32_t)id;
	for (i = 0; i < 2 && op != '='; i++)
		if (!same_shape(t, &node, &t->nodes[node.operand[i]]))
			return FAULT(p, "node %u has another shape than its input %u", node.id,
				     t->nodes[node.operand[i]].id);
	t->nodes[t->node_count++] = node;
	current(p)->count++;
	if (op == '=')
		current(p)->inputs++;
	return 0;
}

static int parse_graph(struct parser *p, struct tenon_slice name)
{
	struct example_text *t = p->t;
	int err;

	err = grow(&t->graphs, t->graph_count, sizeof(*t->graphs));
	if (err)
		return err;
	t->graphs[t->graph_count++] =
		(struct example_graph){ .name = name, .first = t->node_count };
	return 0;
}

static int parse_line(struct parser *p)
{
	static const char part[] = "subgraph_";
	struct tenon_slice word = next_word(p);

	if (!word.size)
		return 0;
	if (is(word, "input"))
		return parse_node(p, '=');
	if (is(word, "add"))
		return parse_node(p, '+');
	if (is(word, "sub"))
		return parse_node(p, '-');
	if (is(word, "mul"))
		return parse_node(p, '*');
	if (memmem(word.data, word.size, part, sizeof(part) - 1))
		return parse_graph(p, word);
	return FAULT(p, "\"%.*s\" is no operation; there are input, add, sub, mul", (int)word.size,
		     word.data);
}

static int by_id(const void *a, const void *b)
{
	const struct example_node *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

/* Arguments are ordered by id, not by line. */
static int number_inputs(struct example_text *t, const struct example_graph *g)
{
	struct example_node **inputs;
	uint32_t n = 0, i, last = 0;
	bool sorted = true;
	size_t k;

	/* most texts list inputs in this order */
	for (k = g->first; k < g->first + g->count; k++) {
		if (t->nodes[k].op != '=')
			continue;
		sorted &= !n || t->nodes[k].id > last;
		last = t->nodes[k].id;
		t->nodes[k].argument = n++;
	}
	if (sorted)
		return 0;
	n = 0;
	inputs = malloc((g->inputs + 1) * sizeof(struct example_node *));
	if (!inputs)
		return tenon_error(-TENON_E_NOMEM, "no memory for %u inputs", g->inputs);
	for (k = g->first; k < g->first + g->count; k++)
		if (t->nodes[k].op == '=')
			inputs[n++] = &t->nodes[k];
	qsort(inputs, n, sizeof(struct example_node *), by_id);
	for (i = 0; i < n; i++)
		inputs[i]->argument = i;
	free(inputs);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct tenon_slice *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return memcmp(x->data, y->data, x->size);
}

static int check_names(const struct example_text *t)
{
	struct tenon_slice *names;
	size_t i;
	int err = 0;

	if (t->graph_count < 2)
		return 0;
	names = malloc(t->graph_count * sizeof(*names));
	if (!names)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu names", t->graph_count);
	for (i = 0; i < t->graph_count; i++)
		names[i] = t->graphs[i].name;
	qsort(names, t->graph_count, sizeof(*names), by_name);
	for (i = 1; i < t->graph_count && !err; i++)
		if (!by_name(&names[i - 1], &names[i]))
			err = tenon_error(-TENON_E_FORMAT, "there are two \"%.*s\"",
					  (int)names[i].size, names[i].data);
	free(names);
	return err;
}

static int parse_lines(struct parser *p)
{
	const char *end = p->t->text + p->t->size, *newline;
	int err = 0;

	for (p->end = p->t->text; p->end <= end && !err; p->end++) {
		p->at = p->end;
		newline = memchr(p->at, '\n', (size_t)(end - p->at));
		p->end = newline ? newline : end;
		p->line++;
		err = parse_line(p);
	}
	return err;
}

int example_text_parse(struct example_text *t, struct tenon_slice text)
{
	struct parser p = { .t = t };
	size_t i;
	int err;

	memset(t, 0, sizeof(*t));
	t->text = malloc(text.size + 1);
	if (!t->text)
		return tenon_error(-TENON_E_NOMEM, "no memory for a text of %zu bytes", text.size);
	if (text.size)
		memcpy(t->text, text.data, text.size);
	t->size = text.size;

	err = parse_lines(&p);
	free(p.places);
	if (!err && !t->graph_count)
		err = FAULT(&p, "the text has no %s", "\"subgraph_\"");
	if (!err)
		err = check_names(t);
	for (i = 0; i < t->graph_count && !err; i++) {
		if (!t->graphs[i].count)
			err = tenon_error(-TENON_E_FORMAT, "\"%.*s\" has no nodes",
					  (int)t->graphs[i].name.size, t->graphs[i].name.data);
		else
			err = number_inputs(t, &t->graphs[i]);
	}
	return err;
}

void example_text_fini(struct example_text *t)
{
	free(t->text);
	free(t->graphs);
	free(t->nodes);
	free(t->extents);
	memset(t, 0, sizeof(*t));
}
