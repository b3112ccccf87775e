/* SPDX-License-Identifier: MIT */
/* Inspection of ELF files in memory */
#ifndef RUNTIME_LIBRARY_INSPECT_H
#define RUNTIME_LIBRARY_INSPECT_H

#include <tenon/module.h>

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

#endif /* RUNTIME_LIBRARY_INSPECT_H */
