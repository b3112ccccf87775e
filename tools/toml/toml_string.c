/* SPDX-License-Identifier: MIT */
/* Read the four forms of strings. */
#include <stdint.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/utf8.h"
#include "tools/toml/toml_reader.h"

/* ---- escapes */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static void append_utf8(struct tenon_buffer *out, uint32_t c)
{
	if (c < 0x80) {
		tenon_buffer_u8(out, (uint8_t)c);
	} else if (c < 0x800) {
		tenon_buffer_u8(out, (uint8_t)(0xc0 | c >> 6));
		tenon_buffer_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else {
		if (c < 0x10000) {
			tenon_buffer_u8(out, (uint8_t)(0xe0 | c >> 12));
		} else {
			tenon_buffer_u8(out, (uint8_t)(0xf0 | c >> 18));
			tenon_buffer_u8(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		}
		tenon_buffer_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		tenon_buffer_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	}
}

static int read_code_point(struct toml_reader *r, int digits, struct tenon_buffer *out)
{
	uint32_t c = 0;

	for (int i = 0; i < digits; i++, r->at++) {
		int digit = r->at < r->end ? hex_digit(*r->at) : -1;

		if (digit < 0)
			return tenon_error(-TENON_E_FORMAT,
					   "%s:%u: \\%c needs %d hexadecimal digits", r->file,
					   r->line, digits == 4 ? 'u' : 'U', digits);
		c = c << 4 | (uint32_t)digit;
	}
	if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return tenon_error(-TENON_E_FORMAT, "%s:%u: U+%04X cannot be in a string", r->file,
				   r->line, (unsigned int)c);
	append_utf8(out, c);
	return 0;
}

/* A backslash at the end of a line: the line's end and the blanks that follow are left out. */
static bool skip_continuation(struct toml_reader *r)
{
	const struct toml_reader start = *r;
	bool found = false;

	for (;;) {
		while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
			r->at++;
		if (!toml_skip_newline(r))
			break;
		found = true;
	}
	if (!found)
		*r = start;
	return found;
}

static int read_escape(struct toml_reader *r, bool lines, struct tenon_buffer *out)
{
	static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	const char *found;
	char c;

	if (lines && skip_continuation(r))
		return 0;
	if (r->at == r->end)
		return tenon_error(-TENON_E_FORMAT, "%s:%u: the file ends in a string", r->file,
				   r->line);
	c = *r->at;
	found = c ? strchr(names, c) : NULL;
	if (found) {
		r->at++;
		return tenon_buffer_u8(out, (uint8_t)values[found - names]);
	}
	if (c == 'u' || c == 'U') {
		r->at++;
		return read_code_point(r, c == 'u' ? 4 : 8, out);
	}
	return tenon_error(
		-TENON_E_FORMAT,
		"%s:%u: \\ with byte 0x%02x is no escape; write \\\\ for a backslash, or "
		"quote the string with '",
		r->file, r->line, (unsigned char)c);
}

/* ---- characters */

size_t toml_character(const struct toml_reader *r)
{
	unsigned char c = (unsigned char)*r->at;
	int n;

	if ((c < 0x20 && c != '\t') || c == 0x7f)
		return 0;
	n = utf8_character((struct tenon_slice){ r->at, (size_t)(r->end - r->at) });
	return n > 0 ? (size_t)n : 0;
}

static int read_character(struct toml_reader *r, bool lines, struct tenon_buffer *out)
{
	unsigned char c = (unsigned char)*r->at;
	size_t length;

	if (toml_next_is(r, "\n") || toml_next_is(r, "\r\n")) {
		if (!lines)
			return tenon_error(-TENON_E_FORMAT,
					   "%s:%u: the line ends in a string; use three quotation "
					   "marks for several lines",
					   r->file, r->line);
		toml_skip_newline(r);
		return tenon_buffer_u8(out, '\n');
	}
	length = toml_character(r);
	if (!length)
		return tenon_error(-TENON_E_FORMAT, "%s:%u: byte 0x%02x cannot be in a string",
				   r->file, r->line, c);
	tenon_buffer_append(out, r->at, length);
	r->at += length;
	return out->status;
}

/* ---- strings */

/* In a string of several lines, up to two quotation marks may stand before the three that end it. */
static bool read_end(struct toml_reader *r, const char *mark, struct tenon_buffer *out)
{
	if (!toml_next_is(r, mark))
		return false;
	r->at += strlen(mark);
	for (int i = 0; i < 2 && mark[1] && toml_next_is(r, mark + 2); i++) {
		tenon_buffer_u8(out, (uint8_t)mark[0]);
		r->at++;
	}
	return true;
}

static int read_until(struct toml_reader *r, const char *mark, struct tenon_buffer *out)
{
	bool lines = mark[1] != '\0';
	int err = 0;

	while (!err && !read_end(r, mark, out)) {
		if (r->at == r->end)
			return tenon_error(-TENON_E_FORMAT, "%s:%u: the file ends in a string",
					   r->file, r->line);
		if (*r->at == '\\' && mark[0] == '"') {
			r->at++;
			err = read_escape(r, lines, out);
		} else {
			err = read_character(r, lines, out);
		}
	}
	return err ? err : out->status;
}

int toml_read_string(struct toml_reader *r, bool lines, char **out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	const char *mark = toml_next_is(r, "\"\"\"") ? "\"\"\""
			   : toml_next_is(r, "'''")  ? "'''"
			   : *r->at == '"'	     ? "\""
						     : "'";
	int err;

	if (mark[1] && !lines)
		return tenon_error(-TENON_E_FORMAT, "%s:%u: a name cannot have several lines",
				   r->file, r->line);
	r->at += strlen(mark);
	if (mark[1])
		toml_skip_newline(r);
	err = read_until(r, mark, &text);
	/* the terminating NUL, so that an empty string has memory too */
	if (!err)
		err = tenon_buffer_u8(&text, 0);
	if (err) {
		tenon_buffer_fini(&text);
		return err;
	}
	*out = text.data;
	return 0;
}
