/* SPDX-License-Identifier: MIT */
/* ffi.VisitErrorContext.FindAccessPaths: where in a value the objects are that were visited before an error. */
#include "runtime/ffi/access_path.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walk.h"

#define FUNCTION "ffi.VisitErrorContext.FindAccessPaths"

/**
 * struct finder - a search
 * @pattern: the objects, the outermost last, without repetitions
 * @matched: how many of them the current path has, from the outermost on
 * @prefix: a path that ends with a part of them counts
 * @results: the paths
 */
struct finder {
	struct tenon_array *pattern;
	int64_t matched;
	bool prefix;
	int nested;
	struct tenon_array *results;
};

static int find_in_value(struct finder *f, const struct tenon_value *v, struct tenon_object *path);

/* Go on one step further. */
static int find_at(struct finder *f, const struct tenon_value *v, struct tenon_object *path,
		   enum ffi_access kind, const struct tenon_value *key)
{
	struct tenon_object *longer;
	int err;

	if (v->type < TENON_TYPE_OBJECT)
		return 0;
	longer = ffi_access_extend(path, kind, key);
	err = longer ? find_in_value(f, v, longer) : -1;
	ffi_unref(longer);
	return err;
}

static int find_in_fields(struct finder *f, struct tenon_object *o, struct tenon_object *path)
{
	struct ffi_field_at at = ffi_fields_of(o->type);
	const struct type_field *field;
	struct tenon_value v, key;
	int err = 0;

	while (!err && (field = ffi_field_next(&at))) {
		err = ffi_field_get(field, o, &v);
		if (err)
			break;
		err = ffi_string(field->name.data, field->name.size, &key);
		if (!err)
			err = find_at(f, &v, path, ACCESS_ATTR, &key);
		ffi_release(&key);
		ffi_release(&v);
	}
	return err;
}

static int keep(struct finder *f, struct tenon_object *path)
{
	struct tenon_value v = tenon_arg_object(path);

	return ffi_sequence_append(f->results, &v);
}

/* @root: the path has no step */
static int find_in_object(struct finder *f, struct tenon_object *o, struct tenon_object *path,
			  bool root)
{
	int64_t size = f->pattern->size, before = f->results->size;
	bool match = f->matched < size && f->pattern->data[size - 1 - f->matched].as.object == o;
	int err;

	if (!ffi->TVMFFIGetTypeInfo(o->type)->metadata)
		return 0;
	if (match && f->matched + 1 == size)
		return keep(f, path);
	f->matched += match;
	err = find_in_fields(f, o, path);
	if (!err && f->prefix && f->matched && !root && f->results->size == before)
		err = keep(f, path);
	f->matched -= match;
	return err;
}

static int find_in_items(struct finder *f, const struct tenon_array *items,
			 struct tenon_object *path)
{
	struct tenon_value key, item;
	int64_t i;
	int err = 0;

	for (i = 0; !err && i < items->size; i++) {
		key = tenon_arg_int(i);
		item = ffi_copy(&items->data[i]);
		err = find_at(f, &item, path, ACCESS_ITEM, &key);
		ffi_release(&item);
	}
	return err;
}

static int find_in_pairs(struct finder *f, const struct tenon_map *map, struct tenon_object *path)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_value item;
	int err = 0;

	while (!err && ffi_map_next(map, &at, &key, &value)) {
		if (key->type == TENON_TYPE_NONE)
			continue;
		item = ffi_copy(value);
		err = find_at(f, &item, path, ACCESS_MAP_ITEM, key);
		ffi_release(&item);
	}
	return err;
}

static int find_in_value(struct finder *f, const struct tenon_value *v, struct tenon_object *path)
{
	struct tenon_object *o = v->as.object;
	int err;

	if (f->nested >= FFI_NESTED_MOST)
		return ffi_too_deep(FUNCTION);
	f->nested++;
	if (ffi_is_sequence(o->type))
		err = find_in_items(f, (const struct tenon_array *)o, path);
	else if (ffi_is_map(o->type))
		err = find_in_pairs(f, (const struct tenon_map *)o, path);
	else
		err = find_in_object(f, o, path, false);
	f->nested--;
	return err;
}

/* An object that was noted where it was visited and where the error was raised counts once. */
static int copy_pattern(const struct tenon_array *from, struct tenon_array *to)
{
	int64_t i;

	/* Python code and JSON may set the field to any object. */
	if (!from || !ffi_is_sequence(from->object.type))
		return 0;
	for (i = 0; i < from->size; i++) {
		if (from->data[i].type < TENON_TYPE_OBJECT ||
		    (to->size && to->data[to->size - 1].as.object == from->data[i].as.object))
			continue;
		if (ffi_sequence_append(to, &from->data[i]))
			return -1;
	}
	return 0;
}

/* the value to search, the context, and whether prefixes count */
static PACKED_CALL(find_call)
{
	struct finder f = { .prefix = false };
	struct ffi_visit_context *context;
	struct tenon_object *root, *path = NULL;
	int err = -1;

	if (ffi_count(FUNCTION, count, 2, 3) ||
	    ffi_arg_object(FUNCTION, args, 0, TENON_TYPE_OBJECT, &root) ||
	    ffi_arg_object(FUNCTION, args, 1, ffi_type_visit_context, &context) ||
	    (count > 2 && ffi_arg_bool(FUNCTION, args, 2, &f.prefix)))
		return -1;
	f.pattern = ffi_sequence_create(TENON_TYPE_LIST, NULL, 0);
	f.results = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0);
	if (f.pattern && f.results)
		path = ffi_access_root();
	if (path && !copy_pattern(context->reverse_pattern, f.pattern))
		err = find_in_object(&f, root, path, true);
	ffi_unref(path);
	ffi_unref(f.pattern);
	if (err)
		ffi_unref(f.results);
	else
		*ret = tenon_arg_object(f.results);
	return err;
}

const struct global_function visit_context_globals[] = {
	{ FUNCTION, find_call },
	{ NULL, NULL },
};
