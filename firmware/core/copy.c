/* SPDX-License-Identifier: MIT */
/* Copies and fills, in words of the core where everything is aligned to them. */
#include "firmware/core/mortise.h"

typedef uintptr_t __attribute__((may_alias)) word;

#define IS_WORDS(a) (!((uintptr_t)(a) & (sizeof(word) - 1)))

/* bytes between two looks at what the host wants */
#define SLICE 65536U

static void move_up(uint8_t *to, const uint8_t *from, size_t size)
{
	size_t i = 0;

	if (IS_WORDS(to) && IS_WORDS(from))
		for (; i + sizeof(word) <= size; i += sizeof(word))
			*(word *)(void *)(to + i) = *(const word *)(const void *)(from + i);
	for (; i < size; i++)
		to[i] = from[i];
}

static void move_down(uint8_t *to, const uint8_t *from, size_t size)
{
	size_t i = size;

	while (i && !(IS_WORDS(to + i) && IS_WORDS(from + i))) {
		i--;
		to[i] = from[i];
	}
	for (; i >= sizeof(word); i -= sizeof(word))
		*(word *)(void *)(to + i - sizeof(word)) =
			*(const word *)(const void *)(from + i - sizeof(word));
	while (i--)
		to[i] = from[i];
}

void mortise_move(uint8_t *to, const uint8_t *from, size_t size)
{
	if ((uintptr_t)to <= (uintptr_t)from)
		move_up(to, from, size);
	else
		move_down(to, from, size);
}

void mortise_repeat(uint8_t *to, size_t size, uint64_t pattern, uint32_t width)
{
	size_t i = 0;

	for (; width < 8; width *= 2)
		pattern |= pattern << 8 * width;
	if (IS_WORDS(to))
		for (; i + 8 <= size; i += 8) {
			((word *)(void *)(to + i))[0] = (word)pattern;
			if (sizeof(word) == 4)
				((word *)(void *)(to + i))[1] = (word)(pattern >> 32);
		}
	for (; i < size; i++)
		to[i] = (uint8_t)(pattern >> 8 * (i % 8));
}

static size_t least(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

enum mortise_end mortise_run_copy(struct mortise *m, const void *packet)
{
	const struct mortise_copy *p = packet;
	uint8_t *to = mortise_range(m, p->to, p->size, MORTISE_WRITE, 1);
	const uint8_t *from = to ? mortise_range(m, p->from, p->size, MORTISE_READ, 1) : NULL;
	enum mortise_end end = MORTISE_DONE;
	uint64_t done = 0;

	if (!from)
		return MORTISE_FAILED;
	while (done < p->size && end == MORTISE_DONE) {
		size_t slice = least(p->size - done, SLICE);
		/* from the end that is not overwritten before it is read */
		uint64_t at = to <= from ? done : p->size - done - slice;

		mortise_move(to + at, from + at, slice);
		done += slice;
		end = mortise_go_on(m);
	}
	return end;
}

enum mortise_end mortise_run_fill(struct mortise *m, const void *packet)
{
	const struct mortise_fill *p = packet;
	uint32_t width = p->width;
	enum mortise_end end = MORTISE_DONE;
	uint64_t done;
	uint8_t *to;

	if (!width || width > 8 || (width & (width - 1)))
		return mortise_bad_field(m, offsetof(struct mortise_fill, width));
	if (p->size & (width - 1))
		return mortise_bad_field(m, offsetof(struct mortise_fill, size));
	if (p->reserved)
		return mortise_bad_field(m, offsetof(struct mortise_fill, reserved));
	to = mortise_range(m, p->to, p->size, MORTISE_WRITE, width);
	if (!to)
		return MORTISE_FAILED;
	for (done = 0; done < p->size && end == MORTISE_DONE; done += SLICE) {
		uint64_t pattern =
			width == 8 ? p->pattern : p->pattern & (((uint64_t)1 << 8 * width) - 1);

		mortise_repeat(to + done, least(p->size - done, SLICE), pattern, width);
		end = mortise_go_on(m);
	}
	return end;
}
