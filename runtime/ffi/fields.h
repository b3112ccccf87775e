/* SPDX-License-Identifier: MIT */
/* Fields of objects, through what their types registered for them. */
#ifndef RUNTIME_FFI_FIELDS_H
#define RUNTIME_FFI_FIELDS_H

#include "runtime/ffi/ffi.h"

/* TVMFFIFieldFlagBitMask */
enum ffi_field_flag {
	FIELD_WRITABLE = 1 << 0,
	FIELD_HAS_DEFAULT = 1 << 1,
	FIELD_STATIC_METHOD = 1 << 2,
	FIELD_STRUCTURAL_IGNORE = 1 << 3,
	FIELD_DEFINES_PATTERN = 1 << 4,
	FIELD_DEFAULT_FACTORY = 1 << 5,
	FIELD_REPR_OFF = 1 << 6,
	FIELD_COMPARE_OFF = 1 << 7,
	FIELD_HASH_OFF = 1 << 8,
	FIELD_INIT_OFF = 1 << 9,
	FIELD_KEYWORD_ONLY = 1 << 10,
	FIELD_DEFINES_SIMPLE = 1 << 12,
};

/* Position in a type's fields: those of ancestors come first. */
struct ffi_field_at {
	const struct type_info *type;
	int32_t level; /* index of an ancestor; the root has no fields */
	int32_t index;
};

static inline struct ffi_field_at ffi_fields_of(int32_t type)
{
	struct ffi_field_at at = { ffi->TVMFFIGetTypeInfo(type), 1, 0 };

	return at;
}

/* Get the next field; NULL after the last. */
const struct type_field *ffi_field_next(struct ffi_field_at *at);

/* Find a field by its name, from the root on; NULL if the type lacks it. */
const struct type_field *ffi_field_find(int32_t type, struct tenon_slice name);

/* Number of fields, those of ancestors too. */
int32_t ffi_field_count(int32_t type);

/* Read a field of an object; @out is owned. Return: 0; -1 with an error raised. */
int ffi_field_get(const struct type_field *field, const void *object, struct tenon_value *out);

/* Write a field of an object. Return: 0; -1 with an error raised. */
int ffi_field_set(const struct type_field *field, void *object, const struct tenon_value *value);

/* Write a field's default, which the field must have. Return: 0; -1 with an error raised. */
int ffi_field_set_default(const struct type_field *field, void *object);

/* Write the default of a field for which there is no value. Return: 0; -1 with an error if it has none. */
int ffi_field_set_absent(int32_t type, const struct type_field *field, void *object);

/* Make an object of a type with the values that its creator gives. Return: 0; -1 with an error raised. */
int ffi_object_create(int32_t type, struct tenon_value *out);

/* ---- types whose objects are made here */

/* Make an object with all fields zero. Return: the object; NULL with an error raised. */
void *ffi_instance_create(int32_t type, size_t size);

/* Register the attributes __ffi_new__ and __ffi_shallow_copy__ of such a type. Return: 0; -1. */
int ffi_instance_attributes(int32_t type, size_t size);

/* Get the function that reads a field of a static type, such as TENON_TYPE_INT; NULL for others. */
int (*ffi_field_getter(int32_t type))(void *field, struct tenon_value *out);

/* Write a value, which it takes over, to a field of a static type. Return: 0; -1. */
int ffi_field_write(void *field, int32_t type, struct tenon_value *value);

/* Register the attribute __ffi_init__ that sets a type's fields from arguments. Return: 0; -1. */
int ffi_init_register(int32_t type);

#endif /* RUNTIME_FFI_FIELDS_H */
