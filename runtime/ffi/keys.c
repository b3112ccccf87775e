/* SPDX-License-Identifier: MIT */
/*
 * Equality and hash of the keys of maps. C++ code looks keys up in maps made here, and the reverse:
 * both must compute the same. Strings count by their bytes in each encoding, objects by identity
 * unless their type has the attributes __any_hash__ and __any_equal__.
 */
#include "runtime/ffi/attributes.h"

#include "lib/little_endian.h"

#define HASH_MULTIPLIER UINT64_C(1099511628211)
#define HASH_MODULUS	UINT64_C(2147483647)

uint64_t ffi_hash_bytes(const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t hash = 0;

	for (; size >= 8; at += 8, size -= 8)
		hash = (hash * HASH_MULTIPLIER + little_endian(at, 8)) % HASH_MODULUS;
	if (size)
		hash = (hash * HASH_MULTIPLIER + little_endian(at, size)) % HASH_MODULUS;
	return hash;
}

/* Both columns exist from the registration on, and never move. */
static const struct ffi_column *column(const struct ffi_column **cache, const char *name)
{
	const struct ffi_column *c = __atomic_load_n(cache, __ATOMIC_ACQUIRE);
	struct tenon_slice key = tenon_slice_of(name);

	if (!c) {
		c = ffi->TVMFFIGetTypeAttrColumn(&key);
		__atomic_store_n(cache, c, __ATOMIC_RELEASE);
	}
	return c;
}

/* Call a function of C++'s or a function object. An error is dropped: lookups cannot report one. */
static int64_t call_attribute(const struct tenon_value *attribute, const struct tenon_value *a,
			      const struct tenon_value *b)
{
	struct tenon_value args[2], ret = tenon_arg_none();
	struct tenon_value (*one)(const struct tenon_value *a);
	struct tenon_value (*two)(const struct tenon_value *a, const struct tenon_value *b);

	args[0] = *a;
	if (attribute->type == TENON_TYPE_POINTER && b) {
		*(void **)&two = attribute->as.pointer;
		ret = two(a, b);
	} else if (attribute->type == TENON_TYPE_POINTER) {
		*(void **)&one = attribute->as.pointer;
		ret = one(a);
	} else if (attribute->type == TENON_TYPE_FUNCTION) {
		if (b)
			args[1] = *b;
		if (ffi_call(attribute->as.object, args, b ? 2 : 1, &ret)) {
			ffi_drop_error();
			return 0;
		}
	}
	if (ret.type == TENON_TYPE_INT || ret.type == TENON_TYPE_BOOL)
		return ret.as.integer;
	ffi_release(&ret);
	return 0;
}

uint64_t ffi_key_hash(const struct tenon_value *key)
{
	static const struct ffi_column *hashes;
	const struct tenon_value *attribute;
	struct tenon_slice text;

	if (ffi_text(key, &text))
		return ffi_hash_text(key->type, text);
	if (key->type >= TENON_TYPE_OBJECT) {
		attribute = ffi_column_at(column(&hashes, "__any_hash__"), key->type);
		if (attribute)
			return ffi_hash_combine((uint64_t)key->type,
						(uint64_t)call_attribute(attribute, key, NULL));
	}
	return ffi_hash_combine((uint64_t)key->type, key->as.bits);
}

bool ffi_key_equal(const struct tenon_value *a, const struct tenon_value *b)
{
	static const struct ffi_column *equals;
	const struct tenon_value *attribute;
	struct tenon_slice sa, sb;

	if (ffi_text(a, &sa))
		return ffi_is_bytes(a->type) == ffi_is_bytes(b->type) && ffi_text(b, &sb) &&
		       tenon_slice_equal(sa, sb);
	if (a->type != b->type)
		return false;
	if (a->as.bits == b->as.bits)
		return true;
	if (a->type < TENON_TYPE_OBJECT)
		return false;
	attribute = ffi_column_at(column(&equals, "__any_equal__"), a->type);
	return attribute && call_attribute(attribute, a, b);
}
