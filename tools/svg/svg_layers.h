/* SPDX-License-Identifier: MIT */
/* Places for the nodes of a directed graph, in layers from top to bottom. */
#ifndef TOOLS_SVG_SVG_LAYERS_H
#define TOOLS_SVG_SVG_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif /* TOOLS_SVG_SVG_LAYERS_H */
