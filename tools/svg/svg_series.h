/* SPDX-License-Identifier: MIT */
/* Values one after another: a curve for each series, with axes. */
#ifndef TOOLS_SVG_SVG_SERIES_H
#define TOOLS_SVG_SVG_SERIES_H

#include "tools/svg/svg.h"

/* points of a series; where there are more values, each is the largest of several */
#define SVG_SERIES_POINTS_MOST 600

/**
 * struct svg_series - values of one series
 * @values: @count values, 0 or more
 * @count: how many, at least one
 */
struct svg_series {
	const uint64_t *values;
	size_t count;
};

/**
 * struct svg_series_chart - what is drawn
 * @title: what it shows, untrusted
 * @along: what the values are of, below the chart: "operator"
 * @series: @series_count series
 * @series_count: how many, 1 to SVG_SERIES_MOST
 * @steps: hold a value until the next one, and fill the area below; otherwise draw a curve
 * @binary: values are bytes, and the axis is divided into powers of two
 * @limit: larger values are drawn at the upper edge; 0 for none
 * @mark: a value to mark by a line; 0 for none
 * @mark_name: its name
 * @label: write a value as text
 */
struct svg_series_chart {
	struct tenon_slice title;
	const char *along;
	const struct svg_series *series;
	int series_count;
	bool steps;
	bool binary;
	uint64_t limit;
	uint64_t mark;
	const char *mark_name;
	const char *(*label)(uint64_t value, char *text);
};

/* bytes that @label may write */
#define SVG_LABEL_ROOM 32

/** svg_series - append a chart; @alone as for svg_begin(). Returns 0; -TENON_E_NOMEM. */
int svg_series(struct tenon_buffer *b, const struct svg_series_chart *chart, bool alone);

#endif /* TOOLS_SVG_SVG_SERIES_H */
