/* SPDX-License-Identifier: MIT */
/* Test the beginning of a slice. */
#ifndef LIB_SLICE_STARTS_H
#define LIB_SLICE_STARTS_H

#include <string.h>
#include <tenon/string.h>

/** slice_starts - test whether a slice begins with a NUL-terminated string */
static inline bool slice_starts(struct tenon_slice s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.size >= n && !memcmp(s.data, prefix, n);
}

#endif /* LIB_SLICE_STARTS_H */
