/* SPDX-License-Identifier: MIT */
/* A tree as a picture: a box for each item, below and right of its parent. */
#ifndef TOOLS_SVG_SVG_TREE_H
#define TOOLS_SVG_SVG_TREE_H

#include "tools/svg/svg.h"

/**
 * struct svg_tree_item - an item of a tree
 * @parent: index of its parent, which comes before it; SIZE_MAX for a root
 * @title: first line
 * @text: second line; empty for none
 * @lost: drawn as an item that something is missing for
 */
struct svg_tree_item {
	size_t parent;
	struct tenon_slice title;
	struct tenon_slice text;
	bool lost;
};

/**
 * svg_tree - append a picture of a tree
 * @b: buffer
 * @title: what it is, untrusted as all texts
 * @items: a parent before its children, children of one parent in order. Only the first 400 are drawn.
 * @count: how many
 * @alone: as for svg_begin()
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int svg_tree(struct tenon_buffer *b, struct tenon_slice title, const struct svg_tree_item *items,
	     size_t count, bool alone);

#endif /* TOOLS_SVG_SVG_TREE_H */
