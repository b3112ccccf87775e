/* SPDX-License-Identifier: MIT */
#ifndef TENON_STRING_H
#define TENON_STRING_H

/**
 * DOC: strings and bytes
 *
 * A value holds up to seven bytes itself; longer strings are objects, whose data is followed by a
 * NUL that @size does not include. Read both with tenon_value_text().
 */

#include <string.h>
#include <tenon/export.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_string - a counted string, or counted bytes; immutable
 * @object: header; type TENON_TYPE_STRING or TENON_TYPE_BYTES
 * @data: the bytes, usually directly after this struct
 * @size: in bytes
 */
struct tenon_string {
	struct tenon_object object;
	const char *data;
	size_t size;
};

/** tenon_slice_of - make a slice of a NUL-terminated string */
static inline struct tenon_slice tenon_slice_of(const char *string)
{
	struct tenon_slice s = { string, string ? strlen(string) : 0 };

	return s;
}

/** tenon_slice_equal - test whether two slices hold the same bytes */
static inline bool tenon_slice_equal(struct tenon_slice a, struct tenon_slice b)
{
	return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

/**
 * tenon_string_value - create an owned string value
 * @text: its bytes, copied
 * @out: receives the value: a small string up to 7 bytes, else an object
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_VALUE for bytes at NULL.
 */
TENON_API int tenon_string_value(struct tenon_slice text, struct tenon_value *out);

/** tenon_bytes_value - tenon_string_value() for bytes */
TENON_API int tenon_bytes_value(struct tenon_slice bytes, struct tenon_value *out);

/**
 * tenon_bytes_wrap - create a bytes object for existing memory
 * @bytes: the memory; not copied, so a NUL need not follow
 * @keep: object that keeps the memory alive, referenced until the bytes object is destroyed; NULL
 *	for static storage
 * @out: receives the object with one reference
 *
 * A loader gets a payload in a mapped file this way, without a copy.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_bytes_wrap(struct tenon_slice bytes, struct tenon_object *keep,
			       struct tenon_string **out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_STRING_H */
