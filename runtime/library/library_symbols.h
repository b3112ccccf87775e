/* SPDX-License-Identifier: MIT */
/* Detect the TVM generation of a shared object from its symbols. */
#ifndef RUNTIME_LIBRARY_LIBRARY_SYMBOLS_H
#define RUNTIME_LIBRARY_LIBRARY_SYMBOLS_H

#include "lib/elf.h"
#include <tenon/backend/module_kind.h>

/**
 * struct library_symbols - facts found in a file's symbols
 * @generation: generation, from names of functions and context variables
 * @blob_generation: form of the blob; TVM 0.21 stores the older form under a newer name
 * @has_blob: @blob is set
 * @blob: the import tree's symbol
 * @version: "0.8 to 0.20", "0.26 or later", …; empty when the file is not TVM's
 * @function_count: functions that can be called from outside
 */
struct library_symbols {
	enum tenon_generation generation;
	enum tenon_generation blob_generation;
	bool has_blob;
	struct elf_symbol blob;
	const char *version;
	uint64_t function_count;
};

/**
 * library_symbols_read - read all symbols of a file
 *
 * Return: 0; -TENON_E_FORMAT when the names together are longer than the file: many symbols may
 * share one long name, and listing the names copies each.
 */
int library_symbols_read(const struct elf_file *elf, struct library_symbols *out);

/**
 * library_symbols_function - test for a function that the host can call
 * @generation: of the library
 * @symbol: any of its symbols
 * @name: receives the name without the prefix of its generation
 */
bool library_symbols_function(enum tenon_generation generation, const struct elf_symbol *symbol,
			      struct tenon_slice *name);

#endif /* RUNTIME_LIBRARY_LIBRARY_SYMBOLS_H */
