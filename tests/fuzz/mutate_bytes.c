/* SPDX-License-Identifier: MIT */
/* Change any bytes: flip, overwrite, copy, cut and remove. */
#include <string.h>

#include "tests/fuzz/mutant.h"

/* most bytes that are taken from elsewhere at once */
#define PIECE 256

static void copy_within(struct mutant *m)
{
	struct random *r = &m->random;
	uint64_t size = random_below(r, m->size / 4);
	uint64_t from = random_below(r, m->size - size), to = random_below(r, m->size - size);

	memmove(m->data + to, m->data + from, size);
}

static void copy_from_donor(struct mutant *m)
{
	struct random *r = &m->random;
	uint64_t size = random_below(r, m->donor.size < PIECE ? m->donor.size : PIECE);
	uint64_t from = random_below(r, m->donor.size - size), at = random_below(r, m->size);

	if (m->donor.size)
		mutant_replace(m, at, random_one_in(r, 2) ? size : 0, m->donor.data + from, size);
}

void mutate_bytes(struct mutant *m)
{
	struct random *r = &m->random;
	uint64_t at = random_below(r, m->size);
	unsigned int width;

	if (!m->size)
		return;
	switch (random_below(r, 7)) {
	case 0:
		m->data[at] ^= (uint8_t)(1u << random_below(r, 8));
		return;
	case 1:
		width = 1u << random_below(r, 4);
		mutant_put(m, at, mutant_number(m, m->size), width);
		return;
	case 2:
		mutant_put(m, at & ~UINT64_C(7), mutant_number(m, m->size), 8);
		return;
	case 3:
		copy_within(m);
		return;
	case 4:
		m->size = at;
		return;
	case 5:
		mutant_replace(m, at, random_below(r, 40), NULL, 0);
		return;
	default:
		copy_from_donor(m);
	}
}
