/* SPDX-License-Identifier: MIT */
/* The import list of a module, and the number of its last change. */
#ifndef RUNTIME_CORE_MODULE_IMPORTS_H
#define RUNTIME_CORE_MODULE_IMPORTS_H

#include <tenon/backend/module_kind.h>
#include <tenon/buffer.h>

/*
 * The import list has one slot in front and a NULL behind. The slot holds the number from
 * module_index_touch() of the last change; while the list waits to be released, it links to the
 * next one.
 */
static inline uintptr_t module_imports_change(const struct tenon_module *m)
{
	return m->imports ? (uintptr_t)m->imports[-1] : 0;
}

/**
 * module_set_imports - replace all imports of a module
 * @m: the module; its old imports are released
 * @children: @count modules; each is referenced
 * @count: how many
 *
 * Does not look for cycles: the caller has checked the whole tree.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int module_set_imports(struct tenon_module *m, struct tenon_module *const *children, size_t count);

/**
 * module_print_unloaded - for messages on functions that were not found: name a missing loader
 * @m: the module that was searched, with its imports
 * @out: a sentence is appended if functions of an import are unknown because it has no loader
 */
#ifdef CONFIG_ERROR_MESSAGES
void module_print_unloaded(struct tenon_module *m, struct tenon_buffer *out);
#else
static inline void module_print_unloaded(struct tenon_module *m, struct tenon_buffer *out)
{
}
#endif

#endif /* RUNTIME_CORE_MODULE_IMPORTS_H */
