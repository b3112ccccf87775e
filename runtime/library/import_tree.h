/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_IMPORT_TREE_H
#define RUNTIME_LIBRARY_IMPORT_TREE_H

/**
 * DOC: import trees
 *
 * A shared object that TVM exported carries a blob: the modules that its host code imports, and who
 * imports whom. Nothing of it is believed before all of it was checked; nothing of it is copied.
 */

#include <tenon/backend/module_kind.h>

/**
 * struct import_tree_source - where a blob comes from
 * @file: path, for messages and for payloads that tell where they stand
 * @offset: of the blob's first byte in the file
 * @generation: which of the two forms it has
 * @keep: keeps the blob's bytes alive, and must not be a module of the tree; NULL when they live
 *	longer than all modules made of them (loaders then copy what they keep)
 * @library: the module that `_lib` stands for; NULL: a stand-in is made, which takes
 *	CONFIG_ELF_INSPECT
 * @inspect: only look: no loader runs where the kind's form is known without
 */
struct import_tree_source {
	const char *file;
	uint64_t offset;
	enum tenon_generation generation;
	struct tenon_object *keep;
	struct tenon_module *library;
	bool inspect;
};

/**
 * import_tree_read - make the modules of a blob
 * @blob: the bytes of the blob symbol, its leading size included; may be longer than that
 * @src: where it comes from
 * @root: receives module 0, or the library for blobs of the oldest form, with one reference
 *
 * Imports keep their order. Errors name the module and the place; the caller puts the file in
 * front.
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_CYCLE; -TENON_E_NO_LOADER for an unknown
 *	kind in a legacy blob; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM; what a loader failed with.
 */
int import_tree_read(struct tenon_slice blob, const struct import_tree_source *src,
		     struct tenon_module **root);

#endif /* RUNTIME_LIBRARY_IMPORT_TREE_H */
