/* SPDX-License-Identifier: MIT */
/* Inline reference counts for hot paths, and the end of functions that make objects. */
#ifndef RUNTIME_CORE_REFERENCE_H
#define RUNTIME_CORE_REFERENCE_H

#include <tenon/object.h>

#include "lib/plugin_api.h"

#define WEAK_ONE    (UINT64_C(1) << 32)
#define STRONG_MASK (WEAK_ONE - 1)

static inline void object_init(struct tenon_object *object, int32_t type,
			       void (*deleter)(void *self, int flags))
{
	object->refs = WEAK_ONE | 1;
	object->type = type;
	object->reserved = 0;
	object->deleter = deleter;
}

static inline void object_ref(struct tenon_object *o)
{
	__atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED);
}

/* The slow path of tenon_object_unref(), out of line because most unrefs are not the last. */
void object_last_unref(struct tenon_object *o, uint64_t before) TO_PLUGINS(object_last_unref);

static inline void object_unref(struct tenon_object *o)
{
	/* Acquire as well, so that the destroying thread sees the writes of the others. */
	uint64_t before = __atomic_fetch_sub(&o->refs, 1, __ATOMIC_ACQ_REL);

	if ((before & STRONG_MASK) == 1)
		object_last_unref(o, before);
}

/*
 * End a function that made the object *@out: drop it if the function failed. @out is a pointer to a pointer to any kind
 * of object. Return: @err.
 */
int object_made(int err, void *out) TO_PLUGINS(object_made);

#endif /* RUNTIME_CORE_REFERENCE_H */
