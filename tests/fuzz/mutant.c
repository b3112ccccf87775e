/* SPDX-License-Identifier: MIT */
/* Numbers and ranges of a mutant: read, written and replaced within its bounds. */
#include "tests/fuzz/mutant.h"

#include <string.h>

uint64_t mutant_get(const struct mutant *m, uint64_t at, unsigned int width)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < width && at < m->size && i < m->size - at; i++)
		v |= (uint64_t)m->data[at + i] << 8 * i;
	return v;
}

void mutant_put(struct mutant *m, uint64_t at, uint64_t value, unsigned int width)
{
	unsigned int i;

	for (i = 0; i < width && at < m->size && i < m->size - at; i++)
		m->data[at + i] = (uint8_t)(value >> 8 * i);
}

void mutant_replace(struct mutant *m, uint64_t at, size_t count, const void *bytes, size_t size)
{
	size_t tail;

	if (at > m->size)
		return;
	if (count > m->size - at)
		count = m->size - at;
	if (size > m->room - at)
		size = m->room - at;
	tail = m->size - at - count;
	if (tail > m->room - at - size)
		tail = m->room - at - size;
	/* the bytes may be the mutant's own: where they are moved, they are copied as they come */
	memmove(m->data + at + size, m->data + at + count, tail);
	if (size)
		memmove(m->data + at, bytes, size);
	m->size = at + size + tail;
}

uint64_t mutant_number(struct mutant *m, uint64_t near)
{
	static const uint64_t limits[] = {
		0,
		1,
		2,
		3,
		7,
		8,
		15,
		16,
		17,
		64,
		127,
		128,
		255,
		256,
		257,
		INT16_MAX,
		INT16_MAX + 1,
		UINT16_MAX,
		UINT16_MAX + 1,
		INT32_MAX,
		UINT64_C(1) << 31,
		UINT32_MAX,
		UINT64_C(1) << 32,
		INT64_MAX,
		UINT64_C(1) << 63,
		UINT64_MAX,
		UINT64_MAX - 7,
		UINT64_MAX / 8,
		UINT64_MAX / 8 + 1,
		UINT64_MAX / 16,
	};
	struct random *r = &m->random;

	switch (random_below(r, 5)) {
	case 0:
		return near;
	case 1:
		return near - random_below(r, 64);
	case 2:
		return near + random_below(r, 64);
	case 3:
		return random_next(r) >> random_below(r, 64);
	default:
		return limits[random_below(r, sizeof(limits) / sizeof(limits[0]))];
	}
}

bool mutant_has(const struct mutant *m, uint64_t at, struct tenon_slice text)
{
	return at <= m->size && text.size <= m->size - at &&
	       !memcmp(m->data + at, text.data, text.size);
}
