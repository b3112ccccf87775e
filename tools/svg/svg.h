/* SPDX-License-Identifier: MIT */
/* Pictures as SVG: the document, its styles, and escaped text. */
#ifndef TOOLS_SVG_SVG_H
#define TOOLS_SVG_SVG_H

#include <stdbool.h>
#include <tenon/buffer.h>
#include <tenon/string.h>

/*
 * A picture is text in a buffer, which keeps the first failure: check svg_end() alone. Pictures have
 * no script and refer to nothing outside, are valid XML, and have colours for light and dark
 * backgrounds. Coordinates are pixels from the top left corner. Names come from untrusted files:
 * svg_escape() is the only way for them into a picture.
 */

/* width of a character of labels, and the height of a line */
#define SVG_CHARACTER 7.25
#define SVG_LINE      17.0

/* runs or devices that a chart has a colour for: classes "s0" to "s4" */
#define SVG_SERIES_MOST 5

/** svg_style - rules for the classes of all pictures, as a sheet of CSS without characters to escape */
const char *svg_style(void);

/**
 * svg_begin - begin a picture
 * @b: buffer that it is appended to
 * @width: of the picture
 * @height: of the picture
 * @title: what it shows, for readers of screens; untrusted
 * @alone: the picture is a file; otherwise a part of a page that has the sheet of svg_style()
 */
void svg_begin(struct tenon_buffer *b, double width, double height, struct tenon_slice title,
	       bool alone);

/** svg_end - end a picture; 0, or the first failure of its buffer */
int svg_end(struct tenon_buffer *b);

/**
 * svg_escape - append untrusted text, for SVG and HTML, between tags or in an attribute
 * @b: buffer
 * @text: any bytes; those that no document may contain, or that change how others are shown, become "?"
 * @most: truncate after so many bytes, with "…"
 */
void svg_escape(struct tenon_buffer *b, struct tenon_slice text, size_t most);

/**
 * svg_text - append a line of text
 * @b: buffer
 * @x: of its start
 * @y: of its baseline
 * @class: class of svg_style(), which may shift its start
 * @text: untrusted
 * @room: pixels; a text that needs more is truncated, and the whole text is its tool tip
 */
void svg_text(struct tenon_buffer *b, double x, double y, const char *class,
	      struct tenon_slice text, double room);

/** svg_box - append a rectangle with round corners */
void svg_box(struct tenon_buffer *b, double x, double y, double width, double height,
	     const char *class);

/** svg_line - append a straight line */
void svg_line(struct tenon_buffer *b, double x1, double y1, double x2, double y2,
	      const char *class);

/** svg_columns - columns that a text takes, counting wide characters twice */
size_t svg_columns(struct tenon_slice text);

/**
 * svg_step - distance of ticks on an axis
 * @most: the largest value
 * @ticks: at most so many
 * @binary: steps are powers of two, for bytes; otherwise 1, 2 or 5 times a power of ten
 */
double svg_step(double most, int ticks, bool binary);

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

#endif /* TOOLS_SVG_SVG_H */
