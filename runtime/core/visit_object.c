/* SPDX-License-Identifier: MIT */
/* Visiting objects: the public functions. Those of each type are in a plug-in (visit.c), or come from their owner. */
#include <tenon/visit.h>

#include "lib/brief_errors.h"
#include "runtime/core/describer.h"
#include "runtime/core/type.h"

int tenon_object_visit(const struct tenon_object *object, const struct tenon_visitor *v)
{
	return DESCRIBER(object, object, v);
}

int tenon_type_set_visit(int32_t index, tenon_visit_fn visit)
{
	struct type_record *r = type_record(index);

	if (!r)
		return tenon_error(-TENON_E_USAGE, "there is no type %d", index);
	__atomic_store_n(&r->visit, visit, __ATOMIC_RELEASE);
	return 0;
}
