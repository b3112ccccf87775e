/* SPDX-License-Identifier: MIT */
/* The types that tvm-ffi's own library registers, with their fields where C++ has them. */
#ifndef RUNTIME_FFI_TYPES_H
#define RUNTIME_FFI_TYPES_H

#include "runtime/ffi/fields.h"

/* indices, valid once types_register() ran */
extern int32_t ffi_type_enum_state, ffi_type_enum, ffi_type_int_enum, ffi_type_str_enum;
extern int32_t ffi_type_access_step, ffi_type_access_path, ffi_type_structural_key;
extern int32_t ffi_type_visitor, ffi_type_mutator, ffi_type_visit_context;

struct ffi_enum {
	struct tenon_object object;
	int64_t number;
	struct tenon_value name;
};

struct ffi_visit_interrupt {
	struct tenon_object object;
	struct tenon_value value;
};

/* what was visited when an error was raised, the innermost object first */
struct ffi_visit_context {
	struct tenon_object object;
	struct tenon_array *reverse_pattern;
	struct tenon_object *previous;
};

/* A field of such a type; how it is stored follows from its size and its static type. */
struct ffi_member {
	const char *name;
	int64_t size;
	int64_t offset;
	int32_t static_type;
	int64_t flags;	    /* enum ffi_field_flag */
	const char *schema; /* JSON */
};

/* size and offset of a member, for the above */
#define FFI_AT(type, member) sizeof(((type *)NULL)->member), (int64_t)offsetof(type, member)

/* what objects of a type are compared by (TVMFFISEqHashKind) */
enum ffi_compared {
	COMPARED_NEVER = 0,
	COMPARED_TREE = 1,
	COMPARED_VARIABLE = 2,
	COMPARED_GRAPH = 3,
	COMPARED_CONST_TREE = 4,
	COMPARED_UNIQUE = 5,
};

/*
 * Register a type.
 * @final: other types may not be derived from it
 *
 * Return: 0; -1 with an error raised.
 */
int ffi_type_add(const char *key, int32_t parent, size_t size, enum ffi_compared compared,
		 bool final, int32_t *index);

/* Register fields, up to a NULL name. Return: 0; -1 with an error raised. */
int ffi_members_register(int32_t type, const struct ffi_member *members);

/* Register a method. Return: 0; -1. */
int ffi_method_register(int32_t type, const char *name, bool is_static, tenon_call_fn call,
			const char *schema);

#endif /* RUNTIME_FFI_TYPES_H */
