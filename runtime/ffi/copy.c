/* SPDX-License-Identifier: MIT */
/*
 * ffi.DeepCopy: a value with copies of all that can change in it. Lists, dicts and objects with
 * fields are copied before what is in them, so cycles through them keep their form. Arrays and maps
 * are made after their items: an item that refers back to one gets the original first, and the copy
 * at the end.
 */
#include "runtime/ffi/attributes.h"
#include "runtime/ffi/fields.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walk.h"

struct copy {
	struct tenon_map *done;	   /* the copy of each object; its key is the original's address */
	struct tenon_array *fresh; /* the copies, for the correction at the end */
	const struct ffi_open *open; /* arrays and maps that are being copied */
	bool correct;		     /* an original was used in place of its copy */
	int nested;
};

static int copy_value(struct copy *c, const struct tenon_value *v, struct tenon_value *out);

static int remember(struct copy *c, const void *original, const struct tenon_value *copy)
{
	if (ffi_memo_set(c->done, original, copy))
		return -1;
	return ffi_sequence_append(c->fresh, copy);
}

static int copy_items(struct copy *c, const struct tenon_array *from, struct tenon_array *to)
{
	struct tenon_value item, copied;
	int64_t i;
	int err = 0;

	for (i = 0; !err && i < from->size; i++) {
		item = ffi_copy(&from->data[i]);
		err = copy_value(c, &item, &copied);
		ffi_release(&item);
		if (!err) {
			err = ffi_sequence_append(to, &copied);
			ffi_release(&copied);
		}
	}
	return err;
}

static int copy_pairs(struct copy *c, const struct tenon_map *from, struct tenon_map *to)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_value pair[2], k, v;
	int err = 0;

	while (!err && ffi_map_next(from, &at, &key, &value)) {
		pair[0] = ffi_copy(key);
		pair[1] = ffi_copy(value);
		err = copy_value(c, &pair[0], &k);
		if (!err) {
			err = copy_value(c, &pair[1], &v);
			if (!err) {
				err = ffi_map_set(to, &k, &v);
				ffi_release(&v);
			}
			ffi_release(&k);
		}
		ffi_release(&pair[0]);
		ffi_release(&pair[1]);
	}
	return err;
}

static int copy_fields(struct copy *c, struct tenon_object *from, struct tenon_object *to)
{
	struct ffi_field_at at = ffi_fields_of(from->type);
	const struct type_field *f;
	struct tenon_value v, copied;
	int err = 0;

	while (!err && (f = ffi_field_next(&at))) {
		if (ffi_field_get(f, from, &v))
			return -1;
		err = copy_value(c, &v, &copied);
		if (!err) {
			if (v.type != copied.type || v.as.bits != copied.as.bits)
				err = ffi_field_set(f, to, &copied);
			ffi_release(&copied);
		}
		ffi_release(&v);
	}
	return err;
}

static int copy_object(struct copy *c, struct tenon_object *o, struct tenon_value *out)
{
	struct tenon_object *shallow = ffi_attribute_call(o->type, "__ffi_shallow_copy__");
	struct tenon_slice key = ffi_type_key(o->type);
	struct tenon_value arg = tenon_arg_object(o);

	if (!shallow)
		return ffi_raise("RuntimeError",
				 "Cannot deep copy object of type \"%.*s\" because it is not "
				 "copy-constructible",
				 (int)key.size, key.data);
	if (ffi_call(shallow, &arg, 1, out))
		return -1;
	/* its fields are written below */
	if (!ffi_type_is(out->type, o->type) || !out->as.object) {
		ffi_release(out);
		return ffi_raise("RuntimeError",
				 "__ffi_shallow_copy__ of \"%.*s\" returned no object of the type",
				 (int)key.size, key.data);
	}
	if (!remember(c, o, out) && !copy_fields(c, o, out->as.object))
		return 0;
	ffi_release(out);
	return -1;
}

static int copy_container(struct copy *c, struct tenon_object *o, struct tenon_value *out)
{
	bool changes = o->type == TENON_TYPE_LIST || o->type == TENON_TYPE_DICT;
	struct ffi_open open = { c->open, o, NULL };
	struct tenon_array *items = NULL;
	struct tenon_map *pairs = NULL;
	int err;

	if (ffi_is_sequence(o->type))
		items = ffi_sequence_create(o->type, NULL, 0);
	else
		pairs = ffi_map_create(o->type);
	*out = items ? tenon_arg_object(items) : tenon_arg_object(pairs);
	if (out->type == TENON_TYPE_NONE)
		return -1;
	if (!changes)
		c->open = &open;
	err = changes ? remember(c, o, out) : 0;
	if (!err)
		err = items ? copy_items(c, (struct tenon_array *)o, items)
			    : copy_pairs(c, (struct tenon_map *)o, pairs);
	c->open = open.outer;
	if (!err && !changes)
		err = remember(c, o, out);
	if (err)
		ffi_release(out);
	return err;
}

static int copy_value(struct copy *c, const struct tenon_value *v, struct tenon_value *out)
{
	struct tenon_value *known;
	struct tenon_object *o;
	int err;

	*out = ffi_copy(v);
	if (v->type < TENON_TYPE_OBJECT)
		return 0;
	o = v->as.object;
	known = ffi_memo_find(c->done, o);
	if (known) {
		ffi_release(out);
		*out = ffi_copy(known);
		return 0;
	}
	if (ffi_is_open(c->open, o, NULL)) {
		c->correct = true;
		return 0;
	}
	if (o->type == TENON_TYPE_STRING || o->type == TENON_TYPE_BYTES ||
	    o->type == TENON_TYPE_SHAPE || o->type == FFI_TYPE_BIG_INT ||
	    ffi_type_is(o->type, ffi_type_enum))
		return 0;
	ffi_release(out);
	if (c->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("ffi.DeepCopy");
	c->nested++;
	err = ffi_is_sequence(o->type) || ffi_is_map(o->type) ? copy_container(c, o, out)
							      : copy_object(c, o, out);
	c->nested--;
	return err;
}

/* ---- the correction: originals in copies that can change become copies */

/* Get the copy of a value; false if there is none. */
static bool corrected(struct copy *c, const struct tenon_value *v, struct tenon_value *out)
{
	struct tenon_value *known =
		v->type >= TENON_TYPE_OBJECT ? ffi_memo_find(c->done, v->as.object) : NULL;

	*out = known ? *known : *v;
	return known;
}

static int correct_list(struct copy *c, struct tenon_array *list)
{
	struct tenon_value by;
	int64_t i;

	for (i = 0; i < list->size; i++)
		if (corrected(c, &list->data[i], &by) &&
		    ffi_sequence_replace(list, i, i + 1, &by, 1))
			return -1;
	return 0;
}

static int correct_dict(struct copy *c, struct tenon_map *dict)
{
	struct tenon_map *right = ffi_map_create(TENON_TYPE_DICT);
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_value k, v;
	bool any = false;
	int err = right ? 0 : -1;

	while (!err && ffi_map_next(dict, &at, &key, &value)) {
		any = corrected(c, key, &k) || any;
		any = corrected(c, value, &v) || any;
		err = ffi_map_set(right, &k, &v);
	}
	if (!err && any) {
		ffi_map_clear(dict);
		at.begun = false;
		while (!err && ffi_map_next(right, &at, &key, &value))
			err = ffi_map_set(dict, key, value);
	}
	ffi_unref(right);
	return err;
}

static int correct_object(struct copy *c, struct tenon_object *o)
{
	struct ffi_field_at at = ffi_fields_of(o->type);
	const struct type_field *f;
	struct tenon_value v, by;
	int err = 0;

	while (!err && (f = ffi_field_next(&at))) {
		if (ffi_field_get(f, o, &v))
			return -1;
		if (corrected(c, &v, &by) && by.as.object != v.as.object)
			err = ffi_field_set(f, o, &by);
		ffi_release(&v);
	}
	return err;
}

static int correct(struct copy *c)
{
	struct tenon_object *o;
	int64_t i;
	int err = 0;

	for (i = 0; !err && i < c->fresh->size; i++) {
		o = c->fresh->data[i].as.object;
		if (o->type == TENON_TYPE_LIST)
			err = correct_list(c, (struct tenon_array *)o);
		else if (o->type == TENON_TYPE_DICT)
			err = correct_dict(c, (struct tenon_map *)o);
		else if (o->type > FFI_TYPE_BIG_INT)
			err = correct_object(c, o);
	}
	return err;
}

static PACKED_CALL(copy_call)
{
	struct copy c = { NULL, NULL, NULL, false, 0 };
	struct tenon_value v;
	int err;

	if (ffi_count("ffi.DeepCopy", count, 1, 1) || ffi_own(&args[0], &v))
		return -1;
	c.done = ffi_map_create(TENON_TYPE_DICT);
	c.fresh = ffi_sequence_create(TENON_TYPE_LIST, NULL, 0);
	err = c.done && c.fresh ? copy_value(&c, &v, ret) : -1;
	if (!err && c.correct) {
		err = correct(&c);
		if (err)
			ffi_release(ret);
	}
	ffi_unref(c.done);
	ffi_unref(c.fresh);
	ffi_release(&v);
	return err;
}

const struct global_function copy_globals[] = {
	{ "ffi.DeepCopy", copy_call },
	{ NULL, NULL },
};
