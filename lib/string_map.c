/* SPDX-License-Identifier: MIT */
/* Hash strings, probe slots, and grow the table. */
#include "lib/string_map.h"

#include "lib/brief_errors.h"
#include "lib/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define HASH_ODD   UINT64_C(0xd6e8feb86659fd93)
#define HASH_OTHER UINT64_C(0xa0f2ec75a1fe1575)

/* Multiply and xor the halves of the product, so that every bit of both factors counts. */
static uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	const uint64_t left = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	const uint64_t right = (a & UINT32_MAX) * (b >> 32) + (left & UINT32_MAX);
	const uint64_t high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);

	return (right << 32 | (low & UINT32_MAX)) ^ high;
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
 * Reads of the last bytes overlap those before them, so no length needs a loop over single bytes. Both factors of each
 * product have the seed, so no bytes of a name make one 0. One has it rotated: with the same seed in both, a name whose words
 * make the factors change places would have the same hash, whatever the seed. By one bit, since a seed may have 32 bits.
 */
inline uint64_t string_hash_seeded(struct tenon_slice s, uint64_t seed)
{
	const uint64_t odd = HASH_ODD ^ (seed >> 1 | seed << 63);
	uint64_t h = s.size ^ HASH_OTHER ^ seed, a = 0, b = 0;
	const char *p = s.data;
	size_t left = s.size;

	for (; left > 16; left -= 16, p += 16)
		h = fold(load(p, 8) ^ h, load(p + 8, 8) ^ odd);
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
	return fold(fold(a ^ odd, b ^ h), HASH_OTHER);
}

/* 0 until it is made; as wide as every processor loads at once */
static size_t process_seed;

/*
 * Of the random bytes that the kernel gives each process: two threads that make the seed at once make the same. The bytes
 * are also what the C library protects the stack with, and a hash of all of them does not tell any.
 */
static __attribute__((cold)) size_t make_seed(void)
{
	const char *bytes = (const char *)(uintptr_t)getauxval(AT_RANDOM);
	const size_t seed =
		(size_t)string_hash_seeded((struct tenon_slice){ bytes, bytes ? 16 : 0 }, 0);

	__atomic_store_n(&process_seed, seed, __ATOMIC_RELAXED);
	return seed;
}

inline uint64_t string_hash_seed(void)
{
	const size_t seed = __atomic_load_n(&process_seed, __ATOMIC_RELAXED);

	return seed ? seed : make_seed();
}

uint64_t string_hash(struct tenon_slice s)
{
	return string_hash_seeded(s, string_hash_seed());
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
	struct string_map fresh = *m;
	const struct string_map_entry *e;
	size_t left;

	if (!fresh.slots)
		fresh.slots = 8;
	while (fresh.slots / 4 * 3 <= count)
		fresh.slots *= 2;
	if (fresh.slots == m->slots)
		return 0;
	fresh.entries = take_entries(m->memory, fresh.slots);
	if (!fresh.entries)
		return tenon_error(-TENON_E_NOMEM, "no memory for a map of %zu names", count);
	for (e = m->entries, left = m->slots; left; left--, e++)
		if (e->key.data)
			*map_probe(&fresh, e->key, e->hash) = *e;
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
