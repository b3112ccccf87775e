/* SPDX-License-Identifier: MIT */
/* Attributes of types: one column for each name, with a value for each type. */
#ifndef RUNTIME_FFI_ATTRIBUTES_H
#define RUNTIME_FFI_ATTRIBUTES_H

#include "runtime/ffi/ffi.h"

/* Make sure that a column exists: foreign code keeps its address. Return: 0; -1. */
int ffi_attribute_column(const char *name);

/* Set an attribute of a type. Return: 0; -1 with an error raised. */
int ffi_attribute_set(int32_t type, const char *name, const struct tenon_value *value);

/* Set an attribute to a new function. @deleter is called in any case. Return: 0; -1. */
int ffi_attribute_function(int32_t type, const char *name, void *self, tenon_call_fn call,
			   void (*deleter)(void *self));

/* Set the functions that maps call for keys of a type: __any_hash__ and __any_equal__. Return: 0; -1. */
int ffi_attribute_key(int32_t type, struct tenon_value (*hash)(const struct tenon_value *v),
		      struct tenon_value (*equal)(const struct tenon_value *a,
						  const struct tenon_value *b));

/* Get a type's value in a column, which may be NULL; NULL if the type has none. */
const struct tenon_value *ffi_column_at(const struct ffi_column *c, int32_t type);

/* Get an attribute's value, borrowed; NULL if the type has none. */
const struct tenon_value *ffi_attribute(int32_t type, const char *name);

/* Get an attribute that is a function, borrowed; NULL if the type has none. */
struct tenon_object *ffi_attribute_call(int32_t type, const char *name);

#endif /* RUNTIME_FFI_ATTRIBUTES_H */
