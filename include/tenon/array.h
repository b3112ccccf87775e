/* SPDX-License-Identifier: MIT */
#ifndef TENON_ARRAY_H
#define TENON_ARRAY_H

/**
 * DOC: shapes, arrays and small maps
 *
 * Immutable containers with the layouts of tvm-ffi. Read items through the data pointer: their
 * offset from the header differs between versions of tvm-ffi.
 */

#include <tenon/export.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_shape - a counted list of extents
 * @object: header; type TENON_TYPE_SHAPE
 * @data: the extents, in elements
 * @size: number of extents
 */
struct tenon_shape {
	struct tenon_object object;
	const int64_t *data;
	size_t size;
};

/**
 * struct tenon_array - a counted list of owned values
 * @object: header; type TENON_TYPE_ARRAY, or TENON_TYPE_LIST from foreign code
 * @data: the items
 * @size: number of items
 * @capacity: number of items that @data has room for
 * @data_deleter: frees @data when it was allocated separately; else NULL. Objects of tvm-ffi 0.1.8
 *	and older lack this field: never read it from a foreign object.
 */
struct tenon_array {
	struct tenon_object object;
	struct tenon_value *data;
	int64_t size;
	int64_t capacity;
	void (*data_deleter)(void *data);
};

/* tenon_map.slots: the pairs are an array in insertion order */
#define TENON_MAP_SMALL (UINT64_C(1) << 63)
/* most pairs in a map created here; a larger one would need the hash of C++'s std::string */
#define TENON_MAP_MOST 4

/**
 * struct tenon_map - a counted dictionary of owned values
 * @object: header; type TENON_TYPE_MAP, or TENON_TYPE_DICT from foreign code
 * @data: @size pairs of key and value if TENON_MAP_SMALL is set in @slots, else a hash table
 * @size: number of pairs
 * @slots: number of slots, or'ed with TENON_MAP_SMALL
 * @data_deleter: as in struct tenon_array
 */
struct tenon_map {
	struct tenon_object object;
	void *data;
	uint64_t size;
	uint64_t slots;
	void (*data_deleter)(void *data);
};

/**
 * tenon_shape_create - make a shape
 * @extents: @count extents, copied
 * @count: number of dimensions; 0 for a scalar
 * @out: receives the shape with one reference
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_shape_create(const int64_t *extents, size_t count, struct tenon_shape **out);

/**
 * tenon_array_create - make an array
 * @items: @count values, views or owned; each is copied as tenon_value_own() does
 * @count: number of items
 * @out: receives the array with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_TYPE for an item that cannot be owned.
 */
TENON_API int tenon_array_create(const struct tenon_value *items, size_t count,
				 struct tenon_array **out);

/**
 * tenon_map_create - make a map of at most TENON_MAP_MOST pairs
 * @pairs: 2 * @count values: key, value, key, value …; copied as tenon_value_own() does. Of
 *	equal keys the last one wins.
 * @count: number of pairs
 * @out: receives the map with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_TYPE; -TENON_E_OVERFLOW for too many pairs.
 */
TENON_API int tenon_map_create(const struct tenon_value *pairs, size_t count,
			       struct tenon_map **out);

/**
 * tenon_map_next - iterate over a map, created here or by foreign code
 * @map: the map
 * @cursor: NULL for the first pair; then the result of the previous call
 * @key: receives the key, borrowed
 * @value: receives the value, borrowed
 *
 * Return: an opaque position for the next call; NULL after the last pair.
 */
TENON_API const void *tenon_map_next(const struct tenon_map *map, const void *cursor,
				     const struct tenon_value **key,
				     const struct tenon_value **value);

/**
 * tenon_map_find - look up a key by value
 * @map: the map
 * @key: the key
 *
 * Return: the value, borrowed; NULL when the map lacks the key.
 */
TENON_API const struct tenon_value *tenon_map_find(const struct tenon_map *map,
						   const struct tenon_value *key);

#ifdef __cplusplus
}
#endif

#endif /* TENON_ARRAY_H */
