/* SPDX-License-Identifier: MIT */
/* Global functions for arrays, lists, maps, dicts and shapes. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/tensor.h>

#include "runtime/ffi/map.h"
#include "runtime/ffi/sentinels.h"
#include "runtime/ffi/sequence.h"

#define CALL(name)                                                                                 \
	static int name(void *self, const struct tenon_value *args, int32_t count,                 \
			struct tenon_value *ret)

static int out_of_bounds(int64_t i, int64_t size)
{
	return ffi_raise("IndexError", "Index %" PRId64 " out of bounds %" PRId64, i, size);
}

/* ---- arrays and lists */

static int make_sequence(int32_t type, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	struct tenon_array *s = ffi_sequence_create(type, args, count);

	*ret = tenon_arg_object(s);
	return s ? 0 : -1;
}

static int get_sequence(const char *function, const struct tenon_value *args, int32_t count,
			int32_t arguments, int32_t type, struct tenon_array **s)
{
	return ffi_count(function, count, arguments, arguments)
		       ? -1
		       : ffi_arg_object(function, args, 0, type, s);
}

static int sequence_item(const char *function, int32_t type, const struct tenon_value *args,
			 int32_t count, struct tenon_value *ret)
{
	struct tenon_array *s;
	int64_t i;

	if (get_sequence(function, args, count, 2, type, &s) || ffi_arg_int(function, args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	*ret = ffi_copy(&s->data[i]);
	return 0;
}

static int sequence_size(const char *function, int32_t type, const struct tenon_value *args,
			 int32_t count, struct tenon_value *ret)
{
	struct tenon_array *s;

	if (get_sequence(function, args, count, 1, type, &s))
		return -1;
	*ret = tenon_arg_int(s->size);
	return 0;
}

static int sequence_contains(const char *function, int32_t type, const struct tenon_value *args,
			     int32_t count, struct tenon_value *ret)
{
	struct tenon_value wanted, item;
	struct tenon_array *s;
	bool found = false;
	int64_t i;

	if (get_sequence(function, args, count, 2, type, &s) || ffi_own(&args[1], &wanted))
		return -1;
	for (i = 0; !found && i < s->size; i++) {
		item = ffi_copy(&s->data[i]); /* a callback may change the list */
		found = ffi_key_equal(&item, &wanted);
		ffi_release(&item);
	}
	ffi_release(&wanted);
	*ret = tenon_arg_bool(found);
	return 0;
}

CALL(make_array)
{
	(void)self;
	return make_sequence(TENON_TYPE_ARRAY, args, count, ret);
}

CALL(array_item)
{
	(void)self;
	return sequence_item("ffi.ArrayGetItem", TENON_TYPE_ARRAY, args, count, ret);
}

CALL(array_size)
{
	(void)self;
	return sequence_size("ffi.ArraySize", TENON_TYPE_ARRAY, args, count, ret);
}

CALL(array_contains)
{
	(void)self;
	return sequence_contains("ffi.ArrayContains", TENON_TYPE_ARRAY, args, count, ret);
}

CALL(make_list)
{
	(void)self;
	return make_sequence(TENON_TYPE_LIST, args, count, ret);
}

CALL(list_item)
{
	(void)self;
	return sequence_item("ffi.ListGetItem", TENON_TYPE_LIST, args, count, ret);
}

CALL(list_size)
{
	(void)self;
	return sequence_size("ffi.ListSize", TENON_TYPE_LIST, args, count, ret);
}

CALL(list_contains)
{
	(void)self;
	return sequence_contains("ffi.ListContains", TENON_TYPE_LIST, args, count, ret);
}

CALL(list_set)
{
	struct tenon_value fresh, old;
	struct tenon_array *s;
	int64_t i;

	(void)self;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListSetItem", args, count, 3, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListSetItem", args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	if (ffi_own(&args[2], &fresh))
		return -1;
	old = s->data[i];
	s->data[i] = fresh;
	ffi_release(&old);
	return 0;
}

CALL(list_append)
{
	struct tenon_array *s;

	(void)self;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListAppend", args, count, 2, TENON_TYPE_LIST, &s))
		return -1;
	return ffi_sequence_append(s, &args[1]);
}

CALL(list_insert)
{
	struct tenon_array *s;
	int64_t i;

	(void)self;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListInsert", args, count, 3, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListInsert", args, 1, &i))
		return -1;
	if (i < 0 || i > s->size)
		return out_of_bounds(i, s->size);
	return ffi_sequence_replace(s, i, i, &args[2], 1);
}

CALL(list_pop)
{
	struct tenon_array *s;
	int64_t i;

	(void)self;
	if (get_sequence("ffi.ListPop", args, count, 2, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListPop", args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	*ret = ffi_copy(&s->data[i]);
	if (!ffi_sequence_replace(s, i, i + 1, NULL, 0))
		return 0;
	ffi_release(ret);
	return -1;
}

CALL(list_erase)
{
	struct tenon_array *s;
	int64_t i;

	(void)self;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListErase", args, count, 2, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListErase", args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	return ffi_sequence_replace(s, i, i + 1, NULL, 0);
}

static int list_range(const char *function, const struct tenon_value *args, int32_t count,
		      int32_t arguments, struct tenon_array **s, int64_t *from, int64_t *to)
{
	if (get_sequence(function, args, count, arguments, TENON_TYPE_LIST, s) ||
	    ffi_arg_int(function, args, 1, from) || ffi_arg_int(function, args, 2, to))
		return -1;
	return 0;
}

CALL(list_erase_range)
{
	struct tenon_array *s;
	int64_t from, to;

	(void)self;
	*ret = tenon_arg_none();
	if (list_range("ffi.ListEraseRange", args, count, 3, &s, &from, &to))
		return -1;
	return from == to ? 0 : ffi_sequence_replace(s, from, to, NULL, 0);
}

CALL(list_replace)
{
	struct tenon_array *s;
	struct tenon_object *by;
	int64_t from, to;

	(void)self;
	*ret = tenon_arg_none();
	if (list_range("ffi.ListReplaceSlice", args, count, 4, &s, &from, &to))
		return -1;
	by = ffi_object(&args[3]);
	if (!by || !ffi_is_sequence(by->type))
		return ffi_arg_object("ffi.ListReplaceSlice", args, 3, TENON_TYPE_LIST, &by);
	return ffi_sequence_replace(s, from, to, ((struct tenon_array *)by)->data,
				    ((struct tenon_array *)by)->size);
}

CALL(list_reverse)
{
	struct tenon_value item;
	struct tenon_array *s;
	int64_t i;

	(void)self;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListReverse", args, count, 1, TENON_TYPE_LIST, &s))
		return -1;
	for (i = 0; i < s->size / 2; i++) {
		item = s->data[i];
		s->data[i] = s->data[s->size - 1 - i];
		s->data[s->size - 1 - i] = item;
	}
	return 0;
}

CALL(list_clear)
{
	struct tenon_array *s;

	(void)self;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListClear", args, count, 1, TENON_TYPE_LIST, &s))
		return -1;
	return ffi_sequence_replace(s, 0, s->size, NULL, 0);
}

CALL(list_reserve)
{
	struct tenon_array *s;
	int64_t n;

	(void)self;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListReserve", args, count, 2, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListReserve", args, 1, &n))
		return -1;
	return n < 0 ? 0 : ffi_sequence_reserve(s, n);
}

/* ---- maps and dicts */

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

CALL(walk_call)
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
	CALL(map_call)                                                                             \
	{                                                                                          \
		(void)self;                                                                        \
		return body("ffi.Map" name, TENON_TYPE_MAP, ##__VA_ARGS__, args, count, ret);      \
	}                                                                                          \
	CALL(dict_call)                                                                            \
	{                                                                                          \
		(void)self;                                                                        \
		return body("ffi.Dict" name, TENON_TYPE_DICT, ##__VA_ARGS__, args, count, ret);    \
	}

BOTH(make_map, make_dict, make_pairs, "")
BOTH(map_size, dict_size, pairs_size, "Size")
BOTH(map_item, dict_item, look_up, "GetItem", LOOKUP_ITEM)
BOTH(map_item_or_missing, dict_item_or_missing, look_up, "GetItemOrMissing", LOOKUP_OR_MISSING)
BOTH(map_count, dict_count, look_up, "Count", LOOKUP_COUNT)
BOTH(map_iterate, dict_iterate, iterate, "ForwardIterFunctor")

CALL(dict_set)
{
	struct tenon_map *m;

	(void)self;
	*ret = tenon_arg_none();
	if (get_pairs("ffi.DictSetItem", args, count, 3, TENON_TYPE_DICT, &m))
		return -1;
	return ffi_map_set(m, &args[1], &args[2]);
}

CALL(dict_erase)
{
	struct tenon_value key;
	struct tenon_map *m;

	(void)self;
	*ret = tenon_arg_none();
	if (get_pairs("ffi.DictErase", args, count, 2, TENON_TYPE_DICT, &m) ||
	    ffi_own(&args[1], &key))
		return -1;
	ffi_map_erase(m, &key);
	ffi_release(&key);
	return 0;
}

CALL(dict_clear)
{
	struct tenon_map *m;

	(void)self;
	*ret = tenon_arg_none();
	if (get_pairs("ffi.DictClear", args, count, 1, TENON_TYPE_DICT, &m))
		return -1;
	ffi_map_clear(m);
	return 0;
}

/* ---- what contains tensors */

#define NESTED_MOST 1000

/* Find the first tensor outside the processor's memory. Return: false if there is none. */
static bool first_device(const struct tenon_value *v, DLDevice *device, int nested)
{
	const struct tenon_value *key, *value;
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_array *s;
	int64_t i;

	if (nested > NESTED_MOST)
		return false;
	if (v->type == TENON_TYPE_TENSOR) {
		*device = ((const struct tenon_tensor *)v->as.object)->dl.device;
		return device->device_type != kDLCPU;
	}
	if (ffi_is_sequence(v->type)) {
		s = (const struct tenon_array *)v->as.object;
		for (i = 0; i < s->size; i++)
			if (first_device(&s->data[i], device, nested + 1))
				return true;
	}
	if (ffi_is_map(v->type))
		while (ffi_map_next((const struct tenon_map *)v->as.object, &at, &key, &value))
			if (first_device(value, device, nested + 1))
				return true;
	return false;
}

CALL(find_device)
{
	DLDevice found, processor = { kDLCPU, 0 };

	(void)self;
	if (ffi_count("ffi.ContainerFindFirstNonCPUDevice", count, 1, 1))
		return -1;
	*ret = tenon_arg_device(first_device(&args[0], &found, 0) ? found : processor);
	return 0;
}

/* ---- shapes */

static void shape_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

CALL(make_shape)
{
	struct tenon_shape *s;
	int64_t *extents;
	int32_t i;

	(void)self;
	s = calloc(1, sizeof(*s) + (size_t)count * sizeof(*extents));
	if (!s)
		return ffi_nomem("a shape");
	s->object.refs = (UINT64_C(1) << 32) | 1;
	s->object.type = TENON_TYPE_SHAPE;
	s->object.deleter = shape_delete;
	extents = (int64_t *)(s + 1);
	s->data = extents;
	s->size = (size_t)count;
	for (i = 0; i < count; i++) {
		if (args[i].type != TENON_TYPE_INT) {
			free(s);
			return ffi_raise("ValueError",
					 "Expect shape to take list of int arguments");
		}
		extents[i] = args[i].as.integer;
	}
	*ret = tenon_arg_object(s);
	return 0;
}

static const struct ffi_global globals[] = {
	{ "ffi.Array", make_array },
	{ "ffi.ArrayContains", array_contains },
	{ "ffi.ArrayGetItem", array_item },
	{ "ffi.ArraySize", array_size },
	{ "ffi.ContainerFindFirstNonCPUDevice", find_device },
	{ "ffi.Dict", make_dict },
	{ "ffi.DictClear", dict_clear },
	{ "ffi.DictCount", dict_count },
	{ "ffi.DictErase", dict_erase },
	{ "ffi.DictForwardIterFunctor", dict_iterate },
	{ "ffi.DictGetItem", dict_item },
	{ "ffi.DictGetItemOrMissing", dict_item_or_missing },
	{ "ffi.DictSetItem", dict_set },
	{ "ffi.DictSize", dict_size },
	{ "ffi.List", make_list },
	{ "ffi.ListAppend", list_append },
	{ "ffi.ListClear", list_clear },
	{ "ffi.ListContains", list_contains },
	{ "ffi.ListErase", list_erase },
	{ "ffi.ListEraseRange", list_erase_range },
	{ "ffi.ListGetItem", list_item },
	{ "ffi.ListInsert", list_insert },
	{ "ffi.ListPop", list_pop },
	{ "ffi.ListReplaceSlice", list_replace },
	{ "ffi.ListReserve", list_reserve },
	{ "ffi.ListReverse", list_reverse },
	{ "ffi.ListSetItem", list_set },
	{ "ffi.ListSize", list_size },
	{ "ffi.Map", make_map },
	{ "ffi.MapCount", map_count },
	{ "ffi.MapForwardIterFunctor", map_iterate },
	{ "ffi.MapGetItem", map_item },
	{ "ffi.MapGetItemOrMissing", map_item_or_missing },
	{ "ffi.MapSize", map_size },
	{ "ffi.Shape", make_shape },
	{ NULL, NULL },
};

int containers_register(void)
{
	return ffi_register_globals(globals);
}
