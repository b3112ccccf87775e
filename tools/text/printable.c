/* SPDX-License-Identifier: MIT */
#include "tools/text/printable.h"

#include <stdbool.h>

static bool moves_the_cursor(unsigned char c)
{
	return c < ' ' || c == 0x7f;
}

void printable_append(struct tenon_buffer *out, struct tenon_slice text, size_t most)
{
	size_t size = text.size;

	if (size > most) {
		size = most;
		/* Do not cut inside a UTF-8 character. */
		while (size && ((unsigned char)text.data[size] & 0xc0) == 0x80)
			size--;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text.data[i];

		tenon_buffer_u8(out, moves_the_cursor(c) ? '?' : c);
	}
	if (size < text.size)
		tenon_buffer_append(out, "…", sizeof("…") - 1);
}

void printable_print(const char *text, FILE *out)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		fputc(moves_the_cursor(c) && c != '\n' && c != '\t' ? '?' : c, out);
	}
}

void printable_cell(struct tenon_slice text, int width, FILE *out)
{
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];

		fputc(moves_the_cursor(c) ? '?' : c, out);
		width -= (c & 0xc0) != 0x80;
	}
	while (width-- > 0)
		fputc(' ', out);
}

size_t printable_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}
