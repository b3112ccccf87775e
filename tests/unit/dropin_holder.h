/* SPDX-License-Identifier: MIT */
/* Objects that hold two values, and the numbers that describe their types and fields to tvm-ffi. */
#ifndef TESTS_UNIT_DROPIN_HOLDER_H
#define TESTS_UNIT_DROPIN_HOLDER_H

#include <tenon/object.h>
#include <tenon/value.h>

/* what objects of a type are compared by (TVMFFISEqHashKind) */
enum {
	COMPARED_NEVER = 0,
	COMPARED_TREE = 1,
	COMPARED_VARIABLE = 2,
	COMPARED_GRAPH = 3,
	COMPARED_CONST_TREE = 4,
	COMPARED_UNIQUE = 5,
};

/* TVMFFIFieldFlagBitMask */
enum {
	FIELD_HAS_DEFAULT = 1 << 1,
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

/* the type says which of the values are fields */
struct holder {
	struct tenon_object object;
	struct tenon_value inner;
	struct tenon_value other;
};

static inline struct tenon_value holder_inner(const struct tenon_value *object)
{
	return ((struct holder *)object->as.object)->inner;
}

typedef int (*getter_fn)(void *field, struct tenon_value *out);
typedef int (*setter_fn)(void *field, const struct tenon_value *value);

#endif /* TESTS_UNIT_DROPIN_HOLDER_H */
