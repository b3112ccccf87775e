/* SPDX-License-Identifier: MIT */
/* Pictures of tenon inspect and tenon report. */
#ifndef TOOLS_INSPECT_INSPECT_SVG_H
#define TOOLS_INSPECT_INSPECT_SVG_H

#include <tenon/buffer.h>
#include <tenon/link.h>
#include <tenon/model.h>

/**
 * inspect_svg_tree - append a picture of an import tree
 * @n: what is in the file
 * @file: its name
 * @alone: the picture is a file of its own, see svg_begin()
 * @out: receives it
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int inspect_svg_tree(const struct tenon_link_inspection *n, const char *file, bool alone,
		     struct tenon_buffer *out);

/**
 * struct inspect_drawn - what a picture of a graph shows
 * @operators: operators of the model
 * @drawn: of these, those that the picture has; others only check or allocate
 * @together: how many share a box, because one for each would be too many
 * @edges: edges between the boxes
 * @edges_drawn: of these, those that the picture has
 */
struct inspect_drawn {
	size_t operators;
	size_t drawn;
	size_t together;
	size_t edges;
	size_t edges_drawn;
};

/**
 * inspect_svg_model - append a picture of the operators of a model
 * @model: a described model
 * @title: what the picture is of
 * @alone: as for inspect_svg_tree()
 * @drawn: receives what it shows; all 0, and no picture, for a model without a list of operators
 * @out: receives it
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int inspect_svg_model(struct tenon_model *model, const char *title, bool alone,
		      struct inspect_drawn *drawn, struct tenon_buffer *out);

#endif /* TOOLS_INSPECT_INSPECT_SVG_H */
