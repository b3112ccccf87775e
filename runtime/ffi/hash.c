/* SPDX-License-Identifier: MIT */
/* ffi.RecursiveHash: values that ffi.RecursiveEq finds equal have equal hashes. */
#include <math.h>
#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/fields.h"
#include "runtime/ffi/shape.h"
#include "runtime/ffi/type_hooks.h"
#include "runtime/ffi/walk.h"

struct hash {
	struct tenon_map *done;
	const struct ffi_open *open;
	int nested;
};

static int hash_value(struct hash *h, const struct tenon_value *v, uint64_t *out);

static uint64_t float_bits(double real)
{
	struct tenon_value v = tenon_arg_float(isnan(real) ? (double)NAN : real == 0 ? 0.0 : real);

	return v.as.bits;
}

static uint64_t hash_plain(const struct tenon_value *v)
{
	uint64_t hash = (uint64_t)v->type;

	switch (v->type) {
	case TENON_TYPE_BOOL:
		return ffi_hash_combine(hash, v->as.integer != 0);
	case TENON_TYPE_FLOAT:
		return ffi_hash_combine(hash, float_bits(v->as.real));
	case TENON_TYPE_DTYPE:
		hash = ffi_hash_combine(hash, v->as.dtype.code);
		hash = ffi_hash_combine(hash, v->as.dtype.bits);
		return ffi_hash_combine(hash, v->as.dtype.lanes);
	case TENON_TYPE_DEVICE:
		hash = ffi_hash_combine(hash, (uint64_t)(int64_t)v->as.device.device_type);
		return ffi_hash_combine(hash, (uint64_t)(int64_t)v->as.device.device_id);
	default:
		return ffi_hash_combine(hash, v->as.bits);
	}
}

static int hash_sequence(struct hash *h, const struct tenon_array *s, uint64_t *out)
{
	uint64_t hash = ffi_hash_combine(ffi_hash_type_key(s->object.type), (uint64_t)s->size),
		 item;
	struct tenon_value v;
	int64_t i;
	int err = 0;

	for (i = 0; !err && i < s->size; i++) {
		v = ffi_copy(&s->data[i]);
		err = hash_value(h, &v, &item);
		ffi_release(&v);
		if (!err)
			hash = ffi_hash_combine(hash, ffi_hash_combine(item, (uint64_t)i));
	}
	*out = hash;
	return err;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The order of the pairs does not count. */
static int hash_map(struct hash *h, const struct tenon_map *m, uint64_t *out)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_value pair[2];
	uint64_t *pairs, n = 0, k = 0, v = 0, i, most = m->size;
	int err = 0;

	pairs = malloc((most + 1) * sizeof(*pairs));
	if (!pairs)
		return ffi_nomem("a hash");
	while (!err && n < most && ffi_map_next(m, &at, &key, &value)) {
		pair[0] = ffi_copy(key);
		pair[1] = ffi_copy(value);
		err = hash_value(h, &pair[0], &k) || hash_value(h, &pair[1], &v) ? -1 : 0;
		ffi_release(&pair[0]);
		ffi_release(&pair[1]);
		pairs[n++] = ffi_hash_combine(k, v);
	}
	qsort(pairs, n, sizeof(*pairs), by_number);
	*out = ffi_hash_combine(ffi_hash_type_key(m->object.type), most);
	for (i = 0; i < n; i++)
		*out = ffi_hash_combine(*out, pairs[i]);
	free(pairs);
	return err;
}

static int hash_fields(struct hash *h, struct tenon_object *o, uint64_t *out)
{
	struct ffi_field_at at = ffi_fields_of(o->type);
	uint64_t hash = ffi_hash_type_key(o->type), item;
	const struct type_field *f;
	struct tenon_value v;
	int err = 0;

	while (!err && (f = ffi_field_next(&at))) {
		if (f->flags & (FIELD_HASH_OFF | FIELD_COMPARE_OFF))
			continue;
		if (ffi_field_get(f, o, &v))
			return -1;
		err = hash_value(h, &v, &item);
		ffi_release(&v);
		if (!err)
			hash = ffi_hash_combine(hash, item);
	}
	*out = hash;
	return err;
}

/* ---- types with a function of their own */

static PACKED_CALL(callback_call)
{
	struct hash *h = NULL;
	struct tenon_value v;
	uint64_t hash = 0;
	int err;

	if (!ffi_count("__ffi_hash__", count, 1, 1))
		h = ffi_hook_visit(self, "__ffi_hash__");
	if (!h || ffi_own(&args[0], &v))
		return -1;
	err = hash_value(h, &v, &hash);
	ffi_release(&v);
	*ret = tenon_arg_int((int64_t)hash);
	return err;
}

static int call_hook(struct hash *h, struct tenon_object *hook, struct tenon_object *o,
		     uint64_t *out)
{
	struct tenon_value args[2] = { tenon_arg_object(o) }, ret;
	int64_t hash = 0;

	if (ffi_hook_call(hook, args, 1, callback_call, h, &ret) ||
	    ffi_hook_integer(&ret, "__ffi_hash__", "an int", &hash))
		return -1;
	*out = (uint64_t)hash;
	return 0;
}

static int hash_inside(struct hash *h, struct tenon_object *o, uint64_t *out)
{
	struct tenon_object *hook = ffi_attribute_call(o->type, "__ffi_hash__");
	struct tenon_slice key = ffi_type_key(o->type);

	if (hook)
		return call_hook(h, hook, o, out);
	if (ffi_is_sequence(o->type))
		return hash_sequence(h, (struct tenon_array *)o, out);
	if (ffi_is_map(o->type))
		return hash_map(h, (struct tenon_map *)o, out);
	if (ffi_attribute(o->type, "__ffi_eq__") || ffi_attribute(o->type, "__ffi_compare__"))
		return ffi_raise(
			"ValueError",
			"RecursiveHash: type '%.*s' defines __ffi_eq__ or __ffi_compare__ but not "
			"__ffi_hash__. Add a __ffi_hash__ hook to maintain the invariant "
			"RecursiveEq(a,b) => RecursiveHash(a)==RecursiveHash(b).",
			(int)key.size, key.data);
	return hash_fields(h, o, out);
}

static int hash_object(struct hash *h, struct tenon_object *o, uint64_t *out)
{
	struct tenon_value *known = ffi_memo_find(h->done, o), result;
	struct ffi_open open = { h->open, o, NULL };
	int err;

	if (known) {
		*out = (uint64_t)known->as.integer;
		return 0;
	}
	if (o->type == TENON_TYPE_SHAPE) {
		*out = ffi_shape_hash((struct tenon_shape *)o);
		return 0;
	}
	if (ffi_is_open(h->open, o, NULL)) {
		*out = ffi_hash_type_key(o->type);
		return 0;
	}
	if (h->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("RecursiveHash");
	h->open = &open;
	h->nested++;
	err = hash_inside(h, o, out);
	h->nested--;
	h->open = open.outer;
	if (err)
		return err;
	result = tenon_arg_int((int64_t)*out);
	return ffi_memo_set(h->done, o, &result);
}

static int hash_value(struct hash *h, const struct tenon_value *v, uint64_t *out)
{
	struct tenon_slice text;

	*out = 0;
	if (ffi_text(v, &text))
		*out = ffi_hash_text(v->type, text);
	else if (v->type == TENON_TYPE_NONE)
		*out = ffi_hash_combine(0, 0);
	else if (v->type < TENON_TYPE_OBJECT)
		*out = hash_plain(v);
	else
		return hash_object(h, v->as.object, out);
	return 0;
}

static PACKED_CALL(hash_call)
{
	struct hash h = { NULL, NULL, 0 };
	struct tenon_value v;
	uint64_t hash = 0;
	int err;

	if (ffi_count("ffi.RecursiveHash", count, 1, 1) || ffi_own(&args[0], &v))
		return -1;
	h.done = ffi_map_create(TENON_TYPE_DICT);
	err = h.done ? hash_value(&h, &v, &hash) : -1;
	ffi_unref(h.done);
	ffi_release(&v);
	*ret = tenon_arg_int((int64_t)hash);
	return err;
}

const struct global_function hash_globals[] = {
	{ "ffi.RecursiveHash", hash_call },
	{ NULL, NULL },
};
