/* SPDX-License-Identifier: MIT */
/* Change a number, a string or a piece of a text in JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/mutant.h"

static const char *const words[] = {
	"[",	    "]",       "{",	    "}",	  "\"",		":",
	",",	    "null",    "true",	    "-1",	  "1e999",	"18446744073709551616",
	"[[[[[[[[", "\\u0000", "\\ud800",   "0",	  "4294967296", "9223372036854775807",
	"NaN",	    ".5",      "\"nodes\"", "2147483648", "\xff",	"-9223372036854775808",
};

/* what may stand in quotes */
static const char *const strings[] = {
	"uint248", "float32x0", "float0",	 "int4",   "uint1",    "bool",	    "float16",
	"int64",   "float32x4", "float8_e4m3fn", "handle", "bfloat16", "complex64", "float64x65535",
	"op",	   "tvm_op",	"null",		 "name",   "attrs",    "__nop",	    "<f8",
	"|b1",	   ">i2",	"<c16",		 "0",	   "1",	       "-1",	    "",
};

/* bytes that are looked through for a place to change */
#define SEARCHED 256

/* most of the text that is moved at once */
#define PIECE 64

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* all digits of a number become another */
static void change_number(struct mutant *m)
{
	struct random *r = &m->random;
	size_t at = random_below(r, m->size), end, i;
	char text[24];

	for (i = 0; i < SEARCHED && at < m->size && !is_digit(m->data[at]); i++)
		at++;
	if (at >= m->size || !is_digit(m->data[at]))
		return;
	for (end = at; end < m->size && is_digit(m->data[end]); end++)
		;
	while (at && is_digit(m->data[at - 1]))
		at--;
	if (random_one_in(r, 2))
		snprintf(text, sizeof(text), "%" PRIu64, random_below(r, 40));
	else
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)mutant_number(m, m->size));
	mutant_replace(m, at, end - at, text, strlen(text));
}

/* the quotes of a string at or behind a random place; false when none is near */
static bool find_string(struct mutant *m, size_t *begin, size_t *end)
{
	size_t at = random_below(&m->random, m->size), i;

	for (i = 0; i < SEARCHED && at < m->size && m->data[at] != '"' && m->data[at] != '\''; i++)
		at++;
	*begin = at;
	for (i = 0; i < SEARCHED && ++at < m->size && m->data[at] != m->data[*begin]; i++)
		;
	*end = at;
	return at < m->size && m->data[at] == m->data[*begin];
}

/* a string becomes one that means something, or another one of the text */
static void change_string(struct mutant *m)
{
	struct random *r = &m->random;
	size_t begin, end, from, to;
	char copy[SEARCHED];

	if (!find_string(m, &begin, &end))
		return;
	if (random_one_in(r, 2) && find_string(m, &from, &to) && to - from <= sizeof(copy)) {
		memcpy(copy, m->data + from + 1, to - from - 1);
		mutant_replace(m, begin + 1, end - begin - 1, copy, to - from - 1);
		return;
	}
	from = random_below(r, sizeof(strings) / sizeof(strings[0]));
	mutant_replace(m, begin + 1, end - begin - 1, strings[from], strlen(strings[from]));
}

static void put_word(struct mutant *m)
{
	struct random *r = &m->random;
	const char *word = words[random_below(r, sizeof(words) / sizeof(words[0]))];
	size_t size = strlen(word);

	mutant_replace(m, random_below(r, m->size), random_one_in(r, 2) ? size : 0, word, size);
}

static void repeat_piece(struct mutant *m)
{
	struct random *r = &m->random;
	uint64_t size = random_below(r, PIECE), from = random_below(r, m->size);
	char copy[PIECE];

	if (size > m->size - from)
		size = m->size - from;
	memcpy(copy, m->data + from, size);
	mutant_replace(m, random_below(r, m->size), 0, copy, size);
}

void mutate_json(struct mutant *m)
{
	struct random *r = &m->random;

	if (!m->size)
		return;
	switch (random_below(r, 10)) {
	case 0:
	case 1:
	case 2:
		change_number(m);
		return;
	case 3:
	case 4:
	case 5:
		change_string(m);
		return;
	case 6:
		put_word(m);
		return;
	case 7:
		repeat_piece(m);
		return;
	case 8:
		mutant_replace(m, random_below(r, m->size), random_below(r, PIECE), NULL, 0);
		return;
	default:
		mutate_bytes(m);
	}
}
