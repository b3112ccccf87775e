/* SPDX-License-Identifier: MIT */
/* ffi.StructuralKey: a value as a key of maps by its structure, with its hash computed once. */
#include <stddef.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/structural.h"
#include "runtime/ffi/types.h"

struct structural_key {
	struct tenon_object object;
	struct tenon_value key;
	int64_t hash;
};

static const struct ffi_member members[] = {
	{ "key", FFI_AT(struct structural_key, key), TENON_TYPE_ANY, 0, "{\"type\":\"Any\"}" },
	{ "hash_i64", FFI_AT(struct structural_key, hash), TENON_TYPE_INT, 0,
	  "{\"type\":\"int\"}" },
	{ 0 },
};

static PACKED_CALL(make_call)
{
	struct structural_key *k;
	uint64_t hash = 0;

	if (ffi_count("ffi.StructuralKey", count, 1, 1))
		return -1;
	k = ffi_instance_create(ffi_type_structural_key, sizeof(*k));
	if (!k)
		return -1;
	*ret = tenon_arg_object(k);
	if (ffi_own(&args[0], &k->key) || ffi_structural_hash(&k->key, &hash)) {
		ffi_release(ret);
		return -1;
	}
	k->hash = (int64_t)hash;
	return 0;
}

static int keys_equal(const struct structural_key *a, const struct structural_key *b, bool *equal)
{
	*equal = a == b;
	if (a == b || a->hash != b->hash)
		return 0;
	return ffi_structural_equal(&a->key, &b->key, equal);
}

static PACKED_CALL(equal_call)
{
	const char *function = "ffi.StructuralKeyEqual";
	struct structural_key *a, *b;
	bool equal = false;
	int err;

	if (ffi_count(function, count, 2, 2) ||
	    ffi_arg_object(function, args, 0, ffi_type_structural_key, &a) ||
	    ffi_arg_object(function, args, 1, ffi_type_structural_key, &b))
		return -1;
	err = keys_equal(a, b, &equal);
	*ret = tenon_arg_bool(equal);
	return err;
}

/* what maps call; an error is returned as a value */
static struct tenon_value any_hash(const struct tenon_value *v)
{
	return tenon_arg_int(((const struct structural_key *)v->as.object)->hash);
}

static struct tenon_value any_equal(const struct tenon_value *a, const struct tenon_value *b)
{
	bool equal = false;
	void *error;

	if (!keys_equal((const struct structural_key *)a->as.object,
			(const struct structural_key *)b->as.object, &equal))
		return tenon_arg_bool(equal);
	ffi->TVMFFIErrorMoveFromRaised(&error);
	return tenon_arg_object(error);
}

static const struct global_function globals[] = {
	{ "ffi.StructuralKey", make_call },
	{ "ffi.StructuralKeyEqual", equal_call },
	{ NULL, NULL },
};

int structural_key_register(void)
{
	if (ffi_type_add("ffi.StructuralKey", TENON_TYPE_OBJECT, sizeof(struct structural_key),
			 COMPARED_NEVER, true, &ffi_type_structural_key) ||
	    ffi_members_register(ffi_type_structural_key, members) ||
	    ffi_instance_attributes(ffi_type_structural_key, sizeof(struct structural_key)) ||
	    ffi_method_register(ffi_type_structural_key, "__ffi_init__", true, make_call,
				"{\"type\":\"ffi.Function\"}") ||
	    ffi_attribute_function(ffi_type_structural_key, "__ffi_init__", NULL, make_call,
				   NULL) ||
	    ffi_attribute_key(ffi_type_structural_key, any_hash, any_equal))
		return -1;
	return ffi_register_globals(globals);
}
