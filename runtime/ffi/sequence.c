/* SPDX-License-Identifier: MIT */
/* Create arrays and lists, and change lists in place. */
#include "runtime/ffi/sequence.h"

#include <stdlib.h>

static void items_free(void *data)
{
	free(data);
}

static void sequence_delete(void *self, int flags)
{
	struct tenon_array *s = self;

	if (flags & TENON_DELETE_CONTENT) {
		if (ffi->nested_delete(self, flags))
			return;
		while (s->size)
			ffi_release(&s->data[--s->size]);
		if (s->data_deleter)
			s->data_deleter(s->data);
		s->data = NULL;
		s->capacity = 0;
	}
	if (flags & TENON_DELETE_MEMORY)
		free(s);
}

int ffi_sequence_reserve(struct tenon_array *s, int64_t count)
{
	struct tenon_value *data;

	if (count <= s->capacity)
		return 0;
	if ((uint64_t)count > SIZE_MAX / sizeof(*data) ||
	    !(data = malloc((size_t)count * sizeof(*data))))
		return ffi_nomem("the items of a list");
	if (s->size)
		memcpy(data, s->data, (size_t)s->size * sizeof(*data));
	if (s->data_deleter)
		s->data_deleter(s->data);
	s->data = data;
	s->data_deleter = items_free;
	s->capacity = count;
	return 0;
}

/* Make room for @more items, with some to spare. */
static int enlarge(struct tenon_array *s, int64_t more)
{
	int64_t wanted = s->size + more, twice = 2 * s->capacity;

	if (wanted <= s->capacity)
		return 0;
	return ffi_sequence_reserve(s, wanted > twice ? wanted : twice);
}

int ffi_sequence_append(struct tenon_array *s, const struct tenon_value *item)
{
	struct tenon_value owned;

	if (ffi_own(item, &owned))
		return -1;
	if (enlarge(s, 1)) {
		ffi_release(&owned);
		return -1;
	}
	s->data[s->size++] = owned;
	return 0;
}

void ffi_sequence_reverse(struct tenon_array *s)
{
	struct tenon_value item;
	int64_t i;

	for (i = 0; i < s->size / 2; i++) {
		item = s->data[i];
		s->data[i] = s->data[s->size - 1 - i];
		s->data[s->size - 1 - i] = item;
	}
}

int ffi_sequence_replace(struct tenon_array *s, int64_t from, int64_t to,
			 const struct tenon_value *items, int64_t count)
{
	int64_t removed = to - from, i, owned = 0;
	struct tenon_value *fresh, *old;

	if (from < 0 || to > s->size || from > to)
		return ffi_raise("IndexError", "Erase range [%lld, %lld) out of bounds %lld",
				 (long long)from, (long long)to, (long long)s->size);
	/* Own the new items before anything changes: they may be in this list. */
	fresh = malloc((size_t)(count + removed + 1) * sizeof(*fresh));
	if (!fresh)
		return ffi_nomem("the items of a list");
	for (; owned < count; owned++)
		if (ffi_own(&items[owned], &fresh[owned]))
			goto release;
	if (enlarge(s, count - removed))
		goto release;
	old = fresh + count;
	if (removed)
		memcpy(old, s->data + from, (size_t)removed * sizeof(*old));
	if (s->size > to)
		memmove(s->data + from + count, s->data + to,
			(size_t)(s->size - to) * sizeof(*old));
	if (count)
		memcpy(s->data + from, fresh, (size_t)count * sizeof(*fresh));
	s->size += count - removed;
	for (i = 0; i < removed; i++)
		ffi_release(&old[i]);
	free(fresh);
	return 0;

release:
	while (owned)
		ffi_release(&fresh[--owned]);
	free(fresh);
	return -1;
}

struct tenon_array *ffi_sequence_create(int32_t type, const struct tenon_value *items,
					int64_t count)
{
	struct tenon_array *s = calloc(1, sizeof(*s));

	if (!s) {
		ffi_nomem("a list");
		return NULL;
	}
	ffi_object_init(s, type, sequence_delete);
	/* C++ calls it before it makes room for more, whatever the capacity is. */
	s->data_deleter = items_free;
	if (ffi_sequence_reserve(s, count))
		goto drop;
	for (; s->size < count; s->size++)
		if (ffi_own(&items[s->size], &s->data[s->size]))
			goto drop;
	return s;

drop:
	ffi_unref(s);
	return NULL;
}
