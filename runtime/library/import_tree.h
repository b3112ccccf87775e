/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_IMPORT_TREE_H
#define RUNTIME_LIBRARY_IMPORT_TREE_H

/**
 * DOC: import trees
 *
 * A shared object that TVM exported carries a blob: the modules that its host code imports, and
 * the edges between them. It is checked as a whole before any of it is used, and not copied.
 */

#include "runtime/blob/import_blob.h"

/**
 * import_tree_read - make the modules of a blob
 * @blob: the bytes of the blob symbol, its leading size included; may be longer than that
 * @src: where it comes from; @keep must not be a module of the tree
 * @library: the module that `_lib` stands for; NULL: a stand-in is made, which takes
 *	CONFIG_ELF_INSPECT
 * @root: receives module 0, or the library for blobs of the oldest form, with one reference
 *
 * Imports keep their order. Errors name the module and the place; the caller puts the file in
 * front.
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_CYCLE; -TENON_E_NO_LOADER for an unknown
 *	kind in a legacy blob; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM; what a loader failed with.
 */
int import_tree_read(struct tenon_slice blob, const struct blob_source *src,
		     struct tenon_module *library, struct tenon_module **root);

#endif /* RUNTIME_LIBRARY_IMPORT_TREE_H */
