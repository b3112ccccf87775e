/* SPDX-License-Identifier: MIT */
/* Assign layers, order each by the mean of its neighbours, then move nodes towards these. */
#include "tools/svg/svg_graph.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

/* nodes beside each other, so that a graph of many independent nodes is not wider than a screen */
#define BESIDE_MOST 8

/* layers that an edge may pass and still be followed by eye */
#define PASSED_MOST 10

#define ORDER_SWEEPS 8
#define PLACE_SWEEPS 12
#define GAP	     22.0
#define BEND_WIDTH   8.0

/* edges hold on to their line more than nodes to their place */
#define BEND_WEIGHT 4.0

/**
 * struct work - while places are looked for
 * @segments: parts of routes, each from one layer to the next, by layer
 * @segment_first: of each layer; the last is the number of segments
 * @row: places by layer and position
 * @row_first: of each layer, as @segment_first
 * @wish: where each place would be, alone
 * @sum: sums and counts of neighbours
 * @near: their numbers
 * @block: values of merged neighbours while a layer is placed
 * @weight: their weights
 * @size: their numbers of places
 */
struct work {
	const struct svg_edge *edges;
	size_t edge_count;
	uint32_t nodes;
	struct svg_layers *out;
	struct svg_edge *segments;
	uint32_t *segment_first;
	uint32_t *row;
	uint32_t *row_first;
	double *wish;
	double *sum;
	uint32_t *near;
	double *block;
	double *weight;
	uint32_t *size;
};

/* ---- layers */

/* A node goes below those that it is reached from, and to the next layer that has room. */
static int assign_layers(struct work *w)
{
	struct svg_place *p = w->out->places;
	uint32_t *used = calloc((size_t)w->nodes * 2 + 2, sizeof(*used));
	uint32_t *least = calloc((size_t)w->nodes + 1, sizeof(*least));
	size_t e = 0;
	uint32_t i;

	if (!used || !least) {
		free(used);
		free(least);
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph of %u nodes", w->nodes);
	}
	/* edges are sorted by @from, which comes before @to */
	for (i = 0; i < w->nodes; i++) {
		p[i].layer = least[i];
		while (used[p[i].layer] == BESIDE_MOST)
			p[i].layer++;
		used[p[i].layer]++;
		for (; e < w->edge_count && w->edges[e].from == i; e++)
			if (least[w->edges[e].to] <= p[i].layer)
				least[w->edges[e].to] = p[i].layer + 1;
		if (p[i].layer >= w->out->layers)
			w->out->layers = p[i].layer + 1;
	}
	free(used);
	free(least);
	return 0;
}

/* Move a node that nothing leads to down to what it leads to: an input to its operator. */
static void lower_sources(struct work *w)
{
	struct svg_place *p = w->out->places;
	uint32_t i, least;
	size_t e;

	for (e = 0; e < w->edge_count; e++)
		w->near[w->edges[e].to]++;
	for (i = 0, e = 0; i < w->nodes; i++) {
		least = UINT32_MAX;
		for (; e < w->edge_count && w->edges[e].from == i; e++)
			if (p[w->edges[e].to].layer < least)
				least = p[w->edges[e].to].layer;
		if (!w->near[i] && least != UINT32_MAX)
			p[i].layer = least - 1;
	}
}

/* ---- routes */

static uint32_t passed(const struct work *w, const struct svg_edge *e)
{
	return w->out->places[e->to].layer - w->out->places[e->from].layer - 1;
}

static void make_routes(struct work *w)
{
	struct svg_layers *l = w->out;
	uint32_t i, next = w->nodes;
	size_t e;

	for (e = 0; e < w->edge_count; e++) {
		struct svg_route *r = &l->routes[e];

		r->cut = passed(w, &w->edges[e]) > PASSED_MOST;
		if (r->cut)
			continue;
		r->bend = next;
		r->bends = passed(w, &w->edges[e]);
		for (i = 0; i < r->bends; i++, next++)
			l->places[next] =
				(struct svg_place){ .width = BEND_WIDTH,
						    .layer = l->places[w->edges[e].from].layer + 1 +
							     i };
	}
}

static uint32_t stop(const struct work *w, size_t e, uint32_t i)
{
	const struct svg_route *r = &w->out->routes[e];

	return !i ? w->edges[e].from : i <= r->bends ? r->bend + i - 1 : w->edges[e].to;
}

/* Sort the parts of all routes by the layer that they begin in. */
static void make_segments(struct work *w)
{
	const struct svg_place *p = w->out->places;
	uint32_t i, layer;
	size_t e;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		for (e = 0; e < w->edge_count; e++) {
			for (i = 0; !w->out->routes[e].cut && i <= w->out->routes[e].bends; i++) {
				layer = p[stop(w, e, i)].layer;
				if (!pass)
					w->segment_first[layer + 2]++;
				else
					w->segments[w->segment_first[layer + 1]++] =
						(struct svg_edge){ stop(w, e, i),
								   stop(w, e, i + 1) };
			}
		}
		for (i = 2; !pass && i < w->out->layers + 2; i++)
			w->segment_first[i] += w->segment_first[i - 1];
	}
}

static void make_rows(struct work *w)
{
	struct svg_place *p = w->out->places;
	uint32_t i, layer;

	for (i = 0; i < w->out->count; i++)
		w->row_first[p[i].layer + 2]++;
	for (i = 2; i < w->out->layers + 2; i++)
		w->row_first[i] += w->row_first[i - 1];
	for (i = 0; i < w->out->count; i++) {
		layer = p[i].layer;
		p[i].position = w->row_first[layer + 1] - w->row_first[layer];
		w->row[w->row_first[layer + 1]++] = i;
	}
}

/* ---- order and places */

/* Let each place of a layer wish to be at the mean of its neighbours above, or below. */
static void find_wishes(struct work *w, uint32_t layer, bool above, bool by_position)
{
	const struct svg_place *p = w->out->places;
	const uint32_t of = above ? layer - 1 : layer;
	uint32_t i;

	for (i = w->row_first[layer]; i < w->row_first[layer + 1]; i++) {
		w->sum[w->row[i]] = 0;
		w->near[w->row[i]] = 0;
	}
	for (i = w->segment_first[of]; i < w->segment_first[of + 1]; i++) {
		const uint32_t mine = above ? w->segments[i].to : w->segments[i].from;
		const uint32_t other = above ? w->segments[i].from : w->segments[i].to;

		w->sum[mine] += by_position ? p[other].position : p[other].x;
		w->near[mine]++;
	}
	for (i = w->row_first[layer]; i < w->row_first[layer + 1]; i++) {
		const uint32_t at = w->row[i];

		w->wish[at] = w->near[at]   ? w->sum[at] / w->near[at]
			      : by_position ? p[at].position
					    : p[at].x;
	}
}

static void sort_row(struct work *w, uint32_t layer)
{
	struct svg_place *p = w->out->places;
	uint32_t i, k, at;

	/* by insertion: rows are short or nearly sorted, and equal ones must keep their order */
	for (i = w->row_first[layer] + 1; i < w->row_first[layer + 1]; i++) {
		at = w->row[i];
		for (k = i; k > w->row_first[layer] && w->wish[w->row[k - 1]] > w->wish[at]; k--)
			w->row[k] = w->row[k - 1];
		w->row[k] = at;
	}
	for (i = w->row_first[layer]; i < w->row_first[layer + 1]; i++)
		p[w->row[i]].position = i - w->row_first[layer];
}

/*
 * Place a row as near to its wishes as order and widths allow, by least squares: neighbours that
 * would overlap are merged to a block, whose place is the mean of theirs.
 */
static void place_row(struct work *w, uint32_t layer)
{
	struct svg_place *p = w->out->places;
	const uint32_t first = w->row_first[layer], end = w->row_first[layer + 1];
	uint32_t i, k, blocks = 0;
	double offset = 0, weight;

	for (i = first; i < end; i++) {
		const uint32_t at = w->row[i];

		if (i > first)
			offset += (p[w->row[i - 1]].width + p[at].width) / 2 + GAP;
		p[at].x = offset;
		w->block[blocks] = w->wish[at] - offset;
		w->weight[blocks] = at < w->nodes ? 1 : BEND_WEIGHT;
		w->size[blocks++] = 1;
		for (; blocks > 1 && w->block[blocks - 2] > w->block[blocks - 1]; blocks--) {
			weight = w->weight[blocks - 2] + w->weight[blocks - 1];
			w->block[blocks - 2] = (w->block[blocks - 2] * w->weight[blocks - 2] +
						w->block[blocks - 1] * w->weight[blocks - 1]) /
					       weight;
			w->weight[blocks - 2] = weight;
			w->size[blocks - 2] += w->size[blocks - 1];
		}
	}
	for (i = first, k = 0; k < blocks; k++)
		for (; w->size[k]; w->size[k]--)
			p[w->row[i++]].x += w->block[k];
}

static void sweep(struct work *w, bool down, bool order)
{
	uint32_t i, layer;

	for (i = 1; i < w->out->layers; i++) {
		layer = down ? i : w->out->layers - 1 - i;
		find_wishes(w, layer, down, order);
		if (order)
			sort_row(w, layer);
		else
			place_row(w, layer);
	}
}

static void find_places(struct work *w)
{
	struct svg_layers *l = w->out;
	double left = 0, right = 0;
	uint32_t i;

	for (i = 0; i < ORDER_SWEEPS; i++)
		sweep(w, !(i & 1), true);
	for (i = 0; i < l->layers; i++) {
		memset(w->wish, 0, l->count * sizeof(*w->wish));
		place_row(w, i);
	}
	for (i = 0; i < PLACE_SWEEPS; i++)
		sweep(w, !(i & 1), false);
	for (i = 0; i < l->count; i++) {
		const struct svg_place *p = &l->places[i];

		left = !i || p->x - p->width / 2 < left ? p->x - p->width / 2 : left;
		right = !i || p->x + p->width / 2 > right ? p->x + p->width / 2 : right;
	}
	for (i = 0; i < l->count; i++)
		l->places[i].x -= left;
	l->width = right - left;
}

/* ---- memory */

static bool allocate(struct work *w)
{
	const size_t places = (size_t)w->out->count + 1, layers = (size_t)w->out->layers + 3;

	w->segments = malloc((w->edge_count + places) * sizeof(*w->segments));
	w->segment_first = calloc(layers, sizeof(*w->segment_first));
	w->row = malloc(places * sizeof(*w->row));
	w->row_first = calloc(layers, sizeof(*w->row_first));
	w->wish = malloc(places * sizeof(*w->wish));
	w->sum = malloc(places * sizeof(*w->sum));
	w->block = malloc(places * sizeof(*w->block));
	w->weight = malloc(places * sizeof(*w->weight));
	w->size = malloc(places * sizeof(*w->size));
	return w->segments && w->segment_first && w->row && w->row_first && w->wish && w->sum &&
	       w->block && w->weight && w->size;
}

static void release(struct work *w)
{
	free(w->segments);
	free(w->segment_first);
	free(w->row);
	free(w->row_first);
	free(w->wish);
	free(w->sum);
	free(w->near);
	free(w->block);
	free(w->weight);
	free(w->size);
}

static int no_memory(const struct work *w)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for a picture of %u nodes", w->nodes);
}

int svg_layers_make(const double *widths, uint32_t count, const struct svg_edge *edges,
		    size_t edge_count, struct svg_layers *out)
{
	struct work w = { .edges = edges, .edge_count = edge_count, .nodes = count, .out = out };
	const size_t most = count + edge_count * PASSED_MOST + 1;
	uint32_t i;
	size_t e;
	int err;

	memset(out, 0, sizeof(*out));
	out->places = calloc(most, sizeof(*out->places));
	out->routes = calloc(edge_count + 1, sizeof(*out->routes));
	w.near = calloc(most, sizeof(*w.near));
	err = out->places && out->routes && w.near ? assign_layers(&w) : no_memory(&w);
	if (!err) {
		lower_sources(&w);
		make_routes(&w);
		out->count = count;
		for (e = 0; e < edge_count; e++)
			out->count += out->routes[e].bends;
		for (i = 0; i < count; i++)
			out->places[i].width = widths[i];
		err = allocate(&w) ? 0 : no_memory(&w);
	}
	if (!err) {
		make_segments(&w);
		make_rows(&w);
		find_places(&w);
	}
	release(&w);
	return err;
}

void svg_layers_fini(struct svg_layers *l)
{
	free(l->places);
	free(l->routes);
}
