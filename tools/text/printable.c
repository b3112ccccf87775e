/* SPDX-License-Identifier: MIT */
/* Replace characters that a terminal would obey. */
#include "tools/text/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/printable_character.h"

#define REPLACEMENT '?'

/* a result of this size needs no memory of the heap */
#define BRIEF 1024

static struct tenon_slice behind(struct tenon_slice text, size_t size)
{
	return (struct tenon_slice){ text.data + size, text.size - size };
}

void printable_append(struct tenon_buffer *out, struct tenon_slice text, size_t most)
{
	struct tenon_slice left;
	bool shown;
	size_t n;

	for (left = text; left.size; left = behind(left, n)) {
		n = printable_character(left, &shown);
		/* do not cut inside a character */
		if (text.size - left.size + n > most)
			break;
		if (shown)
			tenon_buffer_append(out, left.data, n);
		else
			tenon_buffer_u8(out, REPLACEMENT);
	}
	if (left.size)
		tenon_buffer_append(out, "…", sizeof("…") - 1);
}

void printable_lines(struct tenon_slice text, FILE *out)
{
	printable_lines_print(text, out);
}

void printable_print(const char *text, FILE *out)
{
	printable_lines(tenon_slice_of(text), out);
}

void printable_message(const char *text, FILE *out)
{
	printable_message_print(text, out);
}

/* Print all of a text in one line, but the newline at its end. */
static void print_line(const char *text, FILE *out)
{
	const size_t size = strlen(text), end = size && text[size - 1] == '\n';

	printable_cell((struct tenon_slice){ text, size - end }, 0, out);
	if (end)
		fputc('\n', out);
}

void printable_format(FILE *out, const char *format, ...)
{
	char brief[BRIEF], *text = brief;
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(brief, sizeof(brief), format, args);
	va_end(args);
	if (size >= BRIEF) {
		va_start(args, format);
		size = vasprintf(&text, format, args);
		va_end(args);
	}
	if (size >= 0) {
		print_line(text, out);
	} else {
		print_line(brief, out);
		fputs("…\n", out);
	}
	if (size >= BRIEF)
		free(text);
}

void printable_cell(struct tenon_slice text, int width, FILE *out)
{
	bool shown;
	size_t n;

	for (; text.size; text = behind(text, n), width--) {
		n = printable_character(text, &shown);
		if (shown)
			fwrite(text.data, 1, n, out);
		else
			fputc(REPLACEMENT, out);
	}
	while (width-- > 0)
		fputc(' ', out);
}

size_t printable_width(const char *text)
{
	struct tenon_slice left = tenon_slice_of(text);
	size_t width = 0;
	bool shown;

	for (; left.size; width++)
		left = behind(left, printable_character(left, &shown));
	return width;
}
