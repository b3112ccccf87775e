/* SPDX-License-Identifier: MIT */
/* Read and write fields of objects by their type's records, and create objects. */
#include "runtime/ffi/fields.h"

#include "runtime/ffi/attributes.h"

const struct type_field *ffi_field_next(struct ffi_field_at *at)
{
	const struct type_info *t;

	for (; at->level <= at->type->depth; at->level++, at->index = 0) {
		t = at->level < at->type->depth ? at->type->ancestors[at->level] : at->type;
		if (at->index < __atomic_load_n(&t->field_count, __ATOMIC_ACQUIRE))
			return &__atomic_load_n(&t->fields, __ATOMIC_ACQUIRE)[at->index++];
	}
	return NULL;
}

const struct type_field *ffi_field_find(int32_t type, struct tenon_slice name)
{
	struct ffi_field_at at = ffi_fields_of(type);
	const struct type_field *f;

	while ((f = ffi_field_next(&at)))
		if (tenon_slice_equal(f->name, name))
			break;
	return f;
}

int32_t ffi_field_count(int32_t type)
{
	struct ffi_field_at at = ffi_fields_of(type);
	int32_t n = 0;

	while (ffi_field_next(&at))
		n++;
	return n;
}

int ffi_field_get(const struct type_field *field, const void *object, struct tenon_value *out)
{
	void *address = (char *)(uintptr_t)object + field->offset;

	*out = tenon_arg_none();
	if (!field->getter)
		return ffi_raise("RuntimeError", "field \"%.*s\" cannot be read",
				 (int)field->name.size, field->name.data);
	return field->getter(address, out) ? -1 : 0;
}

int ffi_field_set(const struct type_field *field, void *object, const struct tenon_value *value)
{
	int (*setter)(void *field, const struct tenon_value *value);
	void *address = (char *)object + field->offset;
	struct tenon_value args[2], ret;
	int err;

	if (!field->setter)
		return ffi_raise("RuntimeError", "field \"%.*s\" cannot be written",
				 (int)field->name.size, field->name.data);
	if (!(field->flags & TYPE_FIELD_SETTER_OBJECT)) {
		*(void **)&setter = field->setter;
		return setter(address, value) ? -1 : 0;
	}
	args[0] = tenon_arg_pointer(address);
	args[1] = *value;
	err = ffi_call(field->setter, args, 2, &ret);
	if (!err)
		ffi_release(&ret);
	return err;
}

int ffi_field_set_default(const struct type_field *field, void *object)
{
	struct tenon_value made;
	int err;

	if (!(field->flags & FIELD_DEFAULT_FACTORY))
		return ffi_field_set(field, object, &field->default_value);
	if (field->default_value.type != TENON_TYPE_FUNCTION)
		return ffi_raise("TypeError", "the default of field \"%.*s\" is no function",
				 (int)field->name.size, field->name.data);
	if (ffi_call(field->default_value.as.object, NULL, 0, &made))
		return -1;
	err = ffi_field_set(field, object, &made);
	ffi_release(&made);
	return err;
}

int ffi_field_set_absent(int32_t type, const struct type_field *field, void *object)
{
	struct tenon_slice key = ffi_type_key(type);

	if (field->flags & FIELD_HAS_DEFAULT)
		return ffi_field_set_default(field, object);
	return ffi_raise("TypeError", "Required field `%.*s` not set in type `%.*s`",
			 (int)field->name.size, field->name.data, (int)key.size, key.data);
}

int ffi_object_create(int32_t type, struct tenon_value *out)
{
	const struct type_info *info = ffi->TVMFFIGetTypeInfo(type);
	struct tenon_object *fresh = ffi_attribute_call(type, "__ffi_new__"), *object = NULL;

	*out = tenon_arg_none();
	if (info->metadata && info->metadata->creator) {
		if (info->metadata->creator(&object))
			return -1;
		if (object && ffi_type_is(object->type, type)) {
			*out = tenon_arg_object(object);
			return 0;
		}
		ffi_unref(object);
		return ffi_raise("RuntimeError",
				 "the creator of `%.*s` returned no object of the type",
				 (int)info->key.size, info->key.data);
	}
	if (!fresh)
		return ffi_raise(
			"RuntimeError",
			"Type `%.*s` does not support reflection creation (no native creator "
			"or __ffi_new__ type attr)",
			(int)info->key.size, info->key.data);
	if (ffi_call(fresh, NULL, 0, out))
		return -1;
	/* its fields are written next */
	if (ffi_type_is(out->type, type) && out->as.object)
		return 0;
	ffi_release(out);
	return ffi_raise("RuntimeError", "__ffi_new__ of `%.*s` returned no object of the type",
			 (int)info->key.size, info->key.data);
}
