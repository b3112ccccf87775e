/* SPDX-License-Identifier: MIT */
/*
 * A hash table of all function names below a module. It holds what tenon_module_find_function()
 * would find: for duplicate names, the first module in depth-first order.
 */
#ifndef RUNTIME_CORE_MODULE_INDEX_H
#define RUNTIME_CORE_MODULE_INDEX_H

#include <tenon/module.h>

#include "lib/plugin_api.h"

struct tenon_module_index;

/* Called for each module below another, in depth-first order. */
typedef int (*module_walk_fn)(void *context, struct tenon_module *m);

/*
 * Visit each import of @m once, depth-first. Stops when @visit returns non-zero. Return: the last
 * result of @visit; -TENON_E_NOMEM.
 */
int module_walk_imports(struct tenon_module *m, module_walk_fn visit, void *context)
	TO_PLUGINS(module_walk_imports);

/*
 * Note that imports changed: every index is verified before its next use. Returns a number that is
 * unique to this change.
 */
uint64_t module_index_touch(void);

/* Look up @name below @m; as tenon_module_find_function(). */
int module_index_find(struct tenon_module *m, struct tenon_slice name, struct tenon_function **out);

void module_index_free(struct tenon_module_index *index);

#endif /* RUNTIME_CORE_MODULE_INDEX_H */
