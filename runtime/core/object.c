/* SPDX-License-Identifier: MIT */
/* Reference counts, strong and weak, in the layout of tvm-ffi. */
#include "runtime/core/reference.h"

void tenon_object_init(struct tenon_object *object, int32_t type,
		       void (*deleter)(void *self, int flags))
{
	object_init(object, type, deleter);
}

static void object_delete(struct tenon_object *o, int flags)
{
	if (o->deleter)
		o->deleter(o, flags);
}

void object_last_unref(struct tenon_object *o, uint64_t before)
{
	if (before == (WEAK_ONE | 1)) {
		object_delete(o, TENON_DELETE_CONTENT | TENON_DELETE_MEMORY);
		return;
	}
	object_delete(o, TENON_DELETE_CONTENT);
	tenon_object_unref_weak(o);
}

void(tenon_object_ref)(void *object)
{
	if (object)
		object_ref(object);
}

void(tenon_object_unref)(void *object)
{
	if (object)
		object_unref(object);
}

void(tenon_object_ref_weak)(void *object)
{
	struct tenon_object *o = object;

	if (o)
		__atomic_fetch_add(&o->refs, WEAK_ONE, __ATOMIC_RELAXED);
}

void(tenon_object_unref_weak)(void *object)
{
	struct tenon_object *o = object;

	if (o && __atomic_fetch_sub(&o->refs, WEAK_ONE, __ATOMIC_ACQ_REL) == WEAK_ONE)
		object_delete(o, TENON_DELETE_MEMORY);
}

int(tenon_object_promote)(void *object)
{
	struct tenon_object *o = object;
	uint64_t refs;

	if (!o)
		return 0;
	refs = __atomic_load_n(&o->refs, __ATOMIC_RELAXED);
	while (refs & STRONG_MASK)
		if (__atomic_compare_exchange_n(&o->refs, &refs, refs + 1, 1, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return 1;
	return 0;
}

int object_made(int err, void *out)
{
	void **object = out; /* it may alias a pointer to any kind of object */

	if (err) {
		tenon_object_unref(*object);
		*object = NULL;
	}
	return err;
}
