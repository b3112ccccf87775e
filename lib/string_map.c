/* SPDX-License-Identifier: MIT */
/* Hash strings, probe slots, and grow the table. */
#include "lib/string_map.h"

#include "lib/brief_errors.h"
#include "lib/heap.h"

#include <stdlib.h>
#include <string.h>

#define HASH_ODD   UINT64_C(0xd6e8feb86659fd93)
#define HASH_OTHER UINT64_C(0xa0f2ec75a1fe1575)

/* Multiply and xor the halves of the product, so that every bit of both factors counts. */
static uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	a = (a ^ (a >> 32)) * b;
	return a ^ (a >> 29);
#endif
}

static uint64_t load(const char *p, size_t size)
{
	uint64_t wide;
	uint32_t half;

	if (size == 8) {
		memcpy(&wide, p, 8);
		return wide;
	}
	memcpy(&half, p, 4);
	return half;
}

/*
 * Reads of the last bytes overlap those before them, so no length needs a loop over single bytes.
 */
uint64_t string_hash(struct tenon_slice s)
{
	uint64_t h = s.size ^ HASH_OTHER, a = 0, b = 0;
	const char *p = s.data;
	size_t left = s.size;

	for (; left > 16; left -= 16, p += 16)
		h = fold(load(p, 8) ^ h, load(p + 8, 8) ^ HASH_ODD);
	if (left >= 8) {
		a = load(p, 8);
		b = load(p + left - 8, 8);
	} else if (left >= 4) {
		a = load(p, 4);
		b = load(p + left - 4, 4);
	} else if (left) {
		a = (uint64_t)(unsigned char)p[0] << 16 |
		    (uint64_t)(unsigned char)p[left / 2] << 8 | (unsigned char)p[left - 1];
	}
	return fold(fold(a ^ HASH_ODD, b ^ h), HASH_OTHER);
}

void string_map_fini(struct string_map *m)
{
	heap_free(m->entries);
	memset(m, 0, sizeof(*m));
}

static struct string_map_entry *map_probe(const struct string_map *m, struct tenon_slice key,
					  uint64_t hash)
{
	size_t at = hash & (m->slots - 1);
	struct string_map_entry *e;

	for (;; at = (at + 1) & (m->slots - 1)) {
		e = &m->entries[at];
		if (!e->key.data || (e->hash == hash && tenon_slice_equal(e->key, key)))
			return e;
	}
}

static struct string_map_entry *take_entries(enum string_map_memory memory, size_t slots)
{
	struct string_map_entry *entries;

	if (!HEAP_IN_BUILD || memory == STRING_MAP_MALLOC)
		return calloc(slots, sizeof(*entries));
	if (memory == STRING_MAP_PERSISTENT)
		return heap_zeroed(slots, sizeof(*entries), "map of names");
	entries = heap_take(HEAP_TEMPORARY, _Alignof(struct string_map_entry),
			    slots * sizeof(*entries), "map of names");
	return entries ? memset(entries, 0, slots * sizeof(*entries)) : NULL;
}

int string_map_reserve(struct string_map *m, size_t count)
{
	struct string_map fresh = STRING_MAP_INIT;
	size_t i;

	if (count < m->slots / 4 * 3)
		return 0;
	fresh.slots = m->slots ? m->slots : 8;
	while (fresh.slots / 4 * 3 <= count)
		fresh.slots *= 2;
	fresh.memory = m->memory;
	fresh.entries = take_entries(m->memory, fresh.slots);
	if (!fresh.entries)
		return tenon_error(-TENON_E_NOMEM, "no memory for a map of %zu names", count);
	for (i = 0; i < m->slots; i++)
		if (m->entries[i].key.data)
			*map_probe(&fresh, m->entries[i].key, m->entries[i].hash) = m->entries[i];
	fresh.used = m->used;
	heap_free(m->entries);
	*m = fresh;
	return 0;
}

void **string_map_slot(struct string_map *m, struct tenon_slice key)
{
	struct string_map_entry *e;
	uint64_t hash;

	if (string_map_reserve(m, m->used + 1))
		return NULL;
	if (!key.data)
		key.data = "";
	hash = string_hash(key);
	e = map_probe(m, key, hash);
	if (!e->key.data) {
		e->key = key;
		e->hash = hash;
		m->used++;
	}
	return &e->value;
}

void *string_map_get(const struct string_map *m, struct tenon_slice key)
{
	if (!m->slots)
		return NULL;
	return map_probe(m, key, string_hash(key))->value;
}
