/* SPDX-License-Identifier: MIT */
/* Inspection of ELF files in memory. */
#ifndef RUNTIME_LIBRARY_INSPECT_H
#define RUNTIME_LIBRARY_INSPECT_H

#include <tenon/module.h>

#include "lib/plugin_api.h"

/**
 * inspect_elf - tenon_module_inspect() for an ELF file in memory
 * @path: name for messages
 * @file: contents of the file
 * @keep: keeps the contents alive
 * @out: receives the root with one reference
 *
 * Return: as tenon_module_inspect().
 */
int inspect_elf(const char *path, struct tenon_slice file, struct tenon_object *keep,
		struct tenon_module **out);

/**
 * inspect_file - tenon_module_inspect(), for a caller that reads the file, too
 * @path: the file
 * @keep: receives what keeps @bytes, with one reference, also on failure; NULL where the file cannot be read
 * @bytes: receives its contents
 * @out: receives the root with one reference
 *
 * Return: as tenon_module_inspect().
 */
#ifdef CONFIG_INSPECT
int inspect_file(const char *path, struct tenon_object **keep, struct tenon_slice *bytes,
		 struct tenon_module **out) TO_PLUGINS(inspect_file);
#else
static inline int inspect_file(const char *path, struct tenon_object **keep,
			       struct tenon_slice *bytes, struct tenon_module **out)
{
	*keep = NULL;
	*bytes = (struct tenon_slice){ NULL, 0 };
	return tenon_module_inspect(path, out);
}
#endif

/**
 * inspect_stand_in - make the module for the library of a blob that is read without one
 * @file: path of that file
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED when the plug-in that has it is missing.
 */
int inspect_stand_in(const char *file, struct tenon_module **out);

#endif /* RUNTIME_LIBRARY_INSPECT_H */
