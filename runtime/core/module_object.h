/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_MODULE_OBJECT_H
#define RUNTIME_CORE_MODULE_OBJECT_H

#include <tenon/module.h>

#include "lib/plugin_api.h"

/* Was a module object made here: those of a C++ runtime in the same process have another layout. */
bool module_is_ours(const struct tenon_object *object);

/* The module that a value is, of those made here; borrowed. 0; -TENON_E_TYPE. */
int module_of_value(const struct tenon_value *value, struct tenon_module **out)
	TO_PLUGINS(module_of_value);

#endif /* RUNTIME_CORE_MODULE_OBJECT_H */
