/* SPDX-License-Identifier: MIT */
/*
 * The type table: types of objects by index and by name.
 *
 * A record starts with tvm-ffi's TVMFFITypeInfo. Foreign code reads records in place, so they are never moved or freed.
 * Lookup by index takes no lock.
 */
#ifndef RUNTIME_CORE_TYPE_H
#define RUNTIME_CORE_TYPE_H

#include <tenon/string.h>
#include <tenon/visit.h>

#include "lib/plugin_api.h"

#define TYPE_VALUE_END	 14 /* one past the last static index of values (ffi.Unchanged) */
#define TYPE_STATIC_LAST 78 /* ffi.BigInt, the last static index known here */

/* TVMFFIFieldInfo: what foreign code registers for a field */
struct type_field {
	struct tenon_slice name;
	struct tenon_slice doc;
	struct tenon_slice metadata;
	int64_t flags;
	int64_t size;
	int64_t alignment;
	int64_t offset; /* from the object's header */
	int (*getter)(void *field, struct tenon_value *owned);
	void *setter; /* a function pointer, or with TYPE_FIELD_SETTER_OBJECT a function object */
	struct tenon_value default_value;
	int32_t static_type;
};

#define TYPE_FIELD_SETTER_OBJECT (INT64_C(1) << 11)

/* TVMFFIMethodInfo */
struct type_method {
	struct tenon_slice name;
	struct tenon_slice doc;
	struct tenon_slice metadata;
	int64_t flags;
	struct tenon_value method;
};

/* TVMFFITypeMetadata */
struct type_metadata {
	struct tenon_slice doc;
	int (*creator)(struct tenon_object **out);
	int32_t total_size;
	int32_t structural_kind;
};

/* TVMFFITypeInfo */
struct type_info {
	int32_t index;
	int32_t depth; /* number of ancestors */
	struct tenon_slice key;
	const struct type_info **ancestors; /* root first */
	uint64_t key_hash;
	int32_t field_count;
	int32_t method_count;
	const struct type_field *fields;
	const struct type_method *methods;
	const struct type_metadata *metadata;
};

struct type_record {
	struct type_info info;
	tenon_visit_fn visit;
	struct type_record *next_of_hash;
	int32_t slots; /* indices reserved for the type and its children */
	int32_t slots_used;
	bool may_overflow; /* children may have indices outside the slots */
};

/* Get the record of a type; NULL if the index is not registered. */
struct type_record *type_record(int32_t index) TO_PLUGINS(type_record);

/* Find the record of a key; NULL if there is none. Takes the lock. */
struct type_record *type_record_by_key(struct tenon_slice key);

/* Get the index after the highest that is given to types. */
int32_t type_end(void);

/* Index layout of a new type, with the parameters of TVMFFITypeGetOrAllocIndex. */
struct type_layout {
	int32_t child_slots;
	bool may_overflow;
};

/* tenon_type_register() for a key that is not NUL-terminated. */
int type_register(struct tenon_slice key, int32_t parent, struct type_layout layout,
		  int32_t *index);

/* The lock that protects changes to type records. */
void type_lock(void);
void type_unlock(void);

/* Get the visit function of an ABI type; NULL for types without fields. */
tenon_visit_fn type_builtin_visit(int32_t index);

#endif /* RUNTIME_CORE_TYPE_H */
