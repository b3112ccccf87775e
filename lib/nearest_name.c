/* SPDX-License-Identifier: MIT */
/* Rank names by their edit distance from the one that was asked for. */
#include "lib/nearest_name.h"

#include <string.h>
#include <tenon/backend/buffer.h>

/* longer names are compared by their first bytes */
#define NEAREST_BYTES 64

/* Levenshtein's distance: edits of one byte that turn @a into @b. */
static unsigned int edit_distance(struct tenon_slice a, struct tenon_slice b)
{
	unsigned int row[NEAREST_BYTES + 1], left, diagonal, best;
	size_t i, j;

	for (j = 0; j <= b.size; j++)
		row[j] = (unsigned int)j;
	for (i = 1; i <= a.size; i++) {
		diagonal = row[0];
		row[0] = (unsigned int)i;
		for (j = 1; j <= b.size; j++) {
			left = row[j - 1] + 1;
			best = diagonal + (a.data[i - 1] != b.data[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j] = left < best ? left : best;
		}
	}
	return row[b.size];
}

static struct tenon_slice cut(struct tenon_slice s)
{
	if (s.size > NEAREST_BYTES)
		s.size = NEAREST_BYTES;
	return s;
}

void nearest_name_offer(struct nearest_name *n, struct tenon_slice name)
{
	struct tenon_slice wanted = cut(n->wanted), offered = cut(name);
	unsigned int d, most;
	size_t i;

	n->offered++;
	d = edit_distance(wanted, offered);
	/* names with no byte in common are not near, however short they are */
	if (d >= (wanted.size > offered.size ? wanted.size : offered.size))
		return;
	most = 2 + (unsigned int)wanted.size / 3;
	/* one name within the other is near, whatever the distance */
	if (d > most && !(wanted.size >= 3 && name.size > wanted.size &&
			  memmem(name.data, name.size, wanted.data, wanted.size)))
		return;
	for (i = 0; i < n->count; i++)
		if (tenon_slice_equal(n->name[i], name))
			return;
	i = n->count < NEAREST_MOST ? n->count++ : NEAREST_MOST;
	if (i == NEAREST_MOST && d >= n->distance[--i])
		return;
	for (; i > 0 && n->distance[i - 1] > d; i--) {
		n->name[i] = n->name[i - 1];
		n->distance[i] = n->distance[i - 1];
	}
	n->name[i] = name;
	n->distance[i] = d;
}

int nearest_name_print(const struct nearest_name *n, struct tenon_buffer *out)
{
	size_t i;

	for (i = 0; i < n->count; i++)
		tenon_buffer_printf(out, "%s\"%.*s\"",
				    i ? ", " : " Nearest: ", (int)n->name[i].size, n->name[i].data);
	if (n->count)
		tenon_buffer_printf(out, ".");
	return out->status;
}
