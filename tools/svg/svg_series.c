/* SPDX-License-Identifier: MIT */
/* Scale values to an area, draw its axes and a curve for each series. */
#include "tools/svg/svg.h"

#include <stdio.h>
#include <tenon/backend/buffer.h>

#define LEFT   90.0
#define TOP    16.0
#define HEAD   24.0
#define WIDTH  760.0
#define HEIGHT 200.0
#define RIGHT  20.0
#define BOTTOM 46.0
#define TICKS  5

struct plot {
	struct tenon_buffer *b;
	const struct svg_series_chart *chart;
	double top;
	double most;	/* value at the upper end */
	size_t longest; /* values of the longest series */
};

static double x_of(const struct plot *p, double index)
{
	const double last = p->chart->steps  ? (double)p->longest
			    : p->longest > 1 ? (double)p->longest - 1
					     : 1;

	return LEFT + WIDTH * index / last;
}

static double y_of(const struct plot *p, double value)
{
	return p->top + HEIGHT * (1 - (value < p->most ? value / p->most : 1));
}

static double find_scale(struct plot *p)
{
	uint64_t most = p->chart->mark;
	size_t i;
	int s;

	for (s = 0; s < p->chart->series_count; s++) {
		const struct svg_series *v = &p->chart->series[s];

		p->longest = v->count > p->longest ? v->count : p->longest;
		for (i = 0; i < v->count; i++)
			most = v->values[i] > most ? v->values[i] : most;
	}
	if (p->chart->limit && most > p->chart->limit)
		most = p->chart->limit;
	return most ? (double)most * 1.04 : 1;
}

static void draw_axes(const struct plot *p)
{
	const double step = svg_step(p->most, TICKS, p->chart->binary);
	const double along = svg_step((double)p->longest, 8, false);
	char text[SVG_LABEL_ROOM];
	double v;

	for (v = 0; v <= p->most; v += step) {
		svg_line(p->b, LEFT, y_of(p, v), LEFT + WIDTH, y_of(p, v), "grid");
		svg_text(p->b, LEFT - 8, y_of(p, v) + 4, "soft end",
			 tenon_slice_of(p->chart->label((uint64_t)v, text)), LEFT);
	}
	for (v = 0; v < (double)p->longest; v += along < 1 ? 1 : along) {
		snprintf(text, sizeof(text), "%.0f", v);
		svg_line(p->b, x_of(p, v), p->top + HEIGHT, x_of(p, v), p->top + HEIGHT + 4,
			 "grid");
		svg_text(p->b, x_of(p, v), p->top + HEIGHT + 18, "soft middle",
			 tenon_slice_of(text), 100);
	}
	svg_text(p->b, LEFT + WIDTH / 2, p->top + HEIGHT + 38, "soft middle",
		 tenon_slice_of(p->chart->along), WIDTH);
}

/* Append the points of a curve, of which each is the largest of @every values. */
static void add_points(const struct plot *p, const struct svg_series *v)
{
	const size_t every = (v->count - 1) / SVG_SERIES_POINTS_MOST + 1;
	size_t i, k;
	uint64_t most;

	for (i = 0; i < v->count; i += every) {
		for (most = 0, k = i; k < i + every && k < v->count; k++)
			most = v->values[k] > most ? v->values[k] : most;
		tenon_buffer_printf(p->b, "%s%.1f %.1f", i ? "L" : "M", x_of(p, (double)i),
				    y_of(p, (double)most));
		if (p->chart->steps)
			tenon_buffer_printf(
				p->b, "H%.1f",
				x_of(p, (double)(i + every < v->count ? i + every : v->count)));
	}
}

static void draw_series(const struct plot *p, int s)
{
	const struct svg_series *v = &p->chart->series[s];

	if (p->chart->steps) {
		tenon_buffer_printf(p->b, "<path class=\"s%d area\" d=\"", s);
		add_points(p, v);
		tenon_buffer_printf(p->b, "V%.1fH%.1fz\"/>\n", y_of(p, 0), x_of(p, 0));
	}
	tenon_buffer_printf(p->b, "<path class=\"s%d curve\" d=\"", s);
	add_points(p, v);
	/* a single value is a curve, too */
	tenon_buffer_printf(p->b, "%s\"/>\n", v->count == 1 && !p->chart->steps ? "h4" : "");
}

static void draw_mark(const struct plot *p)
{
	const double y = y_of(p, (double)p->chart->mark);
	char value[SVG_LABEL_ROOM], text[96];

	if (!p->chart->mark)
		return;
	snprintf(text, sizeof(text), "%s %s", p->chart->mark_name,
		 p->chart->label(p->chart->mark, value));
	svg_line(p->b, LEFT, y, LEFT + WIDTH, y, "mark");
	svg_text(p->b, LEFT + WIDTH - 4, y - 5, "bad end", tenon_slice_of(text), WIDTH);
}

int svg_series(struct tenon_buffer *b, const struct svg_series_chart *chart, bool alone)
{
	struct plot p = { .b = b, .chart = chart, .top = TOP + (alone ? HEAD : 0) };
	int s;

	p.most = find_scale(&p);
	svg_begin(b, LEFT + WIDTH + RIGHT, p.top + HEIGHT + BOTTOM, chart->title, alone);
	if (alone)
		svg_text(b, 12, 22, "strong", chart->title, LEFT + WIDTH);
	draw_axes(&p);
	for (s = 0; s < chart->series_count; s++)
		draw_series(&p, s);
	draw_mark(&p);
	return svg_end(b);
}
