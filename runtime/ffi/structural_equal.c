/* SPDX-License-Identifier: MIT */
/* Walk two values side by side, and say where they differ first. */
#include "runtime/ffi/structural.h"

#include <math.h>
#include <stdlib.h>
#include <tenon/tensor.h>

#include "runtime/ffi/access_path.h"
#include "runtime/ffi/attributes.h"
#include "runtime/ffi/big_int.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/type_hooks.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walk.h"

struct equal {
	/* by the address of an object of one side: the object that it equals on the other */
	struct tenon_map *right_of;
	struct tenon_map *left_of;
	/* to the first difference, the innermost first: kinds and keys of both sides; NULL: not kept */
	struct tenon_array *steps;
	enum ffi_region region;
	bool skip_tensors;
	int nested;
};

static int compare(struct equal *e, const struct tenon_value *a, const struct tenon_value *b,
		   bool *equal);

int ffi_compared_by(int32_t type, int32_t *kind)
{
	const struct type_info *info = ffi->TVMFFIGetTypeInfo(type);

	if (!info->metadata)
		return ffi_raise("TypeError",
				 "Type metadata is not set for type `%.*s`, so StructuralHash is "
				 "not supported for "
				 "this type",
				 (int)info->key.size, info->key.data);
	*kind = info->metadata->structural_kind;
	if (*kind != COMPARED_NEVER)
		return 0;
	return ffi_raise("TypeError",
			 "_type_s_eq_hash_kind is not set for type `%.*s`, so StructuralHash is "
			 "not supported for "
			 "this type",
			 (int)info->key.size, info->key.data);
}

int ffi_tensor_content(const struct tenon_value *tensor, struct tenon_slice *bytes)
{
	const DLTensor *t = &((const struct tenon_tensor *)tensor->as.object)->dl;
	uint64_t count = 1;
	int32_t i;

	if (t->device.device_type != kDLCPU)
		return ffi_raise("RuntimeError", "can only compare CPU tensor");
	for (i = t->ndim; i--;) {
		if (t->strides && t->shape[i] != 1 && t->strides[i] != (int64_t)count)
			return ffi_raise("RuntimeError", "Can only compare contiguous tensor");
		count *= (uint64_t)t->shape[i];
	}
	bytes->data = (const char *)t->data + t->byte_offset;
	bytes->size = (size_t)((count * t->dtype.bits * t->dtype.lanes + 7) / 8);
	return 0;
}

/* ---- where values differ */

static int differ(struct equal *e, enum ffi_access left, const struct tenon_value *left_key,
		  enum ffi_access right, const struct tenon_value *right_key)
{
	struct tenon_value kind[2] = { tenon_arg_int(left), tenon_arg_int(right) };

	if (!e->steps)
		return 0;
	return ffi_sequence_append(e->steps, &kind[0]) || ffi_sequence_append(e->steps, left_key) ||
			       ffi_sequence_append(e->steps, &kind[1]) ||
			       ffi_sequence_append(e->steps, right_key)
		       ? -1
		       : 0;
}

static int differ_in(struct equal *e, enum ffi_access kind, const struct tenon_value *key)
{
	return differ(e, kind, key, kind, key);
}

/* ---- containers */

static int compare_sequences(struct equal *e, const struct tenon_array *a,
			     const struct tenon_array *b, bool *equal)
{
	struct tenon_value x, y, at;
	int64_t i;
	int err = 0;

	*equal = a->size == b->size || e->steps;
	for (i = 0; !err && *equal && i < a->size && i < b->size; i++) {
		x = ffi_copy(&a->data[i]);
		y = ffi_copy(&b->data[i]);
		err = compare(e, &x, &y, equal);
		ffi_release(&x);
		ffi_release(&y);
		at = tenon_arg_int(i);
		if (!err && !*equal)
			return differ_in(e, ACCESS_ITEM, &at);
	}
	if (err || !*equal || a->size == b->size)
		return err;
	*equal = false;
	at = tenon_arg_int(i);
	return a->size > b->size ? differ(e, ACCESS_ITEM, &at, ACCESS_ITEM_MISSING, &at)
				 : differ(e, ACCESS_ITEM_MISSING, &at, ACCESS_ITEM, &at);
}

/* The value that equals a key on the other side. */
static struct tenon_value other_side(const struct tenon_map *known, const struct tenon_value *key)
{
	struct tenon_value *found =
		key->type >= TENON_TYPE_OBJECT ? ffi_memo_find(known, key->as.object) : NULL;

	return ffi_copy(found ? found : key);
}

static int compare_pair(struct equal *e, const struct tenon_value *key,
			const struct tenon_value *value, const struct tenon_map *b, bool *equal)
{
	struct tenon_value other_key = other_side(e->right_of, key), other;
	const struct tenon_value *found = ffi_map_find(b, &other_key);
	int err;

	if (!found) {
		*equal = false;
		err = differ(e, ACCESS_MAP_ITEM, key, ACCESS_MAP_ITEM_MISSING, &other_key);
	} else {
		other = ffi_copy(found);
		err = compare(e, value, &other, equal);
		ffi_release(&other);
		if (!err && !*equal)
			err = differ(e, ACCESS_MAP_ITEM, key, ACCESS_MAP_ITEM, &other_key);
	}
	ffi_release(&other_key);
	return err;
}

static int compare_maps(struct equal *e, const struct tenon_map *a, const struct tenon_map *b,
			bool *equal)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_value pair[2];
	int err = 0;

	*equal = a->size == b->size || e->steps;
	while (!err && *equal && ffi_map_next(a, &at, &key, &value)) {
		pair[0] = ffi_copy(key);
		pair[1] = ffi_copy(value);
		err = compare_pair(e, &pair[0], &pair[1], b, equal);
		ffi_release(&pair[0]);
		ffi_release(&pair[1]);
	}
	if (err || !*equal || a->size == b->size)
		return err;
	/* Find the key that the left side lacks. */
	*equal = false;
	at.begun = false;
	while (!err && ffi_map_next(b, &at, &key, &value)) {
		pair[0] = other_side(e->left_of, key);
		pair[1] = ffi_copy(key);
		value = ffi_map_find(a, &pair[0]);
		if (!value)
			err = differ(e, ACCESS_MAP_ITEM_MISSING, &pair[0], ACCESS_MAP_ITEM,
				     &pair[1]);
		ffi_release(&pair[0]);
		ffi_release(&pair[1]);
		if (!value)
			break;
	}
	return err;
}

static bool same_shape(const int64_t *a, size_t na, const int64_t *b, size_t nb)
{
	return na == nb && (!na || !memcmp(a, b, na * sizeof(*a)));
}

static int compare_tensors(struct equal *e, const struct tenon_value *a,
			   const struct tenon_value *b, bool *equal)
{
	const DLTensor *x = &((const struct tenon_tensor *)a->as.object)->dl;
	const DLTensor *y = &((const struct tenon_tensor *)b->as.object)->dl;
	struct tenon_slice s, t;

	*equal = same_shape(x->shape, (size_t)x->ndim, y->shape, (size_t)y->ndim) &&
		 x->dtype.code == y->dtype.code && x->dtype.bits == y->dtype.bits &&
		 x->dtype.lanes == y->dtype.lanes;
	if (!*equal || x == y || e->skip_tensors)
		return 0;
	if (ffi_tensor_content(a, &s) || ffi_tensor_content(b, &t))
		return -1;
	*equal = tenon_slice_equal(s, t);
	return 0;
}

/* ---- objects */

static int compare_fields(struct equal *e, struct tenon_object *a, struct tenon_object *b,
			  bool *equal)
{
	struct ffi_field_at at = ffi_fields_of(a->type);
	enum ffi_region around = e->region;
	const struct type_field *f;
	struct tenon_value x, y, name;
	int err = 0;

	*equal = true;
	while (!err && *equal && (f = ffi_field_next(&at))) {
		if (f->flags & FIELD_STRUCTURAL_IGNORE)
			continue;
		if (ffi_field_get(f, a, &x))
			return -1;
		err = ffi_field_get(f, b, &y);
		if (!err) {
			e->region = ffi_region_of(f->flags, around);
			err = compare(e, &x, &y, equal);
			e->region = around;
		}
		ffi_release(&x);
		ffi_release(&y);
		if (!err && !*equal && e->steps) {
			err = ffi_string(f->name.data, f->name.size, &name);
			if (!err) {
				err = differ_in(e, ACCESS_ATTR, &name);
				ffi_release(&name);
			}
		}
	}
	return err;
}

/* @args: two values, the region, and the name of the field that they are */
static PACKED_CALL(callback_call)
{
	struct equal *e = NULL;
	struct tenon_value a, b;
	enum ffi_region around;
	bool equal = false;
	int64_t asked;
	int err;

	if (!ffi_count("__s_equal__", count, 4, 4) && !ffi_arg_int("__s_equal__", args, 2, &asked))
		e = ffi_hook_visit(self, "__s_equal__");
	if (!e || ffi_own(&args[0], &a))
		return -1;
	if (ffi_own(&args[1], &b)) {
		ffi_release(&a);
		return -1;
	}
	around = e->region;
	e->region = ffi_region_asked(asked, around);
	err = compare(e, &a, &b, &equal);
	e->region = around;
	if (!err && !equal)
		err = differ_in(e, ACCESS_ATTR, &args[3]);
	ffi_release(&a);
	ffi_release(&b);
	*ret = tenon_arg_bool(equal);
	return err;
}

static int call_hook(struct equal *e, struct tenon_object *hook, struct tenon_object *a,
		     struct tenon_object *b, bool *equal)
{
	struct tenon_value args[3] = { tenon_arg_object(a), tenon_arg_object(b) }, ret;
	int64_t same = 0;

	if (ffi_hook_call(hook, args, 2, callback_call, e, &ret) ||
	    ffi_hook_integer(&ret, "__s_equal__", "a bool", &same))
		return -1;
	*equal = same != 0;
	return 0;
}

static int compare_inside(struct equal *e, struct tenon_object *a, struct tenon_object *b,
			  bool *equal)
{
	struct tenon_object *hook = ffi_attribute_call(a->type, "__s_equal__");

	return hook ? call_hook(e, hook, a, b, equal) : compare_fields(e, a, b, equal);
}

static int bind(struct equal *e, struct tenon_object *a, struct tenon_object *b)
{
	struct tenon_value va = tenon_arg_object(a), vb = tenon_arg_object(b);

	return ffi_memo_set(e->right_of, a, &vb) || ffi_memo_set(e->left_of, b, &va) ? -1 : 0;
}

static int compare_objects(struct equal *e, struct tenon_object *a, struct tenon_object *b,
			   bool *equal)
{
	enum ffi_region around = e->region;
	const struct tenon_value *known;
	int32_t kind;
	int err;

	if (ffi_compared_by(a->type, &kind))
		return -1;
	*equal = a == b;
	if (kind == COMPARED_UNIQUE || (kind == COMPARED_CONST_TREE && a == b))
		return 0;
	if (kind == COMPARED_GRAPH || kind == COMPARED_VARIABLE) {
		known = ffi_memo_find(e->right_of, a);
		*equal = known && known->as.object == b;
		if (known || ffi_memo_find(e->left_of, b))
			return 0;
	}
	if (kind == COMPARED_VARIABLE && around == REGION_SIMPLE)
		e->region = REGION_NONE;
	err = compare_inside(e, a, b, equal);
	e->region = around;
	if (err || !*equal)
		return err;
	if (kind == COMPARED_VARIABLE)
		*equal = a == b || around != REGION_NONE;
	return *equal && (kind == COMPARED_VARIABLE || kind == COMPARED_GRAPH) ? bind(e, a, b) : 0;
}

static int compare_counted(struct equal *e, const struct tenon_value *a,
			   const struct tenon_value *b, bool *equal)
{
	const struct tenon_shape *x = (const struct tenon_shape *)a->as.object;
	const struct tenon_shape *y = (const struct tenon_shape *)b->as.object;
	int err;

	if (a->type == FFI_TYPE_BIG_INT) {
		*equal = !big_int_compare(a, b);
		return 0;
	}
	if (a->type == TENON_TYPE_SHAPE) {
		*equal = same_shape(x->data, x->size, y->data, y->size);
		return 0;
	}
	if (a->type == TENON_TYPE_TENSOR)
		return compare_tensors(e, a, b, equal);
	if (e->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("ffi.StructuralEqual");
	e->nested++;
	if (ffi_is_sequence(a->type))
		err = compare_sequences(e, (struct tenon_array *)a->as.object,
					(struct tenon_array *)b->as.object, equal);
	else if (ffi_is_map(a->type))
		err = compare_maps(e, (struct tenon_map *)a->as.object,
				   (struct tenon_map *)b->as.object, equal);
	else
		err = compare_objects(e, a->as.object, b->as.object, equal);
	e->nested--;
	return err;
}

static int compare(struct equal *e, const struct tenon_value *a, const struct tenon_value *b,
		   bool *equal)
{
	struct tenon_slice s, t;

	if (ffi_text(a, &s)) {
		*equal = ffi_text(b, &t) && ffi_is_bytes(a->type) == ffi_is_bytes(b->type) &&
			 tenon_slice_equal(s, t);
		return 0;
	}
	*equal = a->type == b->type;
	if (!*equal)
		return 0;
	if (a->type >= TENON_TYPE_OBJECT)
		return compare_counted(e, a, b, equal);
	*equal = a->as.bits == b->as.bits ||
		 (a->type == TENON_TYPE_FLOAT && isnan(a->as.real) && isnan(b->as.real));
	return 0;
}

/* ---- the functions */

static int compare_roots(const struct tenon_value *a, const struct tenon_value *b,
			 enum ffi_region region, bool skip_tensors, struct tenon_array *steps,
			 bool *equal)
{
	struct equal e = { .steps = steps, .region = region, .skip_tensors = skip_tensors };
	int err;

	e.right_of = ffi_map_create(TENON_TYPE_DICT);
	e.left_of = ffi_map_create(TENON_TYPE_DICT);
	err = e.right_of && e.left_of ? compare(&e, a, b, equal) : -1;
	ffi_unref(e.right_of);
	ffi_unref(e.left_of);
	return err;
}

int ffi_structural_equal(const struct tenon_value *a, const struct tenon_value *b, bool *equal)
{
	return compare_roots(a, b, REGION_NONE, false, NULL, equal);
}

/* @args: two values, whether to map free variables, whether to skip the content of tensors */
static int run_arguments(const char *function, const struct tenon_value *args, int32_t count,
			 struct tenon_array *steps, bool *equal)
{
	bool map_variables = false, skip_tensors = false;
	struct tenon_value a, b;
	int err;

	if (ffi_count(function, count, 2, 4) ||
	    (count > 2 && ffi_arg_bool(function, args, 2, &map_variables)) ||
	    (count > 3 && ffi_arg_bool(function, args, 3, &skip_tensors)) || ffi_own(&args[0], &a))
		return -1;
	err = ffi_own(&args[1], &b);
	if (!err) {
		err = compare_roots(&a, &b, map_variables ? REGION_PATTERN : REGION_NONE,
				    skip_tensors, steps, equal);
		ffi_release(&b);
	}
	ffi_release(&a);
	return err;
}

static PACKED_CALL(equal_call)
{
	bool equal = false;
	int err = run_arguments("ffi.StructuralEqual", args, count, NULL, &equal);

	*ret = tenon_arg_bool(equal);
	return err;
}

/* Make the path of one side: 0 left, 1 right. */
static int make_path(const struct tenon_array *steps, int side, struct tenon_value *out)
{
	struct tenon_object *path = ffi_access_root(), *longer;
	int64_t i;

	for (i = steps->size / 4; path && i--;) {
		longer = ffi_access_extend(
			path, (enum ffi_access)steps->data[4 * i + 2 * side].as.integer,
			&steps->data[4 * i + 2 * side + 1]);
		ffi_unref(path);
		path = longer;
	}
	*out = tenon_arg_object(path);
	return path ? 0 : -1;
}

static PACKED_CALL(mismatch_call)
{
	struct tenon_array *steps = ffi_sequence_create(TENON_TYPE_LIST, NULL, 0);
	struct tenon_value path[2] = { tenon_arg_none(), tenon_arg_none() };
	bool equal = true;
	int err =
		steps ? run_arguments("ffi.GetFirstStructuralMismatch", args, count, steps, &equal)
		      : -1;

	*ret = tenon_arg_none();
	if (!err && !equal) {
		err = make_path(steps, 0, &path[0]) || make_path(steps, 1, &path[1]) ? -1 : 0;
		if (!err)
			*ret = tenon_arg_object(ffi_sequence_create(TENON_TYPE_ARRAY, path, 2));
		if (!err && ret->type == TENON_TYPE_NONE)
			err = -1;
	}
	ffi_release(&path[0]);
	ffi_release(&path[1]);
	ffi_unref(steps);
	return err;
}

const struct global_function structural_equal_globals[] = {
	{ "ffi.GetFirstStructuralMismatch", mismatch_call },
	{ "ffi.StructuralEqual", equal_call },
	{ NULL, NULL },
};
