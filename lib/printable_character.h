/* SPDX-License-Identifier: MIT */
/* Tell the characters that a terminal shows from those that act on it or are hidden. */
#ifndef LIB_PRINTABLE_CHARACTER_H
#define LIB_PRINTABLE_CHARACTER_H

#include <stdio.h>
#include <string.h>

#include "lib/utf8.h"

/* ranges of characters that change how a terminal shows others, or that hide */
static inline bool character_acts(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) ||	    /* C0, DEL, C1 */
	       c == 0x061c || c == 0x200e || c == 0x200f || /* marks of direction */
	       (c >= 0x2028 && c <= 0x202e) || /* ends of lines; overrides of direction */
	       (c >= 0x2060 && c <= 0x206f) || /* isolates, invisible operators */
	       c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

/**
 * printable_character - look at the first character of an untrusted text
 * @s: at least one byte
 * @shown: receives whether it may be printed; not if it is no UTF-8, or controls a terminal
 *
 * Return: its bytes; 1 for a byte that begins no character.
 */
static inline size_t printable_character(struct tenon_slice s, bool *shown)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	int size = utf8_character(s), i;
	uint32_t c;

	*shown = false;
	if (size <= 0)
		return 1;
	c = (unsigned char)s.data[0] & masks[size];
	for (i = 1; i < size; i++)
		c = c << 6 | ((unsigned char)s.data[i] & 0x3f);
	*shown = !character_acts(c);
	return (size_t)size;
}

/** printable_lines_print - print text of several lines: newlines and tabs are kept, other such is "?" */
static inline void printable_lines_print(struct tenon_slice text, FILE *out)
{
	bool shown;
	size_t n;

	for (; text.size; text = (struct tenon_slice){ text.data + n, text.size - n }) {
		n = printable_character(text, &shown);
		if (shown || *text.data == '\n' || *text.data == '\t')
			fwrite(text.data, 1, n, out);
		else
			fputc('?', out);
	}
}

/** printable_message_print - as printable_lines_print(), with blanks before each further line: names may have newlines */
static inline void printable_message_print(const char *text, FILE *out)
{
	const char *end;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		printable_lines_print((struct tenon_slice){ text, (size_t)(end - text) }, out);
		fputs("\n  ", out);
	}
	printable_lines_print((struct tenon_slice){ text, strlen(text) }, out);
}

#endif /* LIB_PRINTABLE_CHARACTER_H */
