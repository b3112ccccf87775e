/* SPDX-License-Identifier: MIT */
/* Read and print numbers with a decimal point, whatever the locale. */
#include "lib/number.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTERS_MOST 500
#define POINT_MOST	16

/* A number with the decimal point of the current locale, as strtod() reads it. */
struct localised {
	char text[CHARACTERS_MOST + POINT_MOST];
	size_t point_at;   /* where the point was; SIZE_MAX without one */
	size_t point_size; /* of the locale's, which replaces it */
};

static bool is_part(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("+-.()_", c));
}

/* The decimal point of the locale is what stands between the digits of a half. */
static size_t find_point(char point[POINT_MOST])
{
	char half[POINT_MOST + 4];
	int size = snprintf(half, sizeof(half), "%.1f", 0.5);

	if (size < 3 || size - 2 >= POINT_MOST) {
		strcpy(point, ".");
		return 1;
	}
	memcpy(point, half + 1, (size_t)size - 2);
	return (size_t)size - 2;
}

static bool localise(const char *text, struct localised *out)
{
	char point[POINT_MOST];
	size_t size = 0, to = 0, i;

	while (size <= CHARACTERS_MOST && is_part(text[size]))
		size++;
	if (!size || size > CHARACTERS_MOST)
		return false;
	out->point_at = SIZE_MAX;
	out->point_size = 1;
	for (i = 0; i < size; i++) {
		if (text[i] != '.' || out->point_at != SIZE_MAX) {
			out->text[to++] = text[i];
			continue;
		}
		out->point_at = i;
		out->point_size = find_point(point);
		memcpy(out->text + to, point, out->point_size);
		to += out->point_size;
	}
	out->text[to] = '\0';
	return true;
}

static const char *end_of(const char *text, const struct localised *l, const char *end)
{
	size_t read = (size_t)(end - l->text);

	return text + (read > l->point_at ? read - l->point_size + 1 : read);
}

double number_read(const char *text, const char **end)
{
	struct localised l;
	double number = 0;
	char *stop = NULL;

	if (localise(text, &l))
		number = strtod(l.text, &stop);
	if (end)
		*end = stop ? end_of(text, &l, stop) : text;
	return number;
}

float number_read_float(const char *text, const char **end)
{
	struct localised l;
	float number = 0;
	char *stop = NULL;

	if (localise(text, &l))
		number = strtof(l.text, &stop);
	if (end)
		*end = stop ? end_of(text, &l, stop) : text;
	return number;
}

const char *number_print(char text[NUMBER_ROOM], int digits, double number)
{
	size_t i, size;

	snprintf(text, NUMBER_ROOM, "%.*g", digits, number);
	for (i = 0; text[i] && is_part(text[i]) && text[i] != '.'; i++)
		;
	if (!text[i])
		return text;
	for (size = 1; text[i + size] && !is_part(text[i + size]); size++)
		;
	text[i] = '.';
	memmove(text + i + 1, text + i + size, strlen(text + i + size) + 1);
	return text;
}
