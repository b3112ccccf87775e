/* SPDX-License-Identifier: MIT */
/* Change the header of a .npy file, its type and shape, and keep its length true. */
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/mutant.h"

/* of version 1: magic number, version, length of the text in two bytes */
#define TEXT_AT 10

static bool is_npy(const struct mutant *m)
{
	return mutant_has(m, 0, (struct tenon_slice){ "\x93NUMPY\x01", 7 });
}

/* A type and a shape that numpy might have written, and data that is too short, or not. */
static void write_header(struct mutant *m)
{
	static const char *const types[] = { "<f4", "<f2", "<f8", "|b1",  "|u1",  "<i8",
					     ">i4", "<c8", "|V2", "<c16", "|V16", ">f2",
					     "|S4", "<U1", "|O",  "f4" };
	static const char *const shapes[] = {
		"()",	     "(3, 4)",	      "(0,)",	"(4, 3)",  "(12,)",
		"(2, 2, 3)", "(1, 1, 1, 12)", "(12L,)", "(-1, 4)", "(4294967296, 4294967296)",
		"((3, 4),)", "(65536, 0)"
	};
	struct random *r = &m->random;
	size_t old = mutant_get(m, TEXT_AT - 2, 2);
	char text[160];

	snprintf(text, sizeof(text), "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
		 types[random_below(r, sizeof(types) / sizeof(types[0]))],
		 random_one_in(r, 3) ? "True" : "False",
		 shapes[random_below(r, sizeof(shapes) / sizeof(shapes[0]))]);
	mutant_replace(m, TEXT_AT, old, text, strlen(text));
	mutant_put(m, TEXT_AT - 2, strlen(text), 2);
	if (random_one_in(r, 2) && TEXT_AT + strlen(text) + 96 < m->size)
		m->size = TEXT_AT + strlen(text) + (12u << random_below(r, 4));
}

/* The text alone is changed, and its length kept true. */
static void change_text(struct mutant *m)
{
	size_t old = mutant_get(m, TEXT_AT - 2, 2);
	uint8_t copy[1024];
	struct mutant text = { copy, old, sizeof(copy), { NULL, 0 }, m->random };

	if (old > sizeof(copy) || TEXT_AT + old > m->size)
		return;
	memcpy(copy, m->data + TEXT_AT, old);
	mutate_json(&text);
	m->random = text.random;
	mutant_replace(m, TEXT_AT, old, copy, text.size);
	mutant_put(m, TEXT_AT - 2, text.size, 2);
}

void mutate_npy(struct mutant *m)
{
	struct random *r = &m->random;

	if (!is_npy(m)) {
		/* a zip file: its lengths are as little-endian as those of a blob */
		if (random_one_in(r, 2))
			mutate_bytes(m);
		else
			mutant_put(m, random_below(r, m->size), mutant_number(m, m->size),
				   random_one_in(r, 2) ? 2 : 4);
		return;
	}
	switch (random_below(r, 4)) {
	case 0:
		write_header(m);
		return;
	case 1:
	case 2:
		change_text(m);
		return;
	default:
		mutate_bytes(m);
	}
}
