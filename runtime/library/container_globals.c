/* SPDX-License-Identifier: MIT */
/* Arrays, maps and strings for foreign libraries, which access them through functions. */
#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/library/globals.h"

/* Get the first argument as a container: array or list, map or dict. */
static int get_container(const char *function, const struct tenon_value *args, int32_t count,
			 int32_t arguments, int32_t type, int32_t other, void *out)
{
	struct tenon_object *o;
	int err = abi_check_count(function, count, arguments, arguments);

	if (err)
		return err;
	if (!tenon_value_object(&args[0], TENON_TYPE_OBJECT, &o) &&
	    (o->type == type || o->type == other)) {
		*(struct tenon_object **)out = o;
		return 0;
	}
	return tenon_error(-TENON_E_TYPE, "%s: expected %s, found %s", function,
			   tenon_type_key(type), tenon_type_key(args[0].type));
}

static int get_array(const char *function, const struct tenon_value *args, int32_t count,
		     int32_t arguments, struct tenon_array **out)
{
	return get_container(function, args, count, arguments, TENON_TYPE_ARRAY, TENON_TYPE_LIST,
			     out);
}

static int get_map(const char *function, const struct tenon_value *args, int32_t count,
		   int32_t arguments, struct tenon_map **out)
{
	return get_container(function, args, count, arguments, TENON_TYPE_MAP, TENON_TYPE_DICT,
			     out);
}

static int raise_kind(const char *kind, const char *message)
{
	struct tenon_slice text = tenon_slice_of(message);

	tenon_error_raise_text(kind, &text, 1);
	return -TENON_E_CALL;
}

static PACKED_CALL(array_item)
{
	struct tenon_array *a;
	int64_t i;
	int err = get_array("ffi.ArrayGetItem", args, count, 2, &a);

	if (!err)
		err = tenon_value_int(&args[1], &i);
	if (err)
		return err;
	if (i < 0 || i >= a->size)
		return raise_kind("IndexError", "array index out of range");
	return tenon_value_own(&a->data[i], ret);
}

static PACKED_CALL(array_size)
{
	struct tenon_array *a = NULL;
	int err = get_array("ffi.ArraySize", args, count, 1, &a);

	if (!err)
		*ret = tenon_arg_int(a->size);
	return err;
}

static PACKED_CALL(map_size)
{
	struct tenon_map *m = NULL;
	int err = get_map("ffi.MapSize", args, count, 1, &m);

	if (!err)
		*ret = tenon_arg_int((int64_t)m->size);
	return err;
}

static PACKED_CALL(map_item)
{
	const struct tenon_value *found;
	struct tenon_map *m;
	int err = get_map("ffi.MapGetItem", args, count, 2, &m);

	if (err)
		return err;
	found = tenon_map_find(m, &args[1]);
	if (!found)
		return raise_kind("KeyError", "key is not in the map");
	return tenon_value_own(found, ret);
}

/* State of ffi.MapForwardIterFunctor. Its argument: 0 returns the key, 1 the value, 2 advances. */
struct map_walk {
	struct tenon_map *map;
	const void *at;
	const struct tenon_value *key;
	const struct tenon_value *value;
};

enum { MAP_KEY = 0, MAP_VALUE = 1, MAP_NEXT = 2 };

static void map_walk_free(void *self)
{
	struct map_walk *w = self;

	tenon_object_unref(w->map);
	free(w);
}

static PACKED_CALL(map_walk_call)
{
	struct map_walk *w = self;
	int64_t asked;
	int err = abi_check_count("map iterator", count, 1, 1);

	if (!err)
		err = tenon_value_int(&args[0], &asked);
	if (err)
		return err;
	if (asked == MAP_NEXT) {
		if (w->at)
			w->at = tenon_map_next(w->map, w->at, &w->key, &w->value);
		*ret = tenon_arg_bool(w->at);
		return 0;
	}
	if (!w->at)
		return raise_kind("IndexError", "the map iterator is at the end");
	return tenon_value_own(asked == MAP_KEY ? w->key : w->value, ret);
}

static PACKED_CALL(map_iterator)
{
	struct tenon_function *f;
	struct tenon_map *m;
	struct map_walk *w;
	int err = get_map("ffi.MapForwardIterFunctor", args, count, 1, &m);

	if (err)
		return err;
	w = calloc(1, sizeof(*w));
	if (!w)
		return tenon_error(-TENON_E_NOMEM, "no memory for a map iterator");
	tenon_object_ref(m);
	w->map = m;
	w->at = tenon_map_next(m, NULL, &w->key, &w->value);
	err = tenon_function_create(w, map_walk_call, map_walk_free, &f);
	if (err) {
		map_walk_free(w);
		return err;
	}
	*ret = tenon_arg_object(f);
	return 0;
}

static PACKED_CALL(to_string)
{
	struct tenon_slice text;
	int err = abi_check_count("ffi.String", count, 1, 1);

	if (!err)
		err = tenon_value_text(&args[0], &text);
	return err ? err : tenon_string_value(text, ret);
}

static PACKED_CALL(to_bytes)
{
	struct tenon_slice bytes;
	int err = abi_check_count("ffi.Bytes", count, 1, 1);

	if (!err)
		err = tenon_value_text(&args[0], &bytes);
	return err ? err : tenon_bytes_value(bytes, ret);
}

static PACKED_CALL(to_array)
{
	struct tenon_array *a;
	int err = tenon_array_create(args, (size_t)count, &a);

	if (!err)
		*ret = tenon_arg_object(a);
	return err;
}

const struct global_function abi_container_globals[] = {
	{ "ffi.Array", to_array },
	{ "ffi.ArrayGetItem", array_item },
	{ "ffi.ArraySize", array_size },
	{ "ffi.Bytes", to_bytes },
	{ "ffi.MapForwardIterFunctor", map_iterator },
	{ "ffi.MapGetItem", map_item },
	{ "ffi.MapSize", map_size },
	{ "ffi.String", to_string },
	{ NULL, NULL },
};
