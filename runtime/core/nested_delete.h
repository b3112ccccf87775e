/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_NESTED_DELETE_H
#define RUNTIME_CORE_NESTED_DELETE_H

#include <tenon/value.h>

/* To a deleter that uses nested_delete(): it is its turn. */
#define NESTED_DELETE_NOW 4

/* May releasing an object go on to others, and from there on without end? */
static inline bool nested_may(int32_t type)
{
	return type >= TENON_TYPE_ERROR && type != TENON_TYPE_SHAPE && type != TENON_TYPE_TENSOR;
}

bool nested_any(const struct tenon_value *values, uint64_t count);

/**
 * nested_delete - delete an object that holds others, without a stack as deep as they nest
 * @self: the object
 * @flags: what its deleter was called with
 *
 * The outermost deletion of a thread does the work of those within it, by calling the deleter again
 * with NESTED_DELETE_NOW set.
 *
 * Return: false when the caller is to delete the object now; true when that is seen to.
 */
bool nested_delete(void *self, int flags);

#endif /* RUNTIME_CORE_NESTED_DELETE_H */
