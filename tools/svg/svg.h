/* SPDX-License-Identifier: MIT */
/* Pictures as SVG: the document, its styles, and escaped text. */
#ifndef TOOLS_SVG_SVG_H
#define TOOLS_SVG_SVG_H

/*
 * A picture is text in a buffer, which keeps the first failure: check svg_end() alone. Pictures have
 * no script and refer to nothing outside, are valid XML, and have colours for light and dark
 * backgrounds. Coordinates are pixels from the top left corner. Names come from untrusted files:
 * svg_escape() is the only way for them into a picture.
 */

#include <stdbool.h>
#include <tenon/buffer.h>
#include <tenon/string.h>

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

#endif /* TOOLS_SVG_SVG_H */
