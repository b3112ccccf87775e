/* SPDX-License-Identifier: MIT */
/* ffi.RecursiveEq and the four orders: values compared by what is in them. */
#include <math.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/big_int.h"
#include "runtime/ffi/fields.h"
#include "runtime/ffi/type_hooks.h"
#include "runtime/ffi/walk.h"

struct compare {
	const struct ffi_open *open; /* the pairs that are being compared */
	bool equal_only;	     /* any difference counts as 1 */
	int nested;
};

static int compare(struct compare *c, const struct tenon_value *a, const struct tenon_value *b,
		   int *out);

static int sign(int64_t n)
{
	return (n > 0) - (n < 0);
}

static int compare_text(struct tenon_slice a, struct tenon_slice b)
{
	size_t n = a.size < b.size ? a.size : b.size;
	int c = n ? memcmp(a.data, b.data, n) : 0;

	return c ? sign(c) : (a.size > b.size) - (a.size < b.size);
}

static int different_types(const struct compare *c, int32_t a, int32_t b, const char *what,
			   int *out)
{
	struct tenon_slice ka = ffi_type_key(a), kb = ffi_type_key(b);

	*out = 1;
	if (c->equal_only)
		return 0;
	return ffi_raise("TypeError", "Cannot compare %s of different types: %.*s vs %.*s", what,
			 (int)ka.size, ka.data, (int)kb.size, kb.data);
}

static int compare_floats(const struct compare *c, double a, double b, int *out)
{
	if (!isnan(a) && !isnan(b)) {
		*out = (a > b) - (a < b);
		return 0;
	}
	*out = !(isnan(a) && isnan(b));
	return c->equal_only ? 0 : ffi_raise("TypeError", "Cannot order NaN values");
}

/* Compare two values of one type that are no objects. */
static int compare_plain(const struct compare *c, const struct tenon_value *a,
			 const struct tenon_value *b, int *out)
{
	struct tenon_slice key;

	switch (a->type) {
	case TENON_TYPE_INT:
		*out = (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
		return 0;
	case TENON_TYPE_BOOL:
		*out = (a->as.integer != 0) - (b->as.integer != 0);
		return 0;
	case TENON_TYPE_FLOAT:
		return compare_floats(c, a->as.real, b->as.real, out);
	case TENON_TYPE_DTYPE:
		*out = sign(a->as.dtype.code - b->as.dtype.code);
		if (!*out)
			*out = sign(a->as.dtype.bits - b->as.dtype.bits);
		if (!*out)
			*out = sign(a->as.dtype.lanes - b->as.dtype.lanes);
		return 0;
	case TENON_TYPE_DEVICE:
		*out = sign((int64_t)a->as.device.device_type - (int64_t)b->as.device.device_type);
		if (!*out)
			*out = sign((int64_t)a->as.device.device_id - b->as.device.device_id);
		return 0;
	default:
		*out = a->as.bits != b->as.bits;
		key = ffi_type_key(a->type);
		if (!*out || c->equal_only)
			return 0;
		return ffi_raise("TypeError", "Cannot order values of type %.*s", (int)key.size,
				 key.data);
	}
}

static int compare_shapes(const struct tenon_shape *a, const struct tenon_shape *b)
{
	size_t i;

	for (i = 0; i < a->size && i < b->size; i++)
		if (a->data[i] != b->data[i])
			return a->data[i] < b->data[i] ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

static int compare_sequences(struct compare *c, const struct tenon_array *a,
			     const struct tenon_array *b, int *out)
{
	struct tenon_value x, y;
	int64_t i;
	int err = 0;

	*out = 0;
	for (i = 0; !err && !*out && i < a->size && i < b->size; i++) {
		x = ffi_copy(&a->data[i]);
		y = ffi_copy(&b->data[i]);
		err = compare(c, &x, &y, out);
		ffi_release(&x);
		ffi_release(&y);
	}
	if (!err && !*out)
		*out = (a->size > b->size) - (a->size < b->size);
	return err;
}

static int unordered(const struct compare *c)
{
	return c->equal_only ? 0 : ffi_raise("TypeError", "Cannot order Map/Dict values");
}

static int compare_maps(struct compare *c, const struct tenon_map *a, const struct tenon_map *b,
			int *out)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value, *other;
	struct tenon_value x, y;
	int err = 0;

	*out = 1;
	if (a->size != b->size)
		return unordered(c);
	*out = 0;
	while (!err && !*out && ffi_map_next(a, &at, &key, &value)) {
		x = ffi_copy(key);
		other = ffi_map_find(b, &x);
		ffi_release(&x);
		if (!other) {
			*out = 1;
			break;
		}
		x = ffi_copy(value);
		y = ffi_copy(other);
		err = compare(c, &x, &y, out);
		ffi_release(&x);
		ffi_release(&y);
	}
	return !err && *out ? unordered(c) : err;
}

static int compare_fields(struct compare *c, struct tenon_object *a, struct tenon_object *b,
			  int *out)
{
	struct ffi_field_at at = ffi_fields_of(a->type);
	const struct type_field *f;
	struct tenon_value x, y;
	int err = 0;

	*out = 0;
	while (!err && !*out && (f = ffi_field_next(&at))) {
		if (f->flags & FIELD_COMPARE_OFF)
			continue;
		if (ffi_field_get(f, a, &x))
			return -1;
		err = ffi_field_get(f, b, &y);
		if (!err)
			err = compare(c, &x, &y, out);
		ffi_release(&x);
		ffi_release(&y);
	}
	return err;
}

/* ---- types with a function of their own */

/* Compare two values for the function of a type that is called @attribute. */
static int compare_within(void *self, const char *attribute, const struct tenon_value *args,
			  int32_t count, int *order)
{
	struct compare *c = NULL;
	struct tenon_value a, b;
	int err;

	if (!ffi_count(attribute, count, 2, 2))
		c = ffi_hook_visit(self, attribute);
	if (!c || ffi_own(&args[0], &a))
		return -1;
	err = ffi_own(&args[1], &b);
	if (!err) {
		err = compare(c, &a, &b, order);
		ffi_release(&b);
	}
	ffi_release(&a);
	return err;
}

static PACKED_CALL(equal_within)
{
	int order = 0, err = compare_within(self, "__ffi_eq__", args, count, &order);

	*ret = tenon_arg_bool(!order);
	return err;
}

static PACKED_CALL(order_within)
{
	int order = 0, err = compare_within(self, "__ffi_compare__", args, count, &order);

	*ret = tenon_arg_int(order);
	return err;
}

static int call_hook(struct compare *c, struct tenon_object *hook, bool equal,
		     struct tenon_object *a, struct tenon_object *b, int *out)
{
	struct tenon_value args[3] = { tenon_arg_object(a), tenon_arg_object(b) }, ret;
	int64_t n = 0;

	if (ffi_hook_call(hook, args, 2, equal ? equal_within : order_within, c, &ret) ||
	    ffi_hook_integer(&ret, equal ? "__ffi_eq__" : "__ffi_compare__",
			     equal ? "a bool" : "an int", &n))
		return -1;
	*out = equal ? !n : sign(n);
	return 0;
}

static int compare_inside(struct compare *c, struct tenon_object *a, struct tenon_object *b,
			  int *out)
{
	struct tenon_object *hook;

	if (ffi_is_sequence(a->type))
		return compare_sequences(c, (struct tenon_array *)a, (struct tenon_array *)b, out);
	if (ffi_is_map(a->type))
		return compare_maps(c, (struct tenon_map *)a, (struct tenon_map *)b, out);
	hook = c->equal_only ? ffi_attribute_call(a->type, "__ffi_eq__") : NULL;
	if (hook)
		return call_hook(c, hook, true, a, b, out);
	hook = ffi_attribute_call(a->type, "__ffi_compare__");
	if (hook)
		return call_hook(c, hook, false, a, b, out);
	return compare_fields(c, a, b, out);
}

static int compare_objects(struct compare *c, struct tenon_object *a, struct tenon_object *b,
			   int *out)
{
	struct ffi_open open = { c->open, a, b };
	int err;

	*out = 0;
	if (a == b)
		return 0;
	if (a->type == TENON_TYPE_SHAPE) {
		*out = compare_shapes((struct tenon_shape *)a, (struct tenon_shape *)b);
		return 0;
	}
	if (ffi_is_open(c->open, a, b))
		return c->equal_only ? 0
				     : ffi_raise("ValueError",
						 "RecursiveCompare: cyclic reference detected in "
						 "ordering");
	if (c->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("RecursiveCompare");
	c->open = &open;
	c->nested++;
	err = compare_inside(c, a, b, out);
	c->nested--;
	c->open = open.outer;
	return err;
}

static int compare(struct compare *c, const struct tenon_value *a, const struct tenon_value *b,
		   int *out)
{
	bool none_a = a->type == TENON_TYPE_NONE, none_b = b->type == TENON_TYPE_NONE;
	struct tenon_slice sa, sb;

	if (none_a || none_b) {
		*out = none_b - none_a;
		return 0;
	}
	if (ffi_text(a, &sa) && ffi_text(b, &sb) &&
	    ffi_is_bytes(a->type) == ffi_is_bytes(b->type)) {
		*out = compare_text(sa, sb);
		return 0;
	}
	if ((a->type == FFI_TYPE_BIG_INT || a->type == TENON_TYPE_INT) &&
	    (b->type == FFI_TYPE_BIG_INT || b->type == TENON_TYPE_INT)) {
		*out = big_int_compare(a, b);
		return 0;
	}
	if (a->type != b->type)
		return different_types(c, a->type, b->type, "values", out);
	if (a->type < TENON_TYPE_OBJECT)
		return compare_plain(c, a, b, out);
	return compare_objects(c, a->as.object, b->as.object, out);
}

/* ---- the functions */

static int compare_arguments(const char *function, bool equal_only, const struct tenon_value *args,
			     int32_t count, int *out)
{
	struct compare c = { NULL, equal_only, 0 };
	struct tenon_value a, b;
	int err;

	if (ffi_count(function, count, 2, 2) || ffi_own(&args[0], &a))
		return -1;
	err = ffi_own(&args[1], &b);
	if (!err) {
		err = compare(&c, &a, &b, out);
		ffi_release(&b);
	}
	ffi_release(&a);
	return err;
}

#define COMPARISON(name, function, equal_only, holds)                                              \
	static int name(void *self, const struct tenon_value *args, int32_t count,                 \
			struct tenon_value *ret)                                                   \
	{                                                                                          \
		int order = 0, err = compare_arguments(function, equal_only, args, count, &order); \
                                                                                                   \
		*ret = tenon_arg_bool(holds);                                                      \
		return err;                                                                        \
	}

COMPARISON(equal_call, "ffi.RecursiveEq", true, order == 0)
COMPARISON(less_call, "ffi.RecursiveLt", false, order < 0)
COMPARISON(less_equal_call, "ffi.RecursiveLe", false, order <= 0)
COMPARISON(greater_call, "ffi.RecursiveGt", false, order > 0)
COMPARISON(greater_equal_call, "ffi.RecursiveGe", false, order >= 0)

const struct global_function compare_globals[] = {
	{ "ffi.RecursiveEq", equal_call },   { "ffi.RecursiveGe", greater_equal_call },
	{ "ffi.RecursiveGt", greater_call }, { "ffi.RecursiveLe", less_equal_call },
	{ "ffi.RecursiveLt", less_call },    { NULL, NULL },
};
