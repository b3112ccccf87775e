/* SPDX-License-Identifier: MIT */
/* Hash table of handles by their number, emptied from the newest to the oldest. */
#include "rpc/server/handle_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/object.h>

#include "lib/brief_errors.h"

/*
 * Clients take data handles for addresses and check their alignment. Steps of 64 leave a 32-bit
 * client, which keeps 32 bits, room for 67 million handles.
 */
#define STEP 64

/* most handles of a session */
#define HANDLES_MOST (1U << 20)

static size_t home(const struct handle_table *t, uint64_t number)
{
	return (size_t)(number / STEP) & (t->room - 1);
}

static struct handle *slot_of(const struct handle_table *t, uint64_t number)
{
	size_t i = home(t, number);

	while (t->slots[i].number && t->slots[i].number != number)
		i = (i + 1) & (t->room - 1);
	return &t->slots[i];
}

static int grow(struct handle_table *t)
{
	struct handle_table new = { .room = t->room ? 2 * t->room : 32 };
	size_t i;

	if (t->count >= HANDLES_MOST)
		return tenon_error(-TENON_E_NOMEM,
				   "the session has %zu handles, and may have no more", t->count);
	new.slots = calloc(new.room, sizeof(*new.slots));
	if (!new.slots)
		return tenon_error(-TENON_E_NOMEM, "no memory for handles");
	for (i = 0; i < t->room; i++)
		if (t->slots[i].number)
			*slot_of(&new, t->slots[i].number) = t->slots[i];
	free(t->slots);
	t->slots = new.slots;
	t->room = new.room;
	return 0;
}

void handle_table_set(struct handle_table *t, uint64_t n)
{
	if (n * STEP > t->last)
		t->last = n * STEP;
}

int handle_add(struct handle_table *t, const struct handle *entry, uint64_t *number)
{
	struct handle *slot;
	int err;

	*number = 0;
	if (2 * (t->count + 1) > t->room) {
		err = grow(t);
		if (err)
			return err;
	}
	t->last += STEP;
	slot = slot_of(t, t->last);
	*slot = *entry;
	slot->number = t->last;
	t->count++;
	*number = t->last;
	return 0;
}

static const char *kinds_name(uint32_t kinds)
{
	switch (kinds) {
	case HANDLE_FUNCTION:
		return "function";
	case HANDLE_MODULE:
		return "module";
	case HANDLE_MEMORY:
		return "allocation";
	case HANDLE_DATA:
		return "tensor";
	case HANDLE_STREAM:
		return "stream";
	default:
		return "object";
	}
}

int handle_find(struct handle_table *t, uint64_t number, uint32_t kinds, struct handle **out)
{
	struct handle *slot = t->room && number ? slot_of(t, number) : NULL;

	*out = NULL;
	if (!slot || !slot->number)
		return tenon_error(-TENON_E_VALUE,
				   "0x%" PRIx64 " is no handle of this session, or was freed",
				   number);
	if (!(slot->kind & kinds))
		return tenon_error(-TENON_E_VALUE, "handle 0x%" PRIx64 " is no %s", number,
				   kinds_name(kinds));
	*out = slot;
	return 0;
}

/* Move entries behind a freed slot back, so that probing still finds them. */
static void close_gap(struct handle_table *t, size_t gap)
{
	size_t i = gap, mask = t->room - 1;

	for (;;) {
		i = (i + 1) & mask;
		if (!t->slots[i].number)
			break;
		if (((i - home(t, t->slots[i].number)) & mask) >= ((i - gap) & mask)) {
			t->slots[gap] = t->slots[i];
			gap = i;
		}
	}
	memset(&t->slots[gap], 0, sizeof(t->slots[gap]));
}

int handle_free(struct handle_table *t, uint64_t number, uint32_t kinds)
{
	struct handle *slot;
	void *object;
	int err = handle_find(t, number, kinds, &slot);

	if (err)
		return err;
	object = slot->object;
	close_gap(t, (size_t)(slot - t->slots));
	t->count--;
	tenon_object_unref(object);
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct handle *x = a, *y = b;

	return x->number < y->number ? 1 : x->number > y->number ? -1 : 0;
}

void handle_table_fini(struct handle_table *t)
{
	size_t i;

	if (t->room)
		qsort(t->slots, t->room, sizeof(*t->slots), newest_first);
	for (i = 0; i < t->count; i++)
		tenon_object_unref(t->slots[i].object);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}
