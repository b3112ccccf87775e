/* SPDX-License-Identifier: MIT */
/*
 * Functions of types that take the place of a visit to an object's fields. Such a function gets, as its
 * last argument, a function for the values in the object, which goes on with the same visit.
 */
#ifndef RUNTIME_FFI_TYPE_HOOKS_H
#define RUNTIME_FFI_TYPE_HOOKS_H

#include "runtime/ffi/ffi.h"

/*
 * Call a type's function.
 * @args: @count arguments, and room for one more
 * @within: the function for values in the object; gets @visit by ffi_hook_visit()
 * @ret: owned
 *
 * Return: 0; -1 with an error raised.
 */
int ffi_hook_call(struct tenon_object *hook, struct tenon_value *args, int32_t count,
		  tenon_call_fn within, void *visit, struct tenon_value *ret);

/* Get the visit in a call of @within. Return: NULL with an error raised once the hook returned. */
void *ffi_hook_visit(void *self, const char *attribute);

/* Get the integer or the bool that a hook returned. Return: 0; -1 with an error raised for other types. */
int ffi_hook_integer(struct tenon_value *ret, const char *attribute, const char *wanted,
		     int64_t *out);

#endif /* RUNTIME_FFI_TYPE_HOOKS_H */
