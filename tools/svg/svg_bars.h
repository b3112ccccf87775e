/* SPDX-License-Identifier: MIT */
/* Horizontal bars: amounts of named things, of one or several series. */
#ifndef TOOLS_SVG_SVG_BARS_H
#define TOOLS_SVG_SVG_BARS_H

#include "tools/svg/svg.h"

/**
 * struct svg_bar - bars of one thing
 * @name: the thing, untrusted
 * @values: amount in each series; negative for none
 * @labels: the amounts as text
 */
struct svg_bar {
	struct tenon_slice name;
	double values[SVG_SERIES_MOST];
	const char *labels[SVG_SERIES_MOST];
};

/**
 * svg_bars - append a chart of bars
 * @b: buffer
 * @title: what it shows, untrusted
 * @bars: @count things, in the order of the chart
 * @count: how many
 * @series: number of series, 1 to SVG_SERIES_MOST
 * @alone: as for svg_begin()
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int svg_bars(struct tenon_buffer *b, struct tenon_slice title, const struct svg_bar *bars,
	     size_t count, int series, bool alone);

#endif /* TOOLS_SVG_SVG_BARS_H */
