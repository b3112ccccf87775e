/* SPDX-License-Identifier: MIT */
/* Queue the objects that a deleter releases, and delete them after it, so that deep nesting needs no stack. */
#include "runtime/core/nested_delete.h"

#define BOTH (TENON_DELETE_CONTENT | TENON_DELETE_MEMORY)

static __thread struct tenon_object
	*waiting; /* queue linked through the objects' count fields, which are unused now */
static __thread bool deleting;

bool nested_any(const struct tenon_value *values, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		if (nested_may(values[i].type))
			return true;
	return false;
}

bool nested_delete(void *self, int flags)
{
	struct tenon_object *o = self;

	if (flags & NESTED_DELETE_NOW)
		return false;
	if (deleting) {
		/* An object with weak references still needs its counts: do not queue it. */
		if (flags != BOTH)
			return false;
		o->refs = (uintptr_t)waiting;
		waiting = o;
		return true;
	}
	deleting = true;
	o->deleter(o, flags | NESTED_DELETE_NOW);
	while ((o = waiting)) {
		waiting = (struct tenon_object *)(uintptr_t)o->refs;
		o->deleter(o, BOTH | NESTED_DELETE_NOW);
	}
	deleting = false;
	return true;
}
