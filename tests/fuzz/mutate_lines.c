/* SPDX-License-Identifier: MIT */
/* Repeat and remove lines of a text, and put words into it. */
#include <string.h>

#include "tests/fuzz/mutant.h"

/* longest line that is copied */
#define LINE_MOST 200

/* A random line: its place, and its size with the newline. */
static size_t any_line(struct mutant *m, size_t *at)
{
	size_t start = random_below(&m->random, m->size), end;

	while (start && m->data[start - 1] != '\n')
		start--;
	for (end = start; end < m->size && m->data[end] != '\n'; end++)
		;
	*at = start;
	return end - start + (end < m->size);
}

static void repeat_line(struct mutant *m)
{
	uint8_t line[LINE_MOST];
	size_t from, to, size = any_line(m, &from);

	if (size > sizeof(line))
		return;
	memcpy(line, m->data + from, size);
	any_line(m, &to);
	mutant_replace(m, to, 0, line, size);
}

void mutate_lines(struct mutant *m, const char *const *words, size_t count)
{
	struct random *r = &m->random;
	const char *word = words[random_below(r, count)];
	size_t at = random_below(r, m->size), size;

	switch (random_below(r, 5)) {
	case 0:
		size = any_line(m, &at);
		mutant_replace(m, at, size, NULL, 0);
		return;
	case 1:
		repeat_line(m);
		return;
	case 2:
		any_line(m, &at);
		mutant_replace(m, at, 0, word, strlen(word));
		return;
	default:
		mutant_replace(m, at, random_below(r, 4), word, strlen(word));
	}
}
