/* SPDX-License-Identifier: MIT */
#include "tools/plain.h"

void plain_append(struct tenon_buffer *out, struct tenon_slice text, size_t most)
{
	size_t size = text.size;

	if (size > most) {
		size = most;
		/* not in the middle of a character */
		while (size && ((unsigned char)text.data[size] & 0xc0) == 0x80)
			size--;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text.data[i];

		tenon_buffer_u8(out, c < ' ' || c == 0x7f ? '?' : c);
	}
	if (size < text.size)
		tenon_buffer_append(out, "…", sizeof("…") - 1);
}

size_t plain_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}
