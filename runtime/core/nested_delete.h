/* SPDX-License-Identifier: MIT */
/* Delete nested objects without recursion. */
#ifndef RUNTIME_CORE_NESTED_DELETE_H
#define RUNTIME_CORE_NESTED_DELETE_H

#include <tenon/value.h>

/* Passed to a deleter that uses nested_delete(): delete the object now. */
#define NESTED_DELETE_NOW 4

/* Test whether releasing a type of object may release others recursively. */
static inline bool nested_may(int32_t type)
{
	return type >= TENON_TYPE_ERROR && type != TENON_TYPE_SHAPE && type != TENON_TYPE_TENSOR;
}

bool nested_any(const struct tenon_value *values, uint64_t count);

/**
 * nested_delete - delete an object that holds others with bounded stack
 * @self: the object
 * @flags: what its deleter was called with
 *
 * Nested deletions of a thread are queued; the outermost one processes the queue by calling each
 * deleter again with NESTED_DELETE_NOW set.
 *
 * Return: false when the caller must delete the object now; true when the deletion is queued or
 * done.
 */
bool nested_delete(void *self, int flags);

#endif /* RUNTIME_CORE_NESTED_DELETE_H */
