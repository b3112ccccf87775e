/* SPDX-License-Identifier: MIT */
/* Place the items of a tree on lines, and join each to its parent. */
#include "tools/svg/svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

/* more items than a reader follows */
#define ITEMS_MOST 400

/* levels that are indented further */
#define LEVELS_MOST 24

#define INDENT 30.0
#define HEIGHT 42.0
#define GAP    10.0
#define MARGIN 12.0
#define WIDEST 900.0

static double left_of(unsigned int level)
{
	return MARGIN + INDENT * (level < LEVELS_MOST ? level : LEVELS_MOST);
}

static double top_of(size_t index)
{
	return MARGIN + (HEIGHT + GAP) * (double)index;
}

static double width_of(const struct svg_tree_item *item)
{
	const size_t title = svg_columns(item->title), text = svg_columns(item->text);
	const double width = 20 + SVG_CHARACTER * (double)(title > text ? title : text);

	return width > WIDEST ? WIDEST : width;
}

static void draw_item(struct tenon_buffer *b, const struct svg_tree_item *items, size_t index,
		      const unsigned int *level)
{
	const struct svg_tree_item *item = &items[index];
	const double x = left_of(level[index]), y = top_of(index), width = width_of(item);
	const double stem =
		item->parent == SIZE_MAX ? 0 : left_of(level[item->parent]) + INDENT / 2;

	if (item->parent != SIZE_MAX)
		tenon_buffer_printf(b, "<path class=\"edge\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", stem,
				    top_of(item->parent) + HEIGHT, y + HEIGHT / 2, x);
	svg_box(b, x, y, width, HEIGHT, item->lost ? "lost" : "box");
	svg_text(b, x + 10, y + (item->text.size ? 17 : 25), "strong", item->title, width - 18);
	if (item->text.size)
		svg_text(b, x + 10, y + 34, "soft", item->text, width - 18);
}

int svg_tree(struct tenon_buffer *b, struct tenon_slice title, const struct svg_tree_item *items,
	     size_t count, bool alone)
{
	const size_t drawn = count < ITEMS_MOST ? count : ITEMS_MOST;
	unsigned int *level = calloc(drawn + 1, sizeof(*level));
	double right = 200, edge;
	char rest[64];
	size_t i;

	if (!level)
		return tenon_error(-TENON_E_NOMEM, "no memory for a picture of %zu items", count);
	for (i = 0; i < drawn; i++) {
		level[i] = items[i].parent == SIZE_MAX ? 0 : level[items[i].parent] + 1;
		edge = left_of(level[i]) + width_of(&items[i]);
		right = edge > right ? edge : right;
	}
	svg_begin(b, right + MARGIN, top_of(drawn) + (drawn < count ? SVG_LINE : 0), title, alone);
	for (i = 0; i < drawn; i++)
		draw_item(b, items, i, level);
	snprintf(rest, sizeof(rest), "and %zu more", count - drawn);
	if (drawn < count)
		svg_text(b, MARGIN, top_of(drawn) + 8, "soft", tenon_slice_of(rest), 400);
	free(level);
	return svg_end(b);
}
