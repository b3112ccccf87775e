/* SPDX-License-Identifier: MIT */
/* Find the symbol of a library's import tree, and its generation. */
#include "tests/fuzz/real_tree.h"

#include <tenon/error.h>

#include "lib/elf.h"
#include "runtime/library/library_symbols.h"

bool real_tree_find(struct tenon_slice file, struct real_tree *out)
{
	struct library_symbols symbols;
	struct elf_file elf;

	if (elf_open(&elf, file, "library") || library_symbols_read(&elf, &symbols) ||
	    !symbols.has_blob || elf_symbol_bytes(&elf, &symbols.blob, &out->bytes)) {
		tenon_error_clear();
		return false;
	}
	out->generation = symbols.blob_generation;
	return out->bytes.size > 0;
}
