/* SPDX-License-Identifier: MIT */
/* Write tags, escape text, and truncate what does not fit. */
#include "tools/svg/svg.h"

#include <string.h>
#include <tenon/backend/buffer.h>

#include "tools/text/text.h"

/* bytes of a tool tip */
#define HINT_MOST 400

/*
 * Colours are written out, not by variables: viewers besides browsers know neither variables nor
 * @media, and show the light picture.
 */
static const char style[] =
	"svg{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	"svg .paper{fill:#fff}svg text{fill:#1f2328}svg .soft{fill:#59636e}svg .bad{fill:#bc2025}\n"
	"svg .strong{font-weight:bold}svg .end{text-anchor:end}svg .middle{text-anchor:middle}\n"
	"svg .box{fill:#f6f8fa;stroke:#8c959f}svg .port{fill:#ddf4ff;stroke:#54aeff}\n"
	"svg .group{fill:#fff8c5;stroke:#bf8700}svg "
	".lost{fill:#fff;stroke:#bc2025;stroke-dasharray:4 3}\n"
	"svg .edge{fill:none;stroke:#8c959f;stroke-width:1.2}svg .arrow{fill:#8c959f}\n"
	"svg .grid{stroke:#d1d9e0}svg .mark{stroke:#bc2025;stroke-dasharray:5 4;fill:none}\n"
	"svg .s0{fill:#0969da;stroke:#0969da}svg .s1{fill:#bc4c00;stroke:#bc4c00}"
	"svg .s2{fill:#1a7f37;stroke:#1a7f37}svg .s3{fill:#8250df;stroke:#8250df}"
	"svg .s4{fill:#6e7781;stroke:#6e7781}\n"
	"svg .fill{stroke:none}svg .curve{fill:none;stroke-width:1.6}svg "
	".area{stroke:none;opacity:.22}\n"
	"@media (prefers-color-scheme:dark){\n"
	"svg .paper{fill:#0d1117}svg text{fill:#f0f6fc}svg .soft{fill:#9198a1}svg "
	".bad{fill:#ff7b72}\n"
	"svg .box{fill:#1c2128;stroke:#6e7681}svg .port{fill:#0c2d4f;stroke:#388bfd}\n"
	"svg .group{fill:#3a2d0c;stroke:#d29922}svg .lost{fill:#0d1117;stroke:#ff7b72}\n"
	"svg .edge{stroke:#6e7681}svg .arrow{fill:#6e7681}svg .grid{stroke:#30363d}svg "
	".mark{stroke:#ff7b72}\n"
	"svg .s0{fill:#4493f8;stroke:#4493f8}svg .s1{fill:#db6d28;stroke:#db6d28}"
	"svg .s2{fill:#3fb950;stroke:#3fb950}svg .s3{fill:#ab7df8;stroke:#ab7df8}"
	"svg .s4{fill:#8b949e;stroke:#8b949e}\n"
	"svg .curve{fill:none}svg .fill,svg .area{stroke:none}}\n";

const char *svg_style(void)
{
	return style;
}

static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* U+FFFE and U+FFFF may be in UTF-8, but not in XML. */
static bool is_noncharacter(const char *s, size_t left)
{
	return left >= 3 && (!memcmp(s, "\xef\xbf\xbe", 3) || !memcmp(s, "\xef\xbf\xbf", 3));
}

void svg_escape(struct tenon_buffer *b, struct tenon_slice text, size_t most)
{
	struct tenon_buffer shown = TENON_BUFFER_INIT;
	const char *entity;
	size_t i;

	printable_append(&shown, text, most);
	for (i = 0; i < shown.size; i++) {
		entity = entity_of(shown.data[i]);
		if (entity) {
			tenon_buffer_append(b, entity, strlen(entity));
		} else if (is_noncharacter(shown.data + i, shown.size - i)) {
			tenon_buffer_u8(b, '?');
			i += 2;
		} else {
			tenon_buffer_u8(b, (uint8_t)shown.data[i]);
		}
	}
	if (shown.status && !b->status)
		b->status = shown.status;
	tenon_buffer_fini(&shown);
}

void svg_begin(struct tenon_buffer *b, double width, double height, struct tenon_slice title,
	       bool alone)
{
	if (alone)
		tenon_buffer_printf(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	tenon_buffer_printf(b,
			    "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" "
			    "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n<title>",
			    width, height, width, height);
	svg_escape(b, title, HINT_MOST);
	tenon_buffer_printf(b, "</title>\n");
	if (alone)
		tenon_buffer_printf(b,
				    "<style>%s</style>\n<rect class=\"paper\" width=\"%.0f\" "
				    "height=\"%.0f\"/>\n",
				    style, width, height);
}

int svg_end(struct tenon_buffer *b)
{
	tenon_buffer_printf(b, "</svg>\n");
	return b->status;
}

/* Bytes of the first character. printable_append() replaces what is no UTF-8, so any length may be assumed. */
static size_t character_bytes(char first)
{
	const unsigned char c = (unsigned char)first;

	return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Most characters of three bytes or more are wide; where they are not, a text gets too much room. */
static size_t prefix_columns(struct tenon_slice text, size_t columns, size_t *bytes)
{
	size_t at = 0, n = 0, wide;

	while (at < text.size) {
		wide = character_bytes(text.data[at]) > 2 ? 2 : 1;
		if (n + wide > columns)
			break;
		n += wide;
		at += character_bytes(text.data[at]);
	}
	*bytes = at < text.size ? at : text.size;
	return n;
}

size_t svg_columns(struct tenon_slice text)
{
	size_t bytes;

	return prefix_columns(text, SIZE_MAX - 2, &bytes);
}

void svg_text(struct tenon_buffer *b, double x, double y, const char *class,
	      struct tenon_slice text, double room)
{
	const size_t columns = room > 0 ? (size_t)(room / SVG_CHARACTER) : 0;
	size_t bytes;
	bool cut;

	prefix_columns(text, columns, &bytes);
	cut = bytes < text.size;
	if (cut)
		prefix_columns(text, columns > 1 ? columns - 1 : 0, &bytes);
	tenon_buffer_printf(b, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	if (cut) {
		tenon_buffer_printf(b, "<title>");
		svg_escape(b, text, HINT_MOST);
		tenon_buffer_printf(b, "</title>");
	}
	svg_escape(b, (struct tenon_slice){ text.data, bytes }, SIZE_MAX);
	tenon_buffer_printf(b, "%s</text>\n", cut ? "…" : "");
}

void svg_box(struct tenon_buffer *b, double x, double y, double width, double height,
	     const char *class)
{
	tenon_buffer_printf(b,
			    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\" "
			    "class=\"%s\"/>\n",
			    x, y, width, height, class);
}

void svg_line(struct tenon_buffer *b, double x1, double y1, double x2, double y2, const char *class)
{
	tenon_buffer_printf(
		b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1,
		x2, y2, class);
}

double svg_step(double most, int ticks, bool binary)
{
	static const double factors[] = { 1, 2, 5 };
	double unit = binary ? 1 : 1e-3;
	int i;

	if (binary) {
		while (most / unit > ticks && unit < 1e18)
			unit *= 2;
		return unit;
	}
	for (;; unit *= 10)
		for (i = 0; i < 3; i++)
			if (most / (unit * factors[i]) <= ticks || unit > 1e18)
				return unit * factors[i];
}
