/* SPDX-License-Identifier: MIT */
/* Global functions for maps and dicts. */
#include <stdlib.h>

#include "runtime/ffi/map.h"
#include "runtime/ffi/sentinels.h"

static int make_pairs(const char *function, int32_t type, const struct tenon_value *args,
		      int32_t count, struct tenon_value *ret)
{
	struct tenon_map *m;
	int32_t i;

	if (count % 2)
		return ffi_raise("ValueError", "%s: expected keys and values, found %d arguments",
				 function, count);
	m = ffi_map_create(type);
	if (!m)
		return -1;
	for (i = 0; i < count; i += 2) {
		if (ffi_map_set(m, &args[i], &args[i + 1])) {
			ffi_unref(m);
			return -1;
		}
	}
	*ret = tenon_arg_object(m);
	return 0;
}

static int get_pairs(const char *function, const struct tenon_value *args, int32_t count,
		     int32_t arguments, int32_t type, struct tenon_map **m)
{
	return ffi_count(function, count, arguments, arguments)
		       ? -1
		       : ffi_arg_object(function, args, 0, type, m);
}

enum lookup { LOOKUP_ITEM, LOOKUP_OR_MISSING, LOOKUP_COUNT };

static int look_up(const char *function, int32_t type, enum lookup how,
		   const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_value key, *found;
	struct tenon_map *m;
	int err = 0;

	if (get_pairs(function, args, count, 2, type, &m) || ffi_own(&args[1], &key))
		return -1;
	found = ffi_map_find(m, &key);
	if (how == LOOKUP_COUNT)
		*ret = tenon_arg_int(found != NULL);
	else if (found)
		*ret = ffi_copy(found);
	else if (how == LOOKUP_OR_MISSING)
		*ret = ffi_sentinel(SENTINEL_MISSING);
	else
		err = ffi_raise("KeyError", "key is not in Map");
	ffi_release(&key);
	return err;
}

/* State of an iterator. Its argument: 0 returns the key, 1 the value, 2 advances. */
struct walk {
	struct tenon_map *map;
	struct ffi_map_at at;
	struct tenon_value key;
	struct tenon_value value;
	bool more;
};

enum { WALK_KEY = 0, WALK_VALUE = 1 };

static void walk_free(void *self)
{
	struct walk *w = self;

	ffi_release(&w->key);
	ffi_release(&w->value);
	ffi_unref(w->map);
	free(w);
}

/* Keep the pair: it may leave the map before it is asked for. */
static void walk_next(struct walk *w)
{
	const struct tenon_value *key, *value;
	struct tenon_value old[2] = { w->key, w->value };

	w->more = ffi_map_next(w->map, &w->at, &key, &value);
	w->key = w->more ? ffi_copy(key) : tenon_arg_none();
	w->value = w->more ? ffi_copy(value) : tenon_arg_none();
	ffi_release(&old[0]);
	ffi_release(&old[1]);
}

static PACKED_CALL(walk_call)
{
	struct walk *w = self;
	int64_t asked;

	if (ffi_count("map iterator", count, 1, 1) || ffi_arg_int("map iterator", args, 0, &asked))
		return -1;
	if (asked == WALK_KEY) {
		*ret = ffi_copy(&w->key);
	} else if (asked == WALK_VALUE) {
		*ret = ffi_copy(&w->value);
	} else {
		if (w->more)
			walk_next(w);
		*ret = tenon_arg_bool(w->more);
	}
	return 0;
}

static int iterate(const char *function, int32_t type, const struct tenon_value *args,
		   int32_t count, struct tenon_value *ret)
{
	struct tenon_map *m;
	struct walk *w;

	if (get_pairs(function, args, count, 1, type, &m))
		return -1;
	w = calloc(1, sizeof(*w));
	if (!w)
		return ffi_nomem("a map iterator");
	ffi_ref(m);
	w->map = m;
	walk_next(w);
	if (!ffi_function(w, walk_call, walk_free, ret))
		return 0;
	walk_free(w);
	return -1;
}

static int pairs_size(const char *function, int32_t type, const struct tenon_value *args,
		      int32_t count, struct tenon_value *ret)
{
	struct tenon_map *m;

	if (get_pairs(function, args, count, 1, type, &m))
		return -1;
	*ret = tenon_arg_int((int64_t)m->size);
	return 0;
}

#define BOTH(map_call, dict_call, body, name, ...)                                                 \
	static PACKED_CALL(map_call)                                                               \
	{                                                                                          \
		return body("ffi.Map" name, TENON_TYPE_MAP, ##__VA_ARGS__, args, count, ret);      \
	}                                                                                          \
	static PACKED_CALL(dict_call)                                                              \
	{                                                                                          \
		return body("ffi.Dict" name, TENON_TYPE_DICT, ##__VA_ARGS__, args, count, ret);    \
	}

BOTH(make_map, make_dict, make_pairs, "")
BOTH(map_size, dict_size, pairs_size, "Size")
BOTH(map_item, dict_item, look_up, "GetItem", LOOKUP_ITEM)
BOTH(map_item_or_missing, dict_item_or_missing, look_up, "GetItemOrMissing", LOOKUP_OR_MISSING)
BOTH(map_count, dict_count, look_up, "Count", LOOKUP_COUNT)
BOTH(map_iterate, dict_iterate, iterate, "ForwardIterFunctor")

static PACKED_CALL(dict_set)
{
	struct tenon_map *m;
	*ret = tenon_arg_none();
	if (get_pairs("ffi.DictSetItem", args, count, 3, TENON_TYPE_DICT, &m))
		return -1;
	return ffi_map_set(m, &args[1], &args[2]);
}

static PACKED_CALL(dict_erase)
{
	struct tenon_value key;
	struct tenon_map *m;
	*ret = tenon_arg_none();
	if (get_pairs("ffi.DictErase", args, count, 2, TENON_TYPE_DICT, &m) ||
	    ffi_own(&args[1], &key))
		return -1;
	ffi_map_erase(m, &key);
	ffi_release(&key);
	return 0;
}

static PACKED_CALL(dict_clear)
{
	struct tenon_map *m;
	*ret = tenon_arg_none();
	if (get_pairs("ffi.DictClear", args, count, 1, TENON_TYPE_DICT, &m))
		return -1;
	ffi_map_clear(m);
	return 0;
}

const struct global_function map_functions_globals[] = {
	{ "ffi.Dict", make_dict },
	{ "ffi.DictClear", dict_clear },
	{ "ffi.DictCount", dict_count },
	{ "ffi.DictErase", dict_erase },
	{ "ffi.DictForwardIterFunctor", dict_iterate },
	{ "ffi.DictGetItem", dict_item },
	{ "ffi.DictGetItemOrMissing", dict_item_or_missing },
	{ "ffi.DictSetItem", dict_set },
	{ "ffi.DictSize", dict_size },
	{ "ffi.Map", make_map },
	{ "ffi.MapCount", map_count },
	{ "ffi.MapForwardIterFunctor", map_iterate },
	{ "ffi.MapGetItem", map_item },
	{ "ffi.MapGetItemOrMissing", map_item_or_missing },
	{ "ffi.MapSize", map_size },
	{ NULL, NULL },
};
