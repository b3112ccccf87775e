/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_MODULE_IMPORTS_H
#define RUNTIME_CORE_MODULE_IMPORTS_H

#include <tenon/backend/module_kind.h>

/*
 * Imports are kept with one place in front and a NULL behind. In front is when the list was last
 * changed, by module_index_touch(); of a list that waits to be released, the next such.
 */
static inline uintptr_t module_imports_change(const struct tenon_module *m)
{
	return m->imports ? (uintptr_t)m->imports[-1] : 0;
}

/**
 * module_set_imports - give a module all its imports at once
 * @m: the module; what it imported before is dropped
 * @children: @count modules; each is referenced
 * @count: how many
 *
 * For trees that were checked as a whole: cycles are not looked for.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int module_set_imports(struct tenon_module *m, struct tenon_module *const *children, size_t count);

#endif /* RUNTIME_CORE_MODULE_IMPORTS_H */
