/* SPDX-License-Identifier: MIT */
/*
 * What turns the compatibility library into a drop-in for tvm-ffi: global functions, types and
 * attributes that its Python package expects. It is part of libtvm_ffi.so only and reaches the
 * runtime through the table of tvm_table.h alone, as foreign code would.
 */
#ifndef RUNTIME_FFI_FFI_H
#define RUNTIME_FFI_FFI_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tenon/array.h>

#include "lib/plugin.h"
#include "runtime/core/arguments.h"
#include "runtime/library/tvm_table.h"

/* The runtime; set before anything else in this room runs. */
extern const struct tenon_tvm_table *ffi;

/* Keys of types with static indices that libtenon's headers lack. */
enum {
	FFI_TYPE_UNCHANGED = 13,
	FFI_TYPE_BIG_INT = 78,
};

/* ---- errors */

/*
 * Raise an error of a Python exception's name.
 *
 * Return: -1, for the caller to return.
 */
__attribute__((format(printf, 2, 3))) int ffi_raise(const char *kind, const char *format, ...);

int ffi_nomem(const char *what);

/* Forget the error of a failure that the caller has another answer to. */
static inline void ffi_drop_error(void)
{
	/* not TVMFFIErrorMoveFromRaised(): it makes an object of the error first, and may run out of memory */
	ffi->error_clear();
}

/* ---- values */

/* Turn a view into an owned value. Return: 0; -1 with an error raised. */
static inline int ffi_own(const struct tenon_value *view, struct tenon_value *owned)
{
	return ffi->TVMFFIAnyViewToOwnedAny(view, owned) ? -1 : 0;
}

/* The counts of an object with one reference: strong ones in the low half, weak ones in the high. */
#define FFI_ONE_REFERENCE ((UINT64_C(1) << 32) | 1)

static inline void ffi_object_init(void *object, int32_t type,
				   void (*deleter)(void *self, int flags))
{
	struct tenon_object *o = object;

	o->refs = FFI_ONE_REFERENCE;
	o->type = type;
	o->deleter = deleter;
}

static inline void ffi_ref(void *object)
{
	if (object)
		__atomic_fetch_add(&((struct tenon_object *)object)->refs, 1, __ATOMIC_RELAXED);
}

static inline void ffi_unref(void *object)
{
	if (object)
		ffi->TVMFFIObjectDecRef(object);
}

static inline void ffi_release(struct tenon_value *value)
{
	if (value->type >= TENON_TYPE_OBJECT)
		ffi_unref(value->as.object);
	*value = tenon_arg_none();
}

/* Copy an owned value: one more reference. */
static inline struct tenon_value ffi_copy(const struct tenon_value *owned)
{
	if (owned->type >= TENON_TYPE_OBJECT)
		ffi_ref(owned->as.object);
	return *owned;
}

/* Get the object of a value, an r-value reference followed; NULL for other types. */
struct tenon_object *ffi_object(const struct tenon_value *value);

static inline bool ffi_is_string(int32_t type)
{
	return type == TENON_TYPE_STRING || type == TENON_TYPE_SMALL_STRING ||
	       type == TENON_TYPE_RAW_STRING;
}

static inline bool ffi_is_bytes(int32_t type)
{
	return type == TENON_TYPE_BYTES || type == TENON_TYPE_SMALL_BYTES ||
	       type == TENON_TYPE_RAW_BYTES;
}

static inline bool ffi_is_sequence(int32_t type)
{
	return type == TENON_TYPE_ARRAY || type == TENON_TYPE_LIST;
}

static inline bool ffi_is_map(int32_t type)
{
	return type == TENON_TYPE_MAP || type == TENON_TYPE_DICT;
}

/* Get the bytes of a string or of bytes in any encoding; false for other types. */
bool ffi_text(const struct tenon_value *value, struct tenon_slice *text);

/* The same for strings alone. */
static inline bool ffi_string_text(const struct tenon_value *value, struct tenon_slice *text)
{
	return ffi_is_string(value->type) && ffi_text(value, text);
}

/* Make a string. Return: 0; -1. */
int ffi_string(const char *data, size_t size, struct tenon_value *out);

/* Key of a value's type, not NUL-terminated. */
struct tenon_slice ffi_type_key(int32_t type);

/* Test whether a type equals another or is derived from it. */
bool ffi_type_is(int32_t type, int32_t ancestor);

/* Equality and hash of keys of maps, as C++ headers compute them. Errors of callbacks count as unequal. */
bool ffi_key_equal(const struct tenon_value *a, const struct tenon_value *b);
uint64_t ffi_key_hash(const struct tenon_value *key);

/* Hashes that do not depend on the machine. */
static inline uint64_t ffi_hash_combine(uint64_t hash, uint64_t value)
{
	return hash ^ (value + UINT64_C(0x9e3779b9) + (hash << 6) + (hash >> 2));
}

uint64_t ffi_hash_bytes(const void *data, size_t size);

/* Hash a string's or bytes' text; @type in any encoding. */
static inline uint64_t ffi_hash_text(int32_t type, struct tenon_slice text)
{
	return ffi_hash_combine(ffi_is_bytes(type) ? TENON_TYPE_BYTES : TENON_TYPE_STRING,
				ffi_hash_bytes(text.data, text.size));
}

static inline uint64_t ffi_hash_type_key(int32_t type)
{
	return ffi->TVMFFIGetTypeInfo(type)->key_hash;
}

/* ---- arguments */

/* Check the number of arguments. Return: 0; -1 with a TypeError raised. */
int ffi_count(const char *function, int32_t count, int32_t least, int32_t most);

int ffi_arg_int(const char *function, const struct tenon_value *args, int32_t i, int64_t *out);
int ffi_arg_bool(const char *function, const struct tenon_value *args, int32_t i, bool *out);
int ffi_arg_text(const char *function, const struct tenon_value *args, int32_t i,
		 struct tenon_slice *out);
/* @out: an object of the type or a derived type, borrowed */
int ffi_arg_object(const char *function, const struct tenon_value *args, int32_t i, int32_t type,
		   void *out);

/* ---- calls */

/* Call a function object with views. @ret is owned. Return: 0; -1 with an error raised. */
static inline int ffi_call(struct tenon_object *function, struct tenon_value *args, int32_t count,
			   struct tenon_value *ret)
{
	*ret = tenon_arg_none();
	return ffi->TVMFFIFunctionCall(function, args, count, ret) ? -1 : 0;
}

/* Make a function. Return: 0; -1, when @deleter was not called. */
int ffi_function(void *self, tenon_call_fn call, void (*deleter)(void *self),
		 struct tenon_value *out);

/* ---- registration */

/* Register functions, up to a NULL name. Functions of the runtime with these names are replaced. */
int ffi_register_globals(const struct global_function *list);

/* The functions of files that register nothing else; register.c has their order. */
extern const struct global_function compare_globals[], containers_globals[], copy_globals[],
	hash_globals[], fields_globals[], json_globals[], list_functions_globals[],
	map_functions_globals[], repr_globals[], shape_globals[], structural_equal_globals[],
	structural_hash_globals[], value_graph_globals[], visit_context_globals[];

/*
 * The other steps of the registration, one for each file with functions or types; register.c has their order.
 * Return: 0; -1 with an error raised.
 */
int access_path_register(void);
int big_int_register(void);
int functions_register(void);
int modules_register(void);
int structural_key_register(void);
int structural_mutate_register(void);
int structural_visit_register(void);
int types_register(void);

/* TVMFFIFunctionSetGlobalFromMethodInfo(), which keeps the metadata as well */
int functions_set_from_method(const struct type_method *method, int replace);

#endif /* RUNTIME_FFI_FFI_H */
