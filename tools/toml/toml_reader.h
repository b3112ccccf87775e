/* SPDX-License-Identifier: MIT */
/* The position in a file that toml.c and toml_string.c read. */
#ifndef TOOLS_TOML_TOML_READER_H
#define TOOLS_TOML_TOML_READER_H

#include <stdbool.h>
#include <tenon/buffer.h>

/**
 * struct toml_reader - a position
 * @at: next byte
 * @end: end of the file
 * @file: name, for errors
 * @line: line of @at, from 1
 */
struct toml_reader {
	const char *at;
	const char *end;
	const char *file;
	unsigned int line;
};

/** toml_next_is - test whether the next bytes are @text */
bool toml_next_is(const struct toml_reader *r, const char *text);

/** toml_skip_newline - skip a line's end, if it is next, and count the line */
bool toml_skip_newline(struct toml_reader *r);

/** toml_character - bytes of the next character, not at the end; 0 if no string or comment may have it */
size_t toml_character(const struct toml_reader *r);

/**
 * toml_read_string - read a quoted string of any of the four forms
 * @r: at the quotation mark
 * @lines: accept the forms with several lines
 * @out: receives an allocated string
 *
 * Return: as toml_parse().
 */
int toml_read_string(struct toml_reader *r, bool lines, char **out);

#endif /* TOOLS_TOML_TOML_READER_H */
