/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_PRINTABLE_H
#define TOOLS_TEXT_PRINTABLE_H

/** DOC: printing untrusted text to a terminal */

#include <stdio.h>
#include <tenon/buffer.h>

/**
 * printable_append - append text from an untrusted file
 * @out: buffer
 * @text: any bytes; control characters become "?"
 * @most: truncate after so many bytes, with "…"
 */
void printable_append(struct tenon_buffer *out, struct tenon_slice text, size_t most);

/** printable_print - print a message; control characters except newlines and tabs are replaced */
void printable_print(const char *text, FILE *out);

/** printable_cell - print a name from a file, padded with blanks to @width columns */
void printable_cell(struct tenon_slice text, int width, FILE *out);

/** printable_width - columns of a text, one for each character */
size_t printable_width(const char *text);

#endif /* TOOLS_TEXT_PRINTABLE_H */
