/* SPDX-License-Identifier: MIT */
/* Place buffers whose lifetimes overlap beside each other in one block. */
#include "runtime/byoc/json_buffers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/* Larger sizes are refused, so that no sum below overflows. */
#define BYTES_MOST (SIZE_MAX / 4)

static bool collide(const struct byoc_buffer *a, const struct byoc_buffer *b)
{
	return a->first <= b->last && b->first <= a->last && a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes;
}

int byoc_place_buffers(struct byoc_buffer *buffers, uint32_t count, size_t *total)
{
	struct byoc_buffer *b;
	uint32_t i, k;
	bool moved;

	*total = 0;
	for (i = 0; i < count; i++) {
		b = &buffers[i];
		do {
			moved = false;
			for (k = 0; k < i && b->bytes <= BYTES_MOST; k++) {
				if (!collide(b, &buffers[k]))
					continue;
				b->offset = buffers[k].offset + buffers[k].bytes;
				b->offset += -b->offset % BYOC_ALIGNMENT;
				moved = true;
			}
		} while (moved);
		if (b->bytes > BYTES_MOST || b->offset + b->bytes > BYTES_MOST)
			return tenon_error(-TENON_E_OVERFLOW, "the values do not fit in memory");
		if (b->offset + b->bytes > *total)
			*total = b->offset + b->bytes;
	}
	return 0;
}

void *byoc_append(void *list, uint32_t *count, size_t size)
{
	char *items;

	memcpy(&items, list, sizeof(items));
	/* grow at powers of two */
	if (!(*count & (*count - 1))) {
		items = realloc(items, (*count ? (size_t)*count * 2 : 1) * size);
		if (!items) {
			tenon_error(-TENON_E_NOMEM, "no memory for a plan");
			return NULL;
		}
		memcpy(list, &items, sizeof(items));
	}
	items += (*count)++ * size;
	memset(items, 0, size);
	return items;
}
