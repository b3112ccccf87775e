/* SPDX-License-Identifier: MIT */
/* Import trees as modules. */
#ifndef RUNTIME_LIBRARY_IMPORT_TREE_H
#define RUNTIME_LIBRARY_IMPORT_TREE_H

/*
 * A shared object exported by TVM contains a blob: the modules that its host code imports, and the
 * import edges. The blob is checked as a whole before use and not copied.
 */

#include "lib/plugin_api.h"
#include "runtime/blob/import_blob.h"

/**
 * import_tree_read - create the modules of a blob
 * @blob: the bytes of the blob symbol, its leading size included; may be longer than that
 * @src: its origin; @keep must not be a module of the tree
 * @library: the module for `_lib`; NULL: make a stand-in, which needs CONFIG_INSPECT
 * @root: receives module 0, or the library for blobs of the oldest form, with one reference
 *
 * Imports keep their order. Errors name the module and its offset; the caller adds the file name.
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_CYCLE; -TENON_E_NO_LOADER for an unknown
 *	kind in a legacy blob; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM; the error of a loader.
 */
int import_tree_read(struct tenon_slice blob, const struct blob_source *src,
		     struct tenon_module *library, struct tenon_module **root)
	TO_PLUGINS(import_tree_read);

#endif /* RUNTIME_LIBRARY_IMPORT_TREE_H */
