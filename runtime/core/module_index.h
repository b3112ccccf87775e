/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_MODULE_INDEX_H
#define RUNTIME_CORE_MODULE_INDEX_H

/*
 * All function names below a module, hashed. Holds what tenon_module_find_function() would find by
 * walking: of several modules with one name, the one that is first depth-first.
 */

#include <tenon/module.h>

struct tenon_module_index;

/* One module below another, at its place in the depth-first order. */
typedef int (*module_walk_fn)(void *context, struct tenon_module *m);

/* Visit @m's imports, each once, depth-first; non-zero from @visit stops. -TENON_E_NOMEM. */
int module_walk_imports(struct tenon_module *m, module_walk_fn visit, void *context);

/*
 * Say that imports changed somewhere: every index is looked at again before its next use. Returns a
 * number that no other change had.
 */
uint64_t module_index_touch(void);

/* Look @name up below @m. As tenon_module_find_function(). */
int module_index_find(struct tenon_module *m, struct tenon_slice name, struct tenon_function **out);

void module_index_free(struct tenon_module_index *index);

#endif /* RUNTIME_CORE_MODULE_INDEX_H */
