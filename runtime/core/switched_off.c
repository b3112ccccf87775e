/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/error.h>
#include <tenon/visit.h>

#include "lib/brief_errors.h"

#ifndef CONFIG_REFLECTION
int tenon_object_visit(const struct tenon_object *object, const struct tenon_visitor *v)
{
	(void)object;
	(void)v;
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_REFLECTION is off in this build");
}

int tenon_type_set_visit(int32_t index, tenon_visit_fn visit)
{
	(void)index;
	(void)visit;
	return 0;
}
#endif
