/* SPDX-License-Identifier: MIT */
/* A directed graph as a picture. */
#ifndef TOOLS_SVG_SVG_GRAPH_H
#define TOOLS_SVG_SVG_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/svg/svg.h"

/** struct svg_edge - an edge; @from is less than @to, so a graph has no cycle */
struct svg_edge {
	uint32_t from;
	uint32_t to;
};

/**
 * struct svg_place - where a node is, or a point that a long edge passes
 * @width: what it needs
 * @x: its middle
 * @layer: 0 for the topmost
 * @position: among those of its layer
 */
struct svg_place {
	double width;
	double x;
	uint32_t layer;
	uint32_t position;
};

/**
 * struct svg_route - how an edge goes
 * @bend: first of the places that it passes
 * @bends: how many: one for each layer between its ends
 * @cut: it passes too many layers, and has no route
 */
struct svg_route {
	uint32_t bend;
	uint32_t bends;
	bool cut;
};

/**
 * struct svg_layers - places of a graph
 * @places: of the nodes, in their order; then those that edges pass
 * @count: how many
 * @routes: of each edge
 * @layers: number of layers
 * @width: of the widest
 */
struct svg_layers {
	struct svg_place *places;
	uint32_t count;
	struct svg_route *routes;
	uint32_t layers;
	double width;
};

/**
 * svg_layers_make - place nodes
 * @widths: of @count nodes, at least one; a node comes behind those that it is reached from
 * @count: how many
 * @edges: @edge_count edges
 * @edge_count: how many
 * @out: released by svg_layers_fini(), also on failure
 *
 * Edges run downwards, few cross, and nodes lie below those that they are reached from. It takes
 * time in proportion to the layers that all edges pass.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int svg_layers_make(const double *widths, uint32_t count, const struct svg_edge *edges,
		    size_t edge_count, struct svg_layers *out);

void svg_layers_fini(struct svg_layers *l);

/** enum svg_node_kind - how a node is drawn */
enum svg_node_kind {
	SVG_NODE_BOX = 0,
	SVG_NODE_PORT = 1,  /* where something enters or leaves */
	SVG_NODE_GROUP = 2, /* stands for several */
};

/**
 * struct svg_node - a node; its texts are untrusted
 * @mark: short name, by which other nodes refer to it
 * @title: first line, behind @mark
 * @text: second line
 * @kind: how it is drawn
 */
struct svg_node {
	struct tenon_slice mark;
	struct tenon_slice title;
	struct tenon_slice text;
	enum svg_node_kind kind;
};

/**
 * svg_graph - append a picture of a graph
 * @b: buffer
 * @title: what it is, untrusted
 * @nodes: @count nodes; at most 1000, so that the picture can be used
 * @count: how many
 * @edges: @edge_count edges, sorted by @from and @to, none twice
 * @edge_count: how many
 * @alone: as for svg_begin()
 *
 * An edge that would pass many nodes is not drawn: both its ends have the name of the other.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int svg_graph(struct tenon_buffer *b, struct tenon_slice title, const struct svg_node *nodes,
	      uint32_t count, const struct svg_edge *edges, size_t edge_count, bool alone);

#endif /* TOOLS_SVG_SVG_GRAPH_H */
