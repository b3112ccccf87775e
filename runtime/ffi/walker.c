/* SPDX-License-Identifier: MIT */
/* Callbacks and regions of structural visitors and mutators. */
#include "runtime/ffi/walker.h"

#include <stdlib.h>

__thread int ffi_walker_depth;

void *ffi_walker_create(size_t size, int32_t type, void (*deleter)(void *self, int flags),
			const void *table, struct tenon_array *callbacks,
			struct tenon_array *with_region, const char *what)
{
	struct ffi_walker *w = calloc(1, size);

	if (!w) {
		ffi_nomem(what);
		return NULL;
	}
	ffi_object_init(w, type, deleter);
	w->table = table;
	ffi_ref(callbacks);
	ffi_ref(with_region);
	w->callbacks = callbacks;
	w->with_region = with_region;
	return w;
}

void ffi_walker_delete(void *self, int flags)
{
	struct ffi_walker *w = self;

	if (flags & TENON_DELETE_CONTENT) {
		ffi_unref(w->callbacks);
		ffi_unref(w->with_region);
		w->callbacks = w->with_region = NULL;
	}
	if (flags & TENON_DELETE_MEMORY)
		free(w);
}

struct tenon_value ffi_raised(void)
{
	void *error;

	ffi->TVMFFIErrorMoveFromRaised(&error);
	return tenon_arg_object(error);
}

int ffi_give_back(struct tenon_value result, struct tenon_value *ret)
{
	*ret = tenon_arg_none();
	if (result.type == TENON_TYPE_ERROR) {
		ffi->TVMFFIErrorSetRaised(result.as.object);
		ffi_release(&result);
		return -1;
	}
	*ret = result;
	return 0;
}

int ffi_callbacks_check(const char *function, const struct tenon_value *args, int32_t i,
			int64_t size, struct tenon_array **out)
{
	const struct tenon_array *entry;
	int64_t k;

	if (ffi_arg_object(function, args, i, TENON_TYPE_ARRAY, out))
		return -1;
	for (k = 0; k < (*out)->size; k++) {
		entry = (const struct tenon_array *)(*out)->data[k].as.object;
		if ((*out)->data[k].type != TENON_TYPE_ARRAY || entry->size != size ||
		    entry->data[0].type != TENON_TYPE_INT ||
		    entry->data[1].type != TENON_TYPE_FUNCTION)
			return ffi_raise("TypeError",
					 "%s: expected entries of %lld values: a type, a function",
					 function, (long long)size);
	}
	return 0;
}

static bool matches(int32_t type, int64_t wanted)
{
	if (wanted == TENON_TYPE_ANY || wanted == type)
		return true;
	if (ffi_is_string(type))
		return wanted == TENON_TYPE_STRING;
	if (ffi_is_bytes(type))
		return wanted == TENON_TYPE_BYTES;
	return type >= TENON_TYPE_OBJECT && ffi_type_is(type, (int32_t)wanted);
}

const struct tenon_value *ffi_callback_for(const struct tenon_array *callbacks,
					   const struct tenon_value *value)
{
	const struct tenon_array *entry;
	int64_t i;

	for (i = 0; callbacks && i < callbacks->size; i++) {
		entry = (const struct tenon_array *)callbacks->data[i].as.object;
		if (matches(value->type, entry->data[0].as.integer))
			return entry->data;
	}
	return NULL;
}

int ffi_walker_region(const char *function, int32_t type, const struct tenon_value *args,
		      int32_t count, struct tenon_value *ret)
{
	struct ffi_walker *w;

	if (ffi_count(function, count, 1, 1) || ffi_arg_object(function, args, 0, type, &w))
		return -1;
	*ret = tenon_arg_int(w->region);
	return 0;
}

int ffi_walker_with_region(const char *function, int32_t type, const struct tenon_value *args,
			   int32_t count, struct tenon_value *ret)
{
	struct tenon_object *callback;
	struct ffi_walker *w;
	int32_t before;
	int64_t kind;
	int err;

	if (ffi_count(function, count, 3, 3) || ffi_arg_object(function, args, 0, type, &w) ||
	    ffi_arg_int(function, args, 1, &kind) ||
	    ffi_arg_object(function, args, 2, TENON_TYPE_FUNCTION, &callback))
		return -1;
	if (kind < REGION_NONE || kind > REGION_SIMPLE)
		return ffi_raise("ValueError", "%s: there is no kind %lld", function,
				 (long long)kind);
	before = w->region;
	if (before != REGION_PATTERN)
		w->region = (int32_t)kind;
	err = ffi_call(callback, NULL, 0, ret);
	w->region = before;
	return err;
}
