/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_PRINTABLE_H
#define TOOLS_TEXT_PRINTABLE_H

/** DOC: foreign text, made fit for a terminal */

#include <stdio.h>
#include <tenon/buffer.h>

/**
 * printable_append - append text from an untrusted file
 * @out: where to
 * @text: any bytes; what would move the cursor or ring a bell becomes "?"
 * @most: cut behind so many bytes, with "…"
 */
void printable_append(struct tenon_buffer *out, struct tenon_slice text, size_t most);

/**
 * printable_print - print a message that quotes a file; lines and tabs stay, other control
 * characters do not
 */
void printable_print(const char *text, FILE *out);

/**
 * printable_cell - print a name that a file gives, with blanks behind it up to @width characters
 */
void printable_cell(struct tenon_slice text, int width, FILE *out);

/** printable_width - columns that text takes, one for each character */
size_t printable_width(const char *text);

#endif /* TOOLS_TEXT_PRINTABLE_H */
