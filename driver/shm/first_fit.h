/* SPDX-License-Identifier: MIT */
/* First-fit allocation in a range of memory, with its list beside that memory. */
#ifndef DRIVER_SHM_FIRST_FIT_H
#define DRIVER_SHM_FIRST_FIT_H

/*
 * Which bytes of memory that a device reaches are in use. The list lies in memory of the host's, where the device cannot
 * write.
 */

#include <stdint.h>
#include <stdlib.h>

/**
 * struct first_fit_piece - a piece in use
 * @next: the next piece, at a higher offset
 * @offset: in the memory
 * @size: bytes
 */
struct first_fit_piece {
	struct first_fit_piece *next;
	uint64_t offset;
	uint64_t size;
};

/**
 * struct first_fit - the memory
 * @begin: offset of its first byte
 * @size: bytes
 * @grain: a power of two: pieces begin at, and are, a multiple of it
 * @pieces: in use, ordered by offset
 */
struct first_fit {
	uint64_t begin;
	uint64_t size;
	uint64_t grain;
	struct first_fit_piece *pieces;
};

/** struct first_fit_free - bytes that are free: all together, and in the largest piece */
struct first_fit_free {
	uint64_t all;
	uint64_t largest;
};

/** first_fit_free - measure what is free */
static inline struct first_fit_free first_fit_free(const struct first_fit *f)
{
	const struct first_fit_piece *p = f->pieces;
	struct first_fit_free found = { 0, 0 };
	uint64_t at = f->begin, gap;

	for (;; p = p->next) {
		gap = (p ? p->offset : f->begin + f->size) - at;
		found.all += gap;
		found.largest = gap > found.largest ? gap : found.largest;
		if (!p)
			return found;
		at = p->offset + p->size;
	}
}

/** first_fit_take - use the first piece of @size bytes, not 0, at a multiple of @align; NULL if there is none */
static inline struct first_fit_piece *first_fit_take(struct first_fit *f, uint64_t size,
						     uint64_t align)
{
	struct first_fit_piece **link = &f->pieces, *piece;
	uint64_t at = f->begin, room, gap;

	if (size > f->size || f->size - size < (-size & (f->grain - 1)))
		return NULL;
	size = (size + f->grain - 1) & ~(f->grain - 1);
	align = align < f->grain ? f->grain : align;
	for (;; link = &(*link)->next) {
		room = (*link ? (*link)->offset : f->begin + f->size) - at;
		gap = -at & (align - 1);
		if (gap <= room && size <= room - gap)
			break;
		if (!*link)
			return NULL;
		at = (*link)->offset + (*link)->size;
	}
	piece = malloc(sizeof(*piece));
	if (!piece)
		return NULL;
	*piece = (struct first_fit_piece){ *link, at + gap, size };
	*link = piece;
	return piece;
}

/** first_fit_give - a piece is free again; NULL does nothing */
static inline void first_fit_give(struct first_fit *f, struct first_fit_piece *piece)
{
	struct first_fit_piece **link = &f->pieces;

	while (*link && *link != piece)
		link = &(*link)->next;
	if (*link)
		*link = piece->next;
	free(piece);
}

#endif /* DRIVER_SHM_FIRST_FIT_H */
