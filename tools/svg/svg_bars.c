/* SPDX-License-Identifier: MIT */
/* A line for each thing: its name, then a bar for each series with its amount behind it. */
#include "tools/svg/svg.h"

#include <stdio.h>
#include <tenon/backend/buffer.h>

#define MARGIN	  12.0
#define NAME_MOST 300.0
#define BARS	  420.0
#define LABELS	  130.0

struct chart {
	struct tenon_buffer *b;
	double names; /* width of the names */
	double most;  /* the largest amount */
	double thick; /* height of a bar */
	int series;
};

static double line_height(const struct chart *c)
{
	return c->thick * c->series + 8;
}

static void draw_bars(const struct chart *c, const struct svg_bar *bar, double y)
{
	const double x = MARGIN + c->names;
	double length;
	char class[24];
	int s;

	for (s = 0; s < c->series; s++, y += c->thick) {
		if (bar->values[s] < 0)
			continue;
		length = c->most > 0 ? BARS * bar->values[s] / c->most : 0;
		snprintf(class, sizeof(class), "s%d fill", s);
		tenon_buffer_printf(c->b,
				    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
				    "class=\"%s\"/>\n",
				    x, y + 1, length < 1 ? 1 : length, c->thick - 2, class);
		svg_text(c->b, x + length + 6, y + c->thick / 2 + 4, "soft",
			 tenon_slice_of(bar->labels[s]), LABELS);
	}
}

static void measure_names(struct chart *c, const struct svg_bar *bars, size_t count)
{
	double width;
	size_t i;
	int s;

	for (i = 0; i < count; i++) {
		width = SVG_CHARACTER * (double)svg_columns(bars[i].name) + 12;
		c->names = width > c->names ? width : c->names;
		for (s = 0; s < c->series; s++)
			c->most = bars[i].values[s] > c->most ? bars[i].values[s] : c->most;
	}
	c->names = c->names > NAME_MOST ? NAME_MOST : c->names;
}

int svg_bars(struct tenon_buffer *b, struct tenon_slice title, const struct svg_bar *bars,
	     size_t count, int series, bool alone)
{
	struct chart c = { .b = b, .series = series, .thick = series > 1 ? 13 : 17 };
	const double head = alone ? MARGIN + SVG_LINE + 8 : MARGIN;
	double y;
	size_t i;

	measure_names(&c, bars, count);
	svg_begin(b, 2 * MARGIN + c.names + BARS + LABELS,
		  head + MARGIN + (double)count * line_height(&c), title, alone);
	if (alone)
		svg_text(b, MARGIN, MARGIN + 12, "strong", title, c.names + BARS + LABELS);
	for (i = 0, y = head; i < count; i++, y += line_height(&c)) {
		svg_text(b, MARGIN, y + c.thick * c.series / 2 + 4, "name", bars[i].name,
			 c.names - 8);
		draw_bars(&c, &bars[i], y);
	}
	return svg_end(b);
}
