/* SPDX-License-Identifier: MIT */
/* The registry of global functions, for the rooms that register, find or list them. */
#ifndef RUNTIME_CORE_REGISTRY_H
#define RUNTIME_CORE_REGISTRY_H

#include <tenon/function.h>

#include "lib/plugin.h"
#include "lib/plugin_api.h"

/* tenon_function_register() for a name that is not NUL-terminated. */
int registry_set(struct tenon_slice name, struct tenon_function *function, bool replace);

/* Register a list of functions. A name that is registered already, such as by the program, keeps its function. */
int registry_add_list(const struct global_function *list);

/*
 * plugin_table.c: registers the functions of the library itself, at the first lookup that finds nothing; NULL without any.
 * Must not look up functions, and does not replace existing ones.
 */
extern int (*const registry_fill_library)(void);

/* tenon_function_find_slice() among the functions that are registered now. */
void registry_find(struct tenon_slice name, struct tenon_function **out) TO_PLUGINS(registry_find);

/* tenon_function_each() of the functions that are registered now. */
int registry_each(int (*visit)(void *context, const char *name, struct tenon_function *function),
		  void *context);

/* Changes with every registration; shows whether opening a library registered anything. */
uint64_t registry_generation(void);

/* Count a registration made elsewhere, whose library must stay loaded like a function's. */
void registry_changed(void);

#endif /* RUNTIME_CORE_REGISTRY_H */
