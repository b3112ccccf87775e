/* SPDX-License-Identifier: MIT */
/* Tell Tenon's modules from those of a C++ runtime in the same process. */
#ifndef RUNTIME_CORE_MODULE_OBJECT_H
#define RUNTIME_CORE_MODULE_OBJECT_H

#include <tenon/module.h>

#include "lib/plugin_api.h"

/* Test whether Tenon made a module: those of a C++ runtime in the same process differ in layout. */
bool module_is_ours(const struct tenon_object *object) TO_PLUGINS(module_is_ours);

/* Get the module from a value, borrowed. Return: 0; -TENON_E_TYPE if Tenon did not make it. */
int module_of_value(const struct tenon_value *value, struct tenon_module **out)
	TO_PLUGINS(module_of_value);

#endif /* RUNTIME_CORE_MODULE_OBJECT_H */
