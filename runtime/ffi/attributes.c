/* SPDX-License-Identifier: MIT */
/* Find, set and call attributes of types in the columns of tvm-ffi. */
#include "runtime/ffi/attributes.h"

int ffi_attribute_column(const char *name)
{
	struct tenon_value none = tenon_arg_none();

	return ffi_attribute_set(TENON_TYPE_NONE, name, &none);
}

int ffi_attribute_set(int32_t type, const char *name, const struct tenon_value *value)
{
	struct tenon_slice key = tenon_slice_of(name);

	return ffi->TVMFFITypeRegisterAttr(type, &key, value) ? -1 : 0;
}

int ffi_attribute_function(int32_t type, const char *name, void *self, tenon_call_fn call,
			   void (*deleter)(void *self))
{
	struct tenon_value f;
	int err;

	if (ffi_function(self, call, deleter, &f)) {
		if (deleter)
			deleter(self);
		return -1;
	}
	err = ffi_attribute_set(type, name, &f);
	ffi_release(&f);
	return err;
}

int ffi_attribute_key(int32_t type, struct tenon_value (*hash)(const struct tenon_value *v),
		      struct tenon_value (*equal)(const struct tenon_value *a,
						  const struct tenon_value *b))
{
	struct tenon_value pointer = tenon_arg_pointer(NULL);

	memcpy(&pointer.as.pointer, &hash, sizeof(void *));
	if (ffi_attribute_set(type, "__any_hash__", &pointer))
		return -1;
	memcpy(&pointer.as.pointer, &equal, sizeof(void *));
	return ffi_attribute_set(type, "__any_equal__", &pointer);
}

const struct tenon_value *ffi_column_at(const struct ffi_column *c, int32_t type)
{
	const struct tenon_value *v;

	if (!c || type < c->begin || type - c->begin >= __atomic_load_n(&c->size, __ATOMIC_ACQUIRE))
		return NULL;
	v = &__atomic_load_n(&c->data, __ATOMIC_ACQUIRE)[type - c->begin];
	return v->type == TENON_TYPE_NONE ? NULL : v;
}

const struct tenon_value *ffi_attribute(int32_t type, const char *name)
{
	struct tenon_slice key = tenon_slice_of(name);

	return ffi_column_at(ffi->TVMFFIGetTypeAttrColumn(&key), type);
}

struct tenon_object *ffi_attribute_call(int32_t type, const char *name)
{
	const struct tenon_value *v = ffi_attribute(type, name);

	return v && v->type == TENON_TYPE_FUNCTION ? v->as.object : NULL;
}
