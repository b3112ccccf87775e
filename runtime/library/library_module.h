/* SPDX-License-Identifier: MIT */
/* The module of host code in an inspected tree. */
#ifndef RUNTIME_LIBRARY_LIBRARY_MODULE_H
#define RUNTIME_LIBRARY_LIBRARY_MODULE_H

/*
 * Replaces the shared object's own module in an inspected tree. Its functions are read from the
 * file's symbols; calling one fails, because the file was opened for inspection.
 */

#include "lib/elf.h"
#include "runtime/library/library_symbols.h"

/**
 * library_module_inspect - make a stand-in for an ELF file's host code
 * @elf: the file
 * @symbols: result of library_symbols_read()
 * @keep: keeps the file's bytes alive; referenced
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int library_module_inspect(const struct elf_file *elf, const struct library_symbols *symbols,
			   struct tenon_object *keep, struct tenon_module **out);

#endif /* RUNTIME_LIBRARY_LIBRARY_MODULE_H */
