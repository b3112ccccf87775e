/* SPDX-License-Identifier: MIT */
/* Write the tags of a page, and the sheet of its styles. */
#include "tools/report/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "tools/svg/svg.h"

/* bytes of one text */
#define TEXT_MOST 400

static const char style[] =
	":root{color-scheme:light dark}\n"
	"body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;margin:0 "
	"auto;max-width:1100px;padding:1.5em;"
	"background:#fff;color:#1f2328}\n"
	"h1{font-size:1.5em;margin:0 0 .2em;overflow-wrap:anywhere}h2{font-size:1.15em;margin:2em "
	"0 .6em;"
	"padding-top:1em;border-top:1px solid #d1d9e0}\n"
	"nav a{margin-right:1.2em}a{color:#0969da}p{margin:.5em 0}.note,footer{color:#59636e}\n"
	"footer{margin-top:3em;font-size:.9em}\n"
	"table{border-collapse:collapse;font-size:.92em;margin:.6em 0}\n"
	"th,td{text-align:left;padding:.25em .8em .25em 0;border-bottom:1px solid #d1d9e0;"
	"vertical-align:top;overflow-wrap:anywhere}\n"
	"th{font-weight:600;white-space:nowrap}.n{text-align:right;white-space:nowrap;"
	"font-variant-numeric:tabular-nums}\n"
	"td{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".picture{overflow:auto;max-height:85vh;border:1px solid "
	"#d1d9e0;border-radius:6px;padding:.4em}\n"
	".picture svg{display:block}summary{cursor:pointer;margin:.4em 0}\n"
	".key{margin-right:1.4em}.key svg{vertical-align:-2px;margin-right:.4em}\n"
	"@media "
	"(prefers-color-scheme:dark){body{background:#0d1117;color:#f0f6fc}a{color:#4493f8}\n"
	".note,footer{color:#9198a1}h2,th,td,.picture{border-color:#30363d}}\n"
	"@media print{.picture{max-height:none;overflow:visible}.picture "
	"svg{max-width:100%;height:auto}}\n";

void page_text(struct tenon_buffer *b, struct tenon_slice text)
{
	svg_escape(b, text, TEXT_MOST);
}

/* A text between tags. */
static void page_format(struct tenon_buffer *b, const char *begin, const char *end,
			const char *format, va_list args)
{
	char text[2 * TEXT_MOST];

	tenon_buffer_printf(b, "%s", begin);
	vsnprintf(text, sizeof(text), format, args);
	page_text(b, tenon_slice_of(text));
	tenon_buffer_printf(b, "%s", end);
}

void page_begin(struct tenon_buffer *b, struct tenon_slice title)
{
	tenon_buffer_printf(b, "<!DOCTYPE html>\n"
			       "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
			       "<meta charset=\"utf-8\"/>\n"
			       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			       "'none'; style-src 'unsafe-inline'\"/>\n"
			       "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>");
	page_text(b, title);
	tenon_buffer_printf(b, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n", style,
			    svg_style());
}

int page_end(struct tenon_buffer *b, const char *version)
{
	tenon_buffer_printf(b, "<footer>Written by tenon ");
	page_text(b, tenon_slice_of(version));
	tenon_buffer_printf(b, "</footer>\n</body>\n</html>\n");
	return b->status;
}

void page_section(struct tenon_buffer *b, const char *id, const char *title)
{
	tenon_buffer_printf(b, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void page_section_end(struct tenon_buffer *b)
{
	tenon_buffer_printf(b, "</section>\n");
}

void page_note(struct tenon_buffer *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	page_format(b, "<p class=\"note\">", "</p>\n", format, args);
	va_end(args);
}

void page_picture(struct tenon_buffer *b, struct tenon_slice svg)
{
	tenon_buffer_printf(b, "<div class=\"picture\">\n");
	tenon_buffer_slice(b, svg);
	tenon_buffer_printf(b, "</div>\n");
}

void page_table(struct tenon_buffer *b, const char *heads)
{
	size_t n;

	tenon_buffer_printf(b, "<table>\n<thead><tr>");
	for (; *heads; heads += n + (heads[n] == '|')) {
		n = strcspn(heads, "|");
		tenon_buffer_printf(b, *heads == '#' ? "<th class=\"n\">" : "<th>");
		page_text(b, (struct tenon_slice){ heads + (*heads == '#'), n - (*heads == '#') });
		tenon_buffer_printf(b, "</th>");
	}
	tenon_buffer_printf(b, "</tr></thead>\n<tbody>\n");
}

void page_table_end(struct tenon_buffer *b)
{
	tenon_buffer_printf(b, "</tbody>\n</table>\n");
}

void page_row(struct tenon_buffer *b)
{
	tenon_buffer_printf(b, "<tr>");
}

void page_row_end(struct tenon_buffer *b)
{
	tenon_buffer_printf(b, "</tr>\n");
}

void page_cell(struct tenon_buffer *b, struct tenon_slice text)
{
	tenon_buffer_printf(b, "<td>");
	page_text(b, text);
	tenon_buffer_printf(b, "</td>");
}

void page_number(struct tenon_buffer *b, const char *text)
{
	tenon_buffer_printf(b, "<td class=\"n\">");
	page_text(b, tenon_slice_of(text));
	tenon_buffer_printf(b, "</td>");
}

void page_fold(struct tenon_buffer *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	page_format(b, "<details>\n<summary>", "</summary>\n", format, args);
	va_end(args);
}

void page_fold_end(struct tenon_buffer *b)
{
	tenon_buffer_printf(b, "</details>\n");
}
