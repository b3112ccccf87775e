/* SPDX-License-Identifier: MIT */
/*
 * Objects of types that were defined field by field: by Python's dataclasses, or in this room. How a
 * field is stored follows from its static type and its size.
 */
#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/fields.h"

enum storage { STORED_PLAIN, STORED_VALUE, STORED_OBJECT };

static enum storage storage_of(const struct type_field *field)
{
	if (field->static_type == TENON_TYPE_ANY)
		return field->size == (int64_t)sizeof(void *) ? STORED_OBJECT : STORED_VALUE;
	return field->static_type >= TENON_TYPE_OBJECT ? STORED_OBJECT : STORED_PLAIN;
}

static void instance_delete(void *self, int flags)
{
	struct tenon_object *o = self, *held;
	const struct type_field *field;
	struct ffi_field_at at;
	void *address;

	if (flags & TENON_DELETE_CONTENT) {
		if (ffi->nested_delete(self, flags))
			return;
		at = ffi_fields_of(o->type);
		while ((field = ffi_field_next(&at))) {
			address = (char *)self + field->offset;
			if (storage_of(field) == STORED_VALUE) {
				ffi_release(address);
			} else if (storage_of(field) == STORED_OBJECT) {
				held = *(struct tenon_object **)address;
				*(struct tenon_object **)address = NULL;
				ffi_unref(held);
			}
		}
	}
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

void *ffi_instance_create(int32_t type, size_t size)
{
	struct tenon_object *o = size < sizeof(*o) ? NULL : calloc(1, size);

	if (!o) {
		ffi_nomem("an object");
		return NULL;
	}
	ffi_object_init(o, type, instance_delete);
	return o;
}

static void *instance_copy(const struct tenon_object *from, size_t size)
{
	const struct type_field *field;
	struct ffi_field_at at;
	char *o = ffi_instance_create(from->type, size);
	const char *source = (const char *)from;

	if (!o)
		return NULL;
	at = ffi_fields_of(from->type);
	while ((field = ffi_field_next(&at))) {
		/* Two fields may share their memory: the second copy must not count twice. */
		if (storage_of(field) == STORED_VALUE) {
			ffi_release((struct tenon_value *)(void *)(o + field->offset));
			*(struct tenon_value *)(void *)(o + field->offset) = ffi_copy(
				(const struct tenon_value *)(const void *)(source + field->offset));
		} else if (storage_of(field) == STORED_OBJECT) {
			ffi_unref(*(void **)(void *)(o + field->offset));
			*(void **)(void *)(o + field->offset) =
				*(void *const *)(const void *)(source + field->offset);
			ffi_ref(*(void **)(void *)(o + field->offset));
		} else {
			memcpy(o + field->offset, source + field->offset, (size_t)field->size);
		}
	}
	return o;
}

/* a type and the size of its objects, as the context of two functions */
struct instance_type {
	int32_t type;
	size_t size;
};

static PACKED_CALL(new_call)
{
	const struct instance_type *t = self;
	void *o = ffi_instance_create(t->type, t->size);

	*ret = tenon_arg_object(o);
	return o ? 0 : -1;
}

static PACKED_CALL(copy_call)
{
	const struct instance_type *t = self;
	struct tenon_object *from;
	void *o;

	if (ffi_count("__ffi_shallow_copy__", count, 1, 1) ||
	    ffi_arg_object("__ffi_shallow_copy__", args, 0, t->type, &from))
		return -1;
	if (from->type != t->type)
		return ffi_raise("TypeError", "__ffi_shallow_copy__: an object of a derived type");
	o = instance_copy(from, t->size);
	*ret = tenon_arg_object(o);
	return o ? 0 : -1;
}

static int set_function(int32_t type, size_t size, const char *name, tenon_call_fn call)
{
	struct instance_type *t = malloc(sizeof(*t));

	if (!t)
		return ffi_nomem("a type");
	t->type = type;
	t->size = size;
	return ffi_attribute_function(type, name, t, call, free);
}

int ffi_instance_attributes(int32_t type, size_t size)
{
	if (set_function(type, size, "__ffi_new__", new_call))
		return -1;
	return set_function(type, size, "__ffi_shallow_copy__", copy_call);
}

/* ---- getters and setters by static type */

#define GETTER(name, stored, expression)                                                           \
	static int name(void *field, struct tenon_value *out)                                      \
	{                                                                                          \
		stored v = *(stored *)field;                                                       \
                                                                                                   \
		*out = expression;                                                                 \
		return 0;                                                                          \
	}

GETTER(get_int, int64_t, tenon_arg_int(v))
GETTER(get_float, double, tenon_arg_float(v))
GETTER(get_bool, bool, tenon_arg_bool(v))
GETTER(get_pointer, void *, v ? tenon_arg_pointer(v) : tenon_arg_none())
GETTER(get_dtype, DLDataType, tenon_arg_dtype(v))
GETTER(get_device, DLDevice, tenon_arg_device(v))
GETTER(get_value, struct tenon_value, ffi_copy(&v))

static int get_object(void *field, struct tenon_value *out)
{
	struct tenon_object *o = *(struct tenon_object **)field;

	ffi_ref(o);
	*out = tenon_arg_object(o);
	return 0;
}

int (*ffi_field_getter(int32_t type))(void *field, struct tenon_value *out)
{
	switch (type) {
	case TENON_TYPE_INT:
		return get_int;
	case TENON_TYPE_FLOAT:
		return get_float;
	case TENON_TYPE_BOOL:
		return get_bool;
	case TENON_TYPE_POINTER:
		return get_pointer;
	case TENON_TYPE_DTYPE:
		return get_dtype;
	case TENON_TYPE_DEVICE:
		return get_device;
	case TENON_TYPE_ANY:
	case TENON_TYPE_NONE:
		return get_value;
	default:
		return type >= TENON_TYPE_OBJECT ? get_object : NULL;
	}
}

static int wrong_type(int32_t type, struct tenon_value *value)
{
	struct tenon_slice wanted = ffi_type_key(type), found = ffi_type_key(value->type);

	ffi_raise("TypeError", "Cannot convert from type `%.*s` to `%.*s`", (int)found.size,
		  found.data, (int)wanted.size, wanted.data);
	ffi_release(value);
	return -1;
}

static int write_number(void *field, int32_t type, struct tenon_value *value)
{
	bool whole = value->type == TENON_TYPE_INT || value->type == TENON_TYPE_BOOL;

	if (type == TENON_TYPE_FLOAT && (whole || value->type == TENON_TYPE_FLOAT))
		*(double *)field = whole ? (double)value->as.integer : value->as.real;
	else if (type == TENON_TYPE_INT && whole)
		*(int64_t *)field = value->as.integer;
	else if (type == TENON_TYPE_BOOL && whole)
		*(bool *)field = value->as.integer != 0;
	else
		return wrong_type(type, value);
	return 0;
}

int ffi_field_write(void *field, int32_t type, struct tenon_value *value)
{
	struct tenon_value old;
	struct tenon_object *held;

	switch (type) {
	case TENON_TYPE_INT:
	case TENON_TYPE_FLOAT:
	case TENON_TYPE_BOOL:
		return write_number(field, type, value);
	case TENON_TYPE_POINTER:
		if (value->type != TENON_TYPE_POINTER && value->type != TENON_TYPE_NONE)
			return wrong_type(type, value);
		*(void **)field = value->type == TENON_TYPE_NONE ? NULL : value->as.pointer;
		return 0;
	case TENON_TYPE_DTYPE:
		if (value->type != type)
			return wrong_type(type, value);
		*(DLDataType *)field = value->as.dtype;
		return 0;
	case TENON_TYPE_DEVICE:
		if (value->type != type)
			return wrong_type(type, value);
		*(DLDevice *)field = value->as.device;
		return 0;
	case TENON_TYPE_ANY:
	case TENON_TYPE_NONE:
		old = *(struct tenon_value *)field;
		*(struct tenon_value *)field = *value;
		ffi_release(&old);
		return 0;
	default:
		if (type < TENON_TYPE_OBJECT ||
		    (value->type < TENON_TYPE_OBJECT && value->type != TENON_TYPE_NONE))
			return wrong_type(type, value);
		held = *(struct tenon_object **)field;
		*(struct tenon_object **)field =
			value->type == TENON_TYPE_NONE ? NULL : value->as.object;
		ffi_unref(held);
		return 0;
	}
}

/* ---- global functions for Python's dataclasses */

static PACKED_CALL(make_getter)
{
	int (*getter)(void *field, struct tenon_value *out);
	int64_t type;

	if (ffi_count("ffi.MakeFieldGetter", count, 1, 1) ||
	    ffi_arg_int("ffi.MakeFieldGetter", args, 0, &type))
		return -1;
	getter = type >= TENON_TYPE_ANY && type <= INT32_MAX ? ffi_field_getter((int32_t)type)
							     : NULL;
	if (!getter)
		return ffi_raise("ValueError", "Unsupported field type index for getter: %lld",
				 (long long)type);
	*ret = tenon_arg_int((int64_t)(intptr_t)getter);
	return 0;
}

/* a setter that lets Python convert the value */
struct converting_setter {
	int32_t type;
	void *converter; /* Python's, which keeps it as long as the type */
	int (*convert)(void *converter, const struct tenon_value *value, struct tenon_value *out);
};

static PACKED_CALL(setter_call)
{
	const struct converting_setter *s = self;
	struct tenon_value converted = tenon_arg_none();

	*ret = tenon_arg_none();
	if (ffi_count("field setter", count, 2, 2))
		return -1;
	if (args[0].type != TENON_TYPE_POINTER)
		return ffi_raise("TypeError", "field setter: expected the address of a field");
	if (s->convert(s->converter, &args[1], &converted))
		return -1;
	return ffi_field_write(args[0].as.pointer, s->type, &converted);
}

static PACKED_CALL(make_setter)
{
	struct converting_setter *s;
	int64_t type, converter, convert;
	void *address;

	if (ffi_count("ffi.MakeFieldSetter", count, 3, 3) ||
	    ffi_arg_int("ffi.MakeFieldSetter", args, 0, &type) ||
	    ffi_arg_int("ffi.MakeFieldSetter", args, 1, &converter) ||
	    ffi_arg_int("ffi.MakeFieldSetter", args, 2, &convert))
		return -1;
	if (type < TENON_TYPE_ANY || type > INT32_MAX || !ffi_field_getter((int32_t)type) ||
	    !convert)
		return ffi_raise("ValueError", "Unsupported field type index for setter: %lld",
				 (long long)type);
	s = malloc(sizeof(*s));
	if (!s)
		return ffi_nomem("a setter");
	s->type = (int32_t)type;
	s->converter = (void *)(intptr_t)converter;
	address = (void *)(intptr_t)convert;
	*(void **)&s->convert = address;
	if (!ffi_function(s, setter_call, free, ret))
		return 0;
	free(s);
	return -1;
}

static PACKED_CALL(register_init)
{
	int64_t type;

	*ret = tenon_arg_none();
	if (ffi_count("ffi._RegisterFFIInit", count, 1, 1) ||
	    ffi_arg_int("ffi._RegisterFFIInit", args, 0, &type))
		return -1;
	return ffi_init_register((int32_t)type);
}

static PACKED_CALL(register_class)
{
	const char *function = "ffi._PyClassRegisterTypeAttrColumns";
	int64_t type, size;

	*ret = tenon_arg_none();
	if (ffi_count(function, count, 2, 2) || ffi_arg_int(function, args, 0, &type) ||
	    ffi_arg_int(function, args, 1, &size))
		return -1;
	if (size < (int64_t)sizeof(struct tenon_object))
		return ffi_raise("ValueError", "%s: objects of %lld bytes", function,
				 (long long)size);
	if (ffi_init_register((int32_t)type))
		return -1;
	return ffi_instance_attributes((int32_t)type, (size_t)size);
}

const struct global_function fields_globals[] = {
	{ "ffi.MakeFieldGetter", make_getter },
	{ "ffi.MakeFieldSetter", make_setter },
	{ "ffi._PyClassRegisterTypeAttrColumns", register_class },
	{ "ffi._RegisterFFIInit", register_init },
	{ NULL, NULL },
};
