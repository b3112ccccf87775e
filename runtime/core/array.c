/* SPDX-License-Identifier: MIT */
/* Arrays, shapes and maps: immutable containers of values. */
#include <stdlib.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/core/array_object.h"
#include "runtime/core/map_object.h"
#include "runtime/core/nested_delete.h"

static void block_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

static void values_delete(void *self, struct tenon_value *values, uint64_t count, int flags)
{
	uint64_t i;

	if (flags & TENON_DELETE_CONTENT) {
		if (nested_any(values, count) && nested_delete(self, flags))
			return;
		for (i = 0; i < count; i++)
			tenon_value_release(&values[i]);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

static void array_delete(void *self, int flags)
{
	struct tenon_array *a = self;

	values_delete(a, a->data, (uint64_t)a->size, flags);
}

static void map_delete(void *self, int flags)
{
	struct tenon_map *m = self;

	values_delete(m, m->data, 2 * m->size, flags);
}

int tenon_shape_create(const int64_t *extents, size_t count, struct tenon_shape **out)
{
	struct tenon_shape *s;
	int64_t *data;

	*out = NULL;
	if (count > (SIZE_MAX - sizeof(*s)) / sizeof(*data))
		return tenon_error(-TENON_E_OVERFLOW, "a shape of %zu dimensions", count);
	s = malloc(sizeof(*s) + count * sizeof(*data));
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a shape of %zu dimensions",
				   count);
	tenon_object_init(&s->object, TENON_TYPE_SHAPE, block_delete);
	data = (int64_t *)(s + 1);
	if (count)
		memcpy(data, extents, count * sizeof(*data));
	s->data = data;
	s->size = count;
	*out = s;
	return 0;
}

int tenon_array_create(const struct tenon_value *items, size_t count, struct tenon_array **out)
{
	struct tenon_array *a;

	*out = NULL;
	if (count > (SIZE_MAX / 2 - sizeof(*a)) / sizeof(*items))
		return tenon_error(-TENON_E_OVERFLOW, "an array of %zu items", count);
	a = malloc(sizeof(*a) + count * sizeof(*items));
	if (!a)
		return tenon_error(-TENON_E_NOMEM, "no memory for an array of %zu items", count);
	tenon_object_init(&a->object, TENON_TYPE_ARRAY, array_delete);
	return array_fill(a, items, count, out);
}

/* Replace the value of an equal key, or append the pair. */
static int map_put(struct tenon_map *m, const struct tenon_value *pair)
{
	struct tenon_value *v = m->data, owned;
	uint64_t i;
	int err;

	for (i = 0; i < m->size; i++)
		if (tenon_value_equal(&v[2 * i], &pair[0]))
			break;
	err = tenon_value_own(&pair[1], &owned);
	if (err)
		return err;
	if (i < m->size) {
		tenon_value_release(&v[2 * i + 1]);
		v[2 * i + 1] = owned;
		return 0;
	}
	err = tenon_value_own(&pair[0], &v[2 * i]);
	if (err) {
		tenon_value_release(&owned);
		return err;
	}
	v[2 * i + 1] = owned;
	m->size++;
	return 0;
}

int tenon_map_create(const struct tenon_value *pairs, size_t count, struct tenon_map **out)
{
	*out = NULL;
	if (count > TENON_MAP_MOST)
		return tenon_error(-TENON_E_OVERFLOW,
				   "a map of %zu pairs; at most %d can be made here", count,
				   TENON_MAP_MOST);
	return map_create_long(pairs, count, out);
}

int map_create_long(const struct tenon_value *pairs, size_t count, struct tenon_map **out)
{
	size_t room = count > TENON_MAP_MOST ? count : TENON_MAP_MOST, i;
	struct tenon_map *m;
	int err;

	*out = NULL;
	m = malloc(sizeof(*m) + 2 * room * sizeof(*pairs));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a map");
	tenon_object_init(&m->object, TENON_TYPE_MAP, map_delete);
	m->data = m + 1;
	m->size = 0;
	m->slots = TENON_MAP_SMALL | room;
	m->data_deleter = NULL;
	for (i = 0; i < count; i++) {
		err = map_put(m, &pairs[2 * i]);
		if (err) {
			tenon_object_unref(m);
			return err;
		}
	}
	*out = m;
	return 0;
}

/* A foreign map with a hash table: blocks of 16 metadata bytes and 16 items, linked in order. */
struct dense_map {
	struct tenon_map base;
	uint32_t fib_shift;
	uint64_t head; /* aligned to 8 behind fib_shift */
	uint64_t tail;
};

struct dense_item {
	struct tenon_value key;
	struct tenon_value value;
	uint64_t previous;
	uint64_t next;
};

#define DENSE_BLOCK	  16
#define DENSE_BLOCK_BYTES (DENSE_BLOCK + DENSE_BLOCK * sizeof(struct dense_item))

static const struct dense_item *dense_at(const struct tenon_map *map, uint64_t at)
{
	const char *block;

	if (at >= (map->slots & ~TENON_MAP_SMALL) + 1)
		return NULL;
	block = (const char *)map->data + at / DENSE_BLOCK * DENSE_BLOCK_BYTES;
	return (const struct dense_item *)(const void *)(block + DENSE_BLOCK) + at % DENSE_BLOCK;
}

static const void *dense_next(const struct tenon_map *map, const struct dense_item *at)
{
	const struct dense_map *d = (const struct dense_map *)map;

	if (!map->size)
		return NULL;
	return dense_at(map, at ? at->next : d->head);
}

const void *tenon_map_next(const struct tenon_map *map, const void *cursor,
			   const struct tenon_value **key, const struct tenon_value **value)
{
	const struct tenon_value *pair, *first = map->data;
	const struct dense_item *item;

	if (map->slots & TENON_MAP_SMALL) {
		pair = cursor ? (const struct tenon_value *)cursor + 2 : first;
		if (!map->size || pair >= first + 2 * map->size)
			return NULL;
		*key = pair;
		*value = pair + 1;
		return pair;
	}
	item = dense_next(map, cursor);
	if (!item)
		return NULL;
	*key = &item->key;
	*value = &item->value;
	return item;
}

const struct tenon_value *tenon_map_find(const struct tenon_map *map, const struct tenon_value *key)
{
	const struct tenon_value *k, *v;
	const void *at = NULL;

	while ((at = tenon_map_next(map, at, &k, &v)))
		if (tenon_value_equal(k, key))
			return v;
	return NULL;
}
