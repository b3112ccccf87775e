/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_REFERENCE_H
#define RUNTIME_CORE_REFERENCE_H

/* Reference counts, inline, for code that counts on every call. */

#include <tenon/object.h>

#include "lib/plugin_api.h"

#define WEAK_ONE    (UINT64_C(1) << 32)
#define STRONG_MASK (WEAK_ONE - 1)

static inline void object_ref(struct tenon_object *o)
{
	__atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED);
}

/* The tail of tenon_object_unref(), kept out of line: objects die less often than they are dropped. */
void object_last_unref(struct tenon_object *o, uint64_t before) TO_PLUGINS(object_last_unref);

static inline void object_unref(struct tenon_object *o)
{
	/* acquire as well, so that the destroying thread sees the writes of the others */
	uint64_t before = __atomic_fetch_sub(&o->refs, 1, __ATOMIC_ACQ_REL);

	if ((before & STRONG_MASK) == 1)
		object_last_unref(o, before);
}

#endif /* RUNTIME_CORE_REFERENCE_H */
