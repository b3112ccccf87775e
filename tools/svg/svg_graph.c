/* SPDX-License-Identifier: MIT */
/* Draw boxes and the edges between them, where svg_layers.c places them. */
#include "tools/svg/svg_graph.h"

#include <stdlib.h>
#include <tenon/backend/buffer.h>

#define MARGIN	    14.0
#define LAYER_GAP   30.0
#define WIDTH_MOST  320.0
#define WIDTH_LEAST 90.0

/* names of far nodes that a node lists */
#define FAR_MOST 3

struct graph {
	struct tenon_buffer *b;
	const struct svg_node *nodes;
	uint32_t count;
	const struct svg_edge *edges;
	size_t edge_count;
	struct svg_layers layers;
	double height; /* of a node */
	uint32_t *far; /* for each node how many edges to it and from it are not drawn */
};

static size_t title_columns(const struct svg_node *n)
{
	return svg_columns(n->mark) + (n->mark.size && n->title.size) + svg_columns(n->title);
}

static double width_of(const struct svg_node *n)
{
	const size_t title = title_columns(n), text = svg_columns(n->text);
	const double width = 18 + SVG_CHARACTER * (double)(title > text ? title : text);

	return width > WIDTH_MOST ? WIDTH_MOST : width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

static double top_of(const struct graph *g, uint32_t layer)
{
	return MARGIN + (g->height + LAYER_GAP) * layer;
}

/* ---- edges */

/* An edge leaves and enters vertically, and is straight beside the nodes that it passes. */
static void draw_edge(const struct graph *g, size_t e)
{
	const struct svg_place *p = g->layers.places, *to = &p[g->edges[e].to];
	const struct svg_place *from = &p[g->edges[e].from], *next;
	const struct svg_route *r = &g->layers.routes[e];
	double x = from->x + MARGIN, y = top_of(g, from->layer) + g->height, end;
	uint32_t i;

	tenon_buffer_printf(g->b, "<path class=\"edge\" d=\"M%.1f %.1f", x, y);
	for (i = 0; i <= r->bends; i++) {
		next = i < r->bends ? &p[r->bend + i] : to;
		end = top_of(g, next->layer) - (next == to ? 4 : 0);
		tenon_buffer_printf(g->b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, y + LAYER_GAP / 2,
				    next->x + MARGIN, end - LAYER_GAP / 2, next->x + MARGIN, end);
		x = next->x + MARGIN;
		y = end + g->height;
		if (next != to)
			tenon_buffer_printf(g->b, "V%.1f", y);
	}
	end = top_of(g, to->layer);
	tenon_buffer_printf(g->b, "\"/>\n<path class=\"arrow\" d=\"M%.1f %.1fl-3.5 -7h7z\"/>\n", x,
			    end);
}

/* Name the ends of the edges of a node that are not drawn: "from 3, 5 to 80". */
static void print_far(const struct graph *g, uint32_t node, bool from, struct tenon_buffer *text)
{
	size_t e, n = 0;

	for (e = 0; e < g->edge_count; e++) {
		const uint32_t mine = from ? g->edges[e].to : g->edges[e].from;
		const uint32_t other = from ? g->edges[e].from : g->edges[e].to;

		if (mine != node || !g->layers.routes[e].cut)
			continue;
		if (n++ == FAR_MOST) {
			tenon_buffer_printf(text, ", …");
			return;
		}
		tenon_buffer_printf(text, "%s",
				    n > 1	 ? ", "
				    : from	 ? "from "
				    : text->size ? " to "
						 : "to ");
		tenon_buffer_slice(text, g->nodes[other].mark.size ? g->nodes[other].mark
								   : g->nodes[other].title);
	}
}

/* ---- nodes */

static void draw_node(const struct graph *g, uint32_t i)
{
	static const char *const classes[] = { "box", "port", "group" };
	const struct svg_node *n = &g->nodes[i];
	const struct svg_place *p = &g->layers.places[i];
	const double x = p->x - p->width / 2 + MARGIN, y = top_of(g, p->layer);
	const double room = p->width - 16;
	struct tenon_buffer line = TENON_BUFFER_INIT;

	svg_box(g->b, x, y, p->width, g->height, classes[n->kind]);
	tenon_buffer_slice(&line, n->mark);
	tenon_buffer_append(&line, " ", n->mark.size && n->title.size ? 1 : 0);
	tenon_buffer_slice(&line, n->title);
	svg_text(g->b, x + 9, y + (n->text.size || g->far[i] ? 17 : 25), "strong",
		 (struct tenon_slice){ line.data, line.size }, room);
	if (n->text.size)
		svg_text(g->b, x + 9, y + 33, "soft", n->text, room);
	tenon_buffer_fini(&line);
	if (!g->far[i])
		return;
	print_far(g, i, true, &line);
	print_far(g, i, false, &line);
	svg_text(g->b, x + 9, y + (n->text.size ? 49 : 33), "soft",
		 (struct tenon_slice){ line.data, line.size }, room);
	tenon_buffer_fini(&line);
}

static void count_far(struct graph *g)
{
	size_t e;

	g->height = 42;
	for (e = 0; e < g->edge_count; e++) {
		if (!g->layers.routes[e].cut)
			continue;
		g->far[g->edges[e].from]++;
		g->far[g->edges[e].to]++;
		g->height = 58;
	}
}

static void draw(struct graph *g, struct tenon_slice title, bool alone)
{
	uint32_t i;
	size_t e;

	svg_begin(g->b, g->layers.width + 2 * MARGIN,
		  top_of(g, g->layers.layers) - LAYER_GAP + MARGIN, title, alone);
	for (e = 0; e < g->edge_count; e++)
		if (!g->layers.routes[e].cut)
			draw_edge(g, e);
	for (i = 0; i < g->count; i++)
		draw_node(g, i);
	svg_end(g->b);
}

int svg_graph(struct tenon_buffer *b, struct tenon_slice title, const struct svg_node *nodes,
	      uint32_t count, const struct svg_edge *edges, size_t edge_count, bool alone)
{
	struct graph g = {
		.b = b, .nodes = nodes, .count = count, .edges = edges, .edge_count = edge_count
	};
	double *widths = malloc(((size_t)count + 1) * sizeof(*widths));
	uint32_t i;
	int err;

	g.far = calloc((size_t)count + 1, sizeof(*g.far));
	if (!widths || !g.far) {
		err = tenon_error(-TENON_E_NOMEM, "no memory for a picture of %u nodes", count);
		goto free_widths;
	}
	for (i = 0; i < count; i++)
		widths[i] = width_of(&nodes[i]);
	err = svg_layers_make(widths, count, edges, edge_count, &g.layers);
	if (!err) {
		count_far(&g);
		draw(&g, title, alone);
		err = b->status;
	}
	svg_layers_fini(&g.layers);
free_widths:
	free(widths);
	free(g.far);
	return err;
}
