/* SPDX-License-Identifier: MIT */
/* What the functions share that visit objects within objects. */
#ifndef RUNTIME_FFI_WALK_H
#define RUNTIME_FFI_WALK_H

#include "runtime/ffi/map.h"

/* Deepest nesting that is visited: a level needs up to half a KiB of the stack. */
#define FFI_NESTED_MOST 1000

static inline int ffi_too_deep(const char *function)
{
	return ffi_raise("ValueError", "%s: maximum nesting depth (%d) exceeded", function,
			 FFI_NESTED_MOST);
}

/* Objects that are being visited, the innermost first; compared by address. */
struct ffi_open {
	const struct ffi_open *outer;
	const void *object;
	const void *other; /* of a pair; NULL for one object */
};

static inline bool ffi_is_open(const struct ffi_open *open, const void *object, const void *other)
{
	for (; open; open = open->outer)
		if (open->object == object && open->other == other)
			return true;
	return false;
}

/* Results by the address of an object: a map with pointers as keys. */
static inline struct tenon_value *ffi_memo_find(const struct tenon_map *memo, const void *object)
{
	struct tenon_value key = tenon_arg_pointer((void *)(uintptr_t)object);

	return ffi_map_find(memo, &key);
}

static inline int ffi_memo_set(struct tenon_map *memo, const void *object,
			       const struct tenon_value *result)
{
	struct tenon_value key = tenon_arg_pointer((void *)(uintptr_t)object);

	return ffi_map_set(memo, &key, result);
}

#endif /* RUNTIME_FFI_WALK_H */
