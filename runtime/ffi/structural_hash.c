/* SPDX-License-Identifier: MIT */
/* Hash a value so that equal ones have equal hashes, whatever their variables are called. */
#include "runtime/ffi/structural.h"

#include <math.h>
#include <stdlib.h>
#include <tenon/tensor.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/big_int.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/shape.h"
#include "runtime/ffi/type_hooks.h"
#include "runtime/ffi/walk.h"

struct hash {
	struct tenon_map *done; /* hash of each object, by its address */
	uint64_t variables;	/* defined so far */
	uint64_t graph_nodes;	/* met so far */
	enum ffi_region region;
	bool skip_tensors;
	int nested;
};

static int hash_value(struct hash *h, const struct tenon_value *v, uint64_t *out);

/* Hash what hashes the same everywhere; false for other objects. */
static bool hash_plain(const struct tenon_value *v, uint64_t *out)
{
	const struct big_int *b = (const struct big_int *)v->as.object;
	struct tenon_value nan = tenon_arg_float((double)NAN);
	struct tenon_slice text;

	if (ffi_text(v, &text))
		*out = ffi_hash_text(v->type, text);
	else if (v->type == FFI_TYPE_BIG_INT)
		*out = ffi_hash_combine((uint64_t)v->type,
					ffi_hash_bytes(b->word, b->size * sizeof(b->word[0])));
	else if (v->type == TENON_TYPE_FLOAT && isnan(v->as.real))
		*out = ffi_hash_combine((uint64_t)v->type, nan.as.bits);
	else
		*out = ffi_hash_combine((uint64_t)v->type, v->as.bits);
	return v->type < TENON_TYPE_OBJECT || v->type == FFI_TYPE_BIG_INT ||
	       ffi_is_string(v->type) || ffi_is_bytes(v->type);
}

static int hash_sequence(struct hash *h, const struct tenon_array *s, uint64_t *out)
{
	struct tenon_value v;
	uint64_t item;
	int64_t i;
	int err = 0;

	*out = ffi_hash_combine(ffi_hash_type_key(s->object.type), (uint64_t)s->size);
	for (i = 0; !err && i < s->size; i++) {
		v = ffi_copy(&s->data[i]);
		err = hash_value(h, &v, &item);
		ffi_release(&v);
		if (!err)
			*out = ffi_hash_combine(*out, item);
	}
	return err;
}

struct pair {
	uint64_t key;
	struct tenon_value value;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Pairs whose key has a hash that does not depend on the order, sorted by it. */
static uint64_t sorted_pairs(struct hash *h, const struct tenon_map *m, struct pair *pairs)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value, *known;
	uint64_t n = 0, most = m->size;

	while (n < most && ffi_map_next(m, &at, &key, &value)) {
		if (!hash_plain(key, &pairs[n].key)) {
			known = ffi_memo_find(h->done, key->as.object);
			if (!known)
				continue;
			pairs[n].key = (uint64_t)known->as.integer;
		}
		pairs[n++].value = ffi_copy(value);
	}
	qsort(pairs, n, sizeof(*pairs), by_key);
	return n;
}

static int hash_map(struct hash *h, const struct tenon_map *m, uint64_t *out)
{
	struct pair *pairs = malloc((size_t)(m->size + 1) * sizeof(*pairs));
	uint64_t n, i, k, item;
	int err = 0;

	if (!pairs)
		return ffi_nomem("a hash");
	*out = ffi_hash_combine(ffi_hash_type_key(m->object.type), m->size);
	n = sorted_pairs(h, m, pairs);
	for (i = 0; !err && i < n; i = k) {
		for (k = i + 1; k < n && pairs[k].key == pairs[i].key; k++)
			;
		*out = ffi_hash_combine(*out, pairs[i].key);
		/* The order of pairs of one hash is not known: leave their values out. */
		if (k > i + 1)
			continue;
		err = hash_value(h, &pairs[i].value, &item);
		if (!err)
			*out = ffi_hash_combine(*out, item);
	}
	for (i = 0; i < n; i++)
		ffi_release(&pairs[i].value);
	free(pairs);
	return err;
}

static int hash_tensor(struct hash *h, const struct tenon_value *v, uint64_t *out)
{
	const DLTensor *t = &((const struct tenon_tensor *)v->as.object)->dl;
	struct tenon_value dtype = tenon_arg_dtype(t->dtype);
	struct tenon_slice content;
	int32_t i;

	*out = ffi_hash_combine(ffi_hash_type_key(v->type), (uint64_t)t->ndim);
	for (i = 0; i < t->ndim; i++)
		*out = ffi_hash_combine(*out, (uint64_t)t->shape[i]);
	*out = ffi_hash_combine(*out, dtype.as.bits);
	if (h->skip_tensors)
		return 0;
	if (ffi_tensor_content(v, &content))
		return -1;
	*out = ffi_hash_combine(*out, ffi_hash_bytes(content.data, content.size));
	return 0;
}

/* ---- objects */

static int hash_fields(struct hash *h, struct tenon_object *o, uint64_t *out)
{
	struct ffi_field_at at = ffi_fields_of(o->type);
	enum ffi_region around = h->region;
	const struct type_field *f;
	struct tenon_value v;
	uint64_t item;
	int err = 0;

	while (!err && (f = ffi_field_next(&at))) {
		if (f->flags & FIELD_STRUCTURAL_IGNORE)
			continue;
		if (ffi_field_get(f, o, &v))
			return -1;
		h->region = ffi_region_of(f->flags, around);
		err = hash_value(h, &v, &item);
		h->region = around;
		ffi_release(&v);
		if (!err)
			*out = ffi_hash_combine(*out, item);
	}
	return err;
}

/* @args: a value, the hash so far, the region */
static PACKED_CALL(callback_call)
{
	enum ffi_region around;
	int64_t before, asked;
	struct hash *h = NULL;
	struct tenon_value v;
	uint64_t hash = 0;
	int err;

	if (!ffi_count("__s_hash__", count, 3, 3) && !ffi_arg_int("__s_hash__", args, 1, &before) &&
	    !ffi_arg_int("__s_hash__", args, 2, &asked))
		h = ffi_hook_visit(self, "__s_hash__");
	if (!h || ffi_own(&args[0], &v))
		return -1;
	around = h->region;
	h->region = ffi_region_asked(asked, around);
	err = hash_value(h, &v, &hash);
	h->region = around;
	ffi_release(&v);
	*ret = tenon_arg_int((int64_t)ffi_hash_combine((uint64_t)before, hash));
	return err;
}

static int call_hook(struct hash *h, struct tenon_object *hook, struct tenon_object *o,
		     uint64_t *out)
{
	struct tenon_value args[3] = { tenon_arg_object(o), tenon_arg_int((int64_t)*out) }, ret;
	int64_t hash = 0;

	if (ffi_hook_call(hook, args, 2, callback_call, h, &ret) ||
	    ffi_hook_integer(&ret, "__s_hash__", "an int", &hash))
		return -1;
	*out = (uint64_t)hash;
	return 0;
}

static int hash_object(struct hash *h, struct tenon_object *o, uint64_t *out)
{
	struct tenon_object *hook = ffi_attribute_call(o->type, "__s_hash__");
	const struct tenon_value *known = ffi_memo_find(h->done, o);
	enum ffi_region around = h->region;
	struct tenon_value result;
	int32_t kind;
	int err;

	if (ffi_compared_by(o->type, &kind))
		return -1;
	if (known) {
		*out = (uint64_t)known->as.integer;
		return 0;
	}
	*out = ffi_hash_type_key(o->type);
	if (kind == COMPARED_VARIABLE && around == REGION_SIMPLE)
		h->region = REGION_NONE;
	err = hook ? call_hook(h, hook, o, out) : hash_fields(h, o, out);
	h->region = around;
	if (err)
		return err;
	if (kind == COMPARED_VARIABLE)
		*out = around == REGION_NONE ? (uint64_t)(uintptr_t)o
					     : ffi_hash_combine(*out, h->variables++);
	if (kind == COMPARED_GRAPH)
		*out = ffi_hash_combine(*out, h->graph_nodes++);
	result = tenon_arg_int((int64_t)*out);
	return ffi_memo_set(h->done, o, &result);
}

static int hash_value(struct hash *h, const struct tenon_value *v, uint64_t *out)
{
	int err;

	if (hash_plain(v, out))
		return 0;
	if (v->type == TENON_TYPE_SHAPE) {
		*out = ffi_shape_hash((const struct tenon_shape *)v->as.object);
		return 0;
	}
	if (v->type == TENON_TYPE_TENSOR)
		return hash_tensor(h, v, out);
	if (h->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("ffi.StructuralHash");
	h->nested++;
	if (ffi_is_sequence(v->type))
		err = hash_sequence(h, (struct tenon_array *)v->as.object, out);
	else if (ffi_is_map(v->type))
		err = hash_map(h, (struct tenon_map *)v->as.object, out);
	else
		err = hash_object(h, v->as.object, out);
	h->nested--;
	return err;
}

static int hash_root(const struct tenon_value *v, enum ffi_region region, bool skip_tensors,
		     uint64_t *out)
{
	struct hash h = { .region = region, .skip_tensors = skip_tensors };
	int err;

	h.done = ffi_map_create(TENON_TYPE_DICT);
	err = h.done ? hash_value(&h, v, out) : -1;
	ffi_unref(h.done);
	return err;
}

int ffi_structural_hash(const struct tenon_value *v, uint64_t *hash)
{
	return hash_root(v, REGION_NONE, false, hash);
}

/* @args: a value, whether to map free variables, whether to skip the content of tensors */
static PACKED_CALL(hash_call)
{
	const char *function = "ffi.StructuralHash";
	bool map_variables = false, skip_tensors = false;
	struct tenon_value v;
	uint64_t hash = 0;
	int err;

	if (ffi_count(function, count, 1, 3) ||
	    (count > 1 && ffi_arg_bool(function, args, 1, &map_variables)) ||
	    (count > 2 && ffi_arg_bool(function, args, 2, &skip_tensors)) || ffi_own(&args[0], &v))
		return -1;
	err = hash_root(&v, map_variables ? REGION_PATTERN : REGION_NONE, skip_tensors, &hash);
	ffi_release(&v);
	*ret = tenon_arg_int((int64_t)hash);
	return err;
}

const struct global_function structural_hash_globals[] = {
	{ "ffi.StructuralHash", hash_call },
	{ NULL, NULL },
};
