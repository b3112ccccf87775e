/* SPDX-License-Identifier: MIT */
/*
 * Structural equality and hash, as compilers need them: variables that a value defines count by where
 * they are defined, others by their identity.
 */
#ifndef RUNTIME_FFI_STRUCTURAL_H
#define RUNTIME_FFI_STRUCTURAL_H

#include "runtime/ffi/fields.h"

/* TVMFFIDefRegionKind: whether variables that are met are definitions */
enum ffi_region {
	REGION_NONE = 0,
	REGION_PATTERN = 1, /* variables, and those within them */
	REGION_SIMPLE = 2,  /* variables, but not those within them */
};

/* Region of what a field holds, within another region. */
static inline enum ffi_region ffi_region_of(int64_t flags, enum ffi_region around)
{
	if (around == REGION_PATTERN || !(flags & (FIELD_DEFINES_PATTERN | FIELD_DEFINES_SIMPLE)))
		return around;
	return flags & FIELD_DEFINES_SIMPLE ? REGION_SIMPLE : REGION_PATTERN;
}

/* Region that a type's own function asks for. */
static inline enum ffi_region ffi_region_asked(int64_t asked, enum ffi_region around)
{
	if (around == REGION_PATTERN || asked < REGION_PATTERN || asked > REGION_SIMPLE)
		return around;
	return (enum ffi_region)asked;
}

/* Get how objects of a type are compared (enum ffi_compared). Return: 0; -1 with an error raised. */
int ffi_compared_by(int32_t type, int32_t *kind);

/* Get the bytes of a tensor's elements; it must be in the processor's memory, without gaps. Return: 0; -1. */
int ffi_tensor_content(const struct tenon_value *tensor, struct tenon_slice *bytes);

/* Compare two values. Return: 0; -1 with an error raised. */
int ffi_structural_equal(const struct tenon_value *a, const struct tenon_value *b, bool *equal);

/* Hash a value. Return: 0; -1 with an error raised. */
int ffi_structural_hash(const struct tenon_value *v, uint64_t *hash);

#endif /* RUNTIME_FFI_STRUCTURAL_H */
