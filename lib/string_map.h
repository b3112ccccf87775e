/* SPDX-License-Identifier: MIT */
/*
 * Hash map of strings to pointers, with open addressing. Keys are slices whose bytes must outlive
 * the map. Not locked: a writer excludes all other access.
 */
#ifndef LIB_STRING_MAP_H
#define LIB_STRING_MAP_H

#include <tenon/error.h>
#include <tenon/string.h>

#include "lib/plugin_api.h"

struct string_map_entry {
	struct tenon_slice key; /* data NULL: free */
	uint64_t hash;
	void *value;
};

/* where the entries are: malloc(), or memory of a model (lib/heap.h), for as long as it is open or for a call */
enum string_map_memory {
	STRING_MAP_MALLOC,
	STRING_MAP_PERSISTENT,
	STRING_MAP_TEMPORARY,
};

struct string_map {
	struct string_map_entry *entries;
	size_t slots; /* a power of two, or 0 */
	size_t used;
	enum string_map_memory memory;
};

/* clang-format off */
#define STRING_MAP_INIT { 0, 0, 0, STRING_MAP_MALLOC }
/* clang-format on */

/* Hash of all bytes, with a seed of the process: a file cannot have many names of one hash. Not for what leaves the process. */
uint64_t string_hash(struct tenon_slice s);

/* The seed, which is random. */
uint64_t string_hash_seed(void);

/* Hash of all bytes. With seed 0 it depends on the byte order, not on the process. */
uint64_t string_hash_seeded(struct tenon_slice s, uint64_t seed);

void string_map_fini(struct string_map *m) TO_PLUGINS(string_map_fini);

/* Make room for @count keys at once. 0 or -TENON_E_NOMEM. */
int string_map_reserve(struct string_map *m, size_t count) TO_PLUGINS(string_map_reserve);

/* Return the slot of @key, created with value NULL if it is new; NULL when memory is out. */
void **string_map_slot(struct string_map *m, struct tenon_slice key) TO_PLUGINS(string_map_slot);

/* Find the value of @key; NULL for none. */
void *string_map_get(const struct string_map *m, struct tenon_slice key) TO_PLUGINS(string_map_get);

#endif /* LIB_STRING_MAP_H */
