/* SPDX-License-Identifier: MIT */
#ifndef TENON_ARRAY_H
#define TENON_ARRAY_H

/**
 * DOC: shapes, arrays and small maps
 *
 * Immutable containers with the layouts of tvm-ffi. Items are read through the data pointer: how
 * far behind the header they lie differs from version to version.
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
 * @size: how many
 */
struct tenon_shape {
	struct tenon_object object;
	const int64_t *data;
	size_t size;
};

/**
 * struct tenon_array - a counted list of owned values
 * @object: header; type TENON_TYPE_ARRAY (or TENON_TYPE_LIST, of foreign code)
 * @data: the items
 * @size: how many
 * @capacity: how many have room
 * @data_deleter: frees @data where it is a block of its own; NULL where it is part of this one.
 *	Missing in objects of tvm-ffi 0.1.8 and older: never read it in a foreign object.
 */
struct tenon_array {
	struct tenon_object object;
	struct tenon_value *data;
	int64_t size;
	int64_t capacity;
	void (*data_deleter)(void *data);
};

/* the bit of tenon_map.slots that says the pairs lie side by side, in insertion order */
#define TENON_MAP_SMALL (UINT64_C(1) << 63)
/* how many pairs a map made here can have: more would need the hash of C++'s std::string */
#define TENON_MAP_MOST 4

/**
 * struct tenon_map - a counted dictionary of owned values
 * @object: header; type TENON_TYPE_MAP (or TENON_TYPE_DICT, of foreign code)
 * @data: with TENON_MAP_SMALL set in @slots, @size pairs of key and value; else a hash table
 * @size: number of pairs
 * @slots: number of slots, and TENON_MAP_SMALL
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
 * @count: number of dimensions; 0 is a scalar's
 * @out: receives the shape with one reference
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_shape_create(const int64_t *extents, size_t count, struct tenon_shape **out);

/**
 * tenon_array_create - make an array
 * @items: @count values, views or owned; each is copied as tenon_value_own() does
 * @count: how many
 * @out: receives the array with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_TYPE for an item that cannot be owned.
 */
TENON_API int tenon_array_create(const struct tenon_value *items, size_t count,
				 struct tenon_array **out);

/**
 * tenon_map_create - make a map of at most TENON_MAP_MOST pairs
 * @pairs: 2 * @count values: key, value, key, value …; copied as tenon_value_own() does. A key that
 *	comes twice keeps the later value.
 * @count: number of pairs
 * @out: receives the map with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_TYPE; -TENON_E_OVERFLOW for too many pairs.
 */
TENON_API int tenon_map_create(const struct tenon_value *pairs, size_t count,
			       struct tenon_map **out);

/**
 * tenon_map_next - walk over a map, made here or by foreign code
 * @map: the map
 * @cursor: NULL at first; afterwards what the last call returned
 * @key: receives the key, borrowed
 * @value: receives the value, borrowed
 *
 * Return: an opaque position to go on from; NULL after the last pair.
 */
TENON_API const void *tenon_map_next(const struct tenon_map *map, const void *cursor,
				     const struct tenon_value **key,
				     const struct tenon_value **value);

/**
 * tenon_map_find - look a key up by content
 * @map: the map
 * @key: the key
 *
 * Return: the value, borrowed; NULL when the key is not there.
 */
TENON_API const struct tenon_value *tenon_map_find(const struct tenon_map *map,
						   const struct tenon_value *key);

#ifdef __cplusplus
}
#endif

#endif /* TENON_ARRAY_H */
