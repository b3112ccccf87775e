/* SPDX-License-Identifier: MIT */
/* Make and hash shapes. */
#include "runtime/ffi/shape.h"

#include <stdlib.h>

static void shape_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

int ffi_shape_create(const struct tenon_value *items, size_t count, struct tenon_value *out)
{
	struct tenon_shape *s = calloc(1, sizeof(*s) + count * sizeof(int64_t));
	int64_t *extents;
	size_t i;

	if (!s)
		return ffi_nomem("a shape");
	ffi_object_init(s, TENON_TYPE_SHAPE, shape_delete);
	extents = (int64_t *)(s + 1);
	s->data = extents;
	s->size = count;
	for (i = 0; i < count; i++) {
		if (items[i].type != TENON_TYPE_INT) {
			free(s);
			return ffi_raise("ValueError",
					 "Expect shape to take list of int arguments");
		}
		extents[i] = items[i].as.integer;
	}
	*out = tenon_arg_object(s);
	return 0;
}

uint64_t ffi_shape_hash(const struct tenon_shape *s)
{
	uint64_t hash = ffi_hash_combine(ffi_hash_type_key(TENON_TYPE_SHAPE), s->size);
	size_t i;

	for (i = 0; i < s->size; i++)
		hash = ffi_hash_combine(hash, (uint64_t)s->data[i]);
	return hash;
}

static PACKED_CALL(make_shape)
{
	return ffi_shape_create(args, (size_t)count, ret);
}

const struct global_function shape_globals[] = {
	{ "ffi.Shape", make_shape },
	{ NULL, NULL },
};
