/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/error.h>
#include <tenon/visit.h>

#include "lib/switched_off.h"

#ifndef CONFIG_INSPECT
#define OFF_REASON tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_INSPECT is off in this build")
OFF(tenon_object_visit, (const struct tenon_object *object, const struct tenon_visitor *v))
OFF_VALUE(int, tenon_type_set_visit, 0, (int32_t index, tenon_visit_fn visit))
#endif
