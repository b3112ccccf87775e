/* SPDX-License-Identifier: MIT */
/* Hold text back while it may be part of a character or a stop string. */
#include "llm/llm_reply.h"

#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/utf8.h"

/* Move the first @size bytes of what is held to the part that is ready. The caller empties that one. */
static int give(struct reply *r, size_t size, bool all)
{
	size_t at = 0, left;
	int n;

	while (at < size) {
		n = utf8_character((struct tenon_slice){ r->held.data + at, r->held.size - at });
		if (!n && !all)
			break;
		if (n > 0)
			tenon_buffer_append(&r->ready, r->held.data + at, (size_t)n);
		else
			tenon_buffer_append(&r->ready, "\xef\xbf\xbd", 3);
		at += n > 0 ? (size_t)n : 1;
	}
	left = at < r->held.size ? r->held.size - at : 0;
	if (left && at)
		memmove(r->held.data, r->held.data + at, left);
	r->held.size = left;
	return r->ready.status;
}

/* Place of the first stop string; the size of the text if there is none. */
static size_t find_stop(const struct reply *r)
{
	size_t best = r->held.size, i;
	const char *at;

	for (i = 0; i < r->stop_count; i++) {
		if (!r->stops[i].size || !r->held.size)
			continue;
		at = memmem(r->held.data, r->held.size, r->stops[i].data, r->stops[i].size);
		if (at && (size_t)(at - r->held.data) < best)
			best = (size_t)(at - r->held.data);
	}
	return best;
}

/* Test whether a text that ends here could go on to be a stop string. */
static bool begins_stop(const struct reply *r, struct tenon_slice end)
{
	size_t i;

	for (i = 0; i < r->stop_count; i++)
		if (end.size < r->stops[i].size && !memcmp(r->stops[i].data, end.data, end.size))
			return true;
	return false;
}

int reply_add(struct reply *r, struct tenon_slice bytes, bool *stopped)
{
	size_t keep, longest = 0, i, stop;
	int err = tenon_buffer_slice(&r->held, bytes);

	*stopped = false;
	if (err)
		return err;
	stop = find_stop(r);
	*stopped = stop < r->held.size;
	if (*stopped) {
		r->held.size = stop;
		return reply_finish(r);
	}
	for (i = 0; i < r->stop_count; i++)
		if (r->stops[i].size > longest)
			longest = r->stops[i].size;
	keep = longest && r->held.size > longest ? r->held.size - longest : 0;
	if (!longest)
		keep = r->held.size;
	for (; keep < r->held.size; keep++)
		if (begins_stop(r,
				(struct tenon_slice){ r->held.data + keep, r->held.size - keep }))
			break;
	return give(r, keep, false);
}

int reply_finish(struct reply *r)
{
	return give(r, r->held.size, true);
}

void reply_fini(struct reply *r)
{
	tenon_buffer_fini(&r->held);
	tenon_buffer_fini(&r->ready);
}
