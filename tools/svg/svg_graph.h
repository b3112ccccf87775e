/* SPDX-License-Identifier: MIT */
/* A directed graph as a picture. */
#ifndef TOOLS_SVG_SVG_GRAPH_H
#define TOOLS_SVG_SVG_GRAPH_H

#include "tools/svg/svg.h"
#include "tools/svg/svg_layers.h"

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
