/* SPDX-License-Identifier: MIT */
/* Import trees that are written to a file or a symbol. */
#ifndef LINK_MODULE_LINK_TREE_H
#define LINK_MODULE_LINK_TREE_H

/*
 * Payloads and the imports between them, as a file or a command line lists them. Writing makes modules
 * of them that can only be saved, so no loader, device or driver is needed.
 */

#include <tenon/module.h>
#include <tenon/string.h>

/**
 * struct link_module - a module of the tree
 * @kind: its kind
 * @name: of its file, for messages; NULL: its kind stands for it
 * @payload: its payload
 * @library: it is the shared object itself; there is at most one
 * @imports: indices of the modules that it imports
 * @import_count: how many
 */
struct link_module {
	struct tenon_slice kind;
	const char *name;
	struct tenon_slice payload;
	bool library;
	size_t *imports;
	size_t import_count;
};

/**
 * struct link_cut - a payload that is left out of the bytes of a blob
 * @at: where it belongs in them
 * @bytes: the payload
 */
struct link_cut {
	size_t at;
	struct tenon_slice bytes;
};

/**
 * struct link_tree - modules
 * @modules: @count modules; their slices are borrowed
 * @count: how many
 * @cut_least: payloads of at least so many bytes are left out of the blob; 0: none is. Only blobs of
 *	TVM 0.22 and later have lengths of payloads, and can be read without them
 * @cuts: those payloads, @cut_count, in the order of the blob
 * @cut_count: how many
 */
struct link_tree {
	struct link_module *modules;
	size_t count;
	size_t cut_least;
	struct link_cut *cuts;
	size_t cut_count;
};

/** link_tree_create - allocate @count modules without imports; 0 or -TENON_E_NOMEM */
int link_tree_create(struct link_tree *t, size_t count);

/** link_tree_import - let module @parent import module @child; 0 or -TENON_E_NOMEM */
int link_tree_import(struct link_tree *t, size_t parent, size_t child);

/**
 * link_tree_write - number the modules as TVM does and write the blob
 * @t: the tree
 * @generation: form of the blob
 * @out: the bytes are appended
 * @numbers: @t->count numbers, those of the modules in the blob
 *
 * Payloads that are left out have the length 0, so that @out can be read; link_cuts_close() sets it.
 *
 * Return: 0; -TENON_E_CYCLE, also when each module is imported by another; -TENON_E_VALUE, naming two, when several
 *	are imported by none; -TENON_E_NOMEM.
 */
int link_tree_write(struct link_tree *t, enum tenon_generation generation, struct tenon_buffer *out,
		    uint64_t *numbers);

/**
 * link_cuts_close - set the lengths of payloads that are left out of a blob, and its own
 * @blob: the bytes, from their beginning
 *
 * Return: the size of the blob with these payloads.
 */
uint64_t link_cuts_close(const struct link_cut *cuts, size_t count, struct tenon_buffer *blob);

/**
 * link_cuts_parts - list a blob as parts, with the payloads in their places
 * @parts: receives at most 2 * @count + 1 slices
 *
 * Return: the number of parts.
 */
size_t link_cuts_parts(const struct link_cut *cuts, size_t count, const struct tenon_buffer *blob,
		       struct tenon_slice *parts);

/**
 * link_tree_write_numbered - write a blob whose modules are numbered as they are listed
 *
 * The imports of each module are written in their order. Read the result to check it.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int link_tree_write_numbered(struct link_tree *t, enum tenon_generation generation,
			     struct tenon_buffer *out);

void link_tree_fini(struct link_tree *t);

#endif /* LINK_MODULE_LINK_TREE_H */
