/* SPDX-License-Identifier: MIT */
/*
 * Maps and dicts of any size, with the two layouts of tvm-ffi: up to four pairs in a row, more in a
 * hash table whose items are linked in the order of insertion. C++ code reads and changes them in
 * place, so the functions here work on maps of its making as well.
 */
#ifndef RUNTIME_FFI_MAP_H
#define RUNTIME_FFI_MAP_H

#include "runtime/ffi/ffi.h"

/*
 * Make an empty map; TENON_TYPE_MAP or TENON_TYPE_DICT.
 *
 * Return: the map with one reference; NULL with an error raised.
 */
struct tenon_map *ffi_map_create(int32_t type);

/* Set the value of a key; both are copied. Return: 0; -1 with an error raised. */
int ffi_map_set(struct tenon_map *map, const struct tenon_value *key,
		const struct tenon_value *value);

/* Find a key. Return: its value, borrowed; NULL if the map lacks it. */
struct tenon_value *ffi_map_find(const struct tenon_map *map, const struct tenon_value *key);

/* Remove a key. Return: false if the map lacks it. */
bool ffi_map_erase(struct tenon_map *map, const struct tenon_value *key);

void ffi_map_clear(struct tenon_map *map);

/*
 * Position of an iteration. A map that changes meanwhile may be seen in part, but a position never
 * leads out of the map's memory.
 */
struct ffi_map_at {
	uint64_t index;
	bool begun;
};

#define FFI_MAP_START                                                                              \
	{                                                                                          \
		0, false                                                                           \
	}

/* Get the next pair, borrowed. Return: false after the last. */
bool ffi_map_next(const struct tenon_map *map, struct ffi_map_at *at,
		  const struct tenon_value **key, const struct tenon_value **value);

#endif /* RUNTIME_FFI_MAP_H */
