/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_BLOB_IMPORT_BLOB_H
#define RUNTIME_BLOB_IMPORT_BLOB_H

/* A blob taken apart, before anything is made of it. */

#include <tenon/backend/module_kind.h>

#include "runtime/payload/payload_format.h"

/**
 * struct blob_source - where a blob comes from
 * @file: path, for messages and for payloads that tell where they stand
 * @offset: of the blob's first byte in the file
 * @generation: which of the two forms it has
 * @keep: keeps the blob's bytes alive; NULL when they live longer than all modules made of them
 *	(loaders then copy what they keep)
 * @inspect: only look: no loader runs where the kind's form is known without
 */
struct blob_source {
	const char *file;
	uint64_t offset;
	enum tenon_generation generation;
	struct tenon_object *keep;
	bool inspect;
};

/**
 * struct import_entry - a module of a blob
 * @kind: its kind
 * @bytes: its payload; empty for `_lib`
 * @format: what payloads of its kind look like; NULL when unknown
 * @loader: what will load it; NULL when a packed function does, or nothing
 * @made: already loaded, as the only way to find its end
 */
struct import_entry {
	struct tenon_slice kind;
	struct tenon_slice bytes;
	const struct tenon_payload_format *format;
	const struct tenon_module_loader *loader;
	struct tenon_module *made;
};

/**
 * struct import_blob - a blob taken apart
 * @source: where it comes from
 * @c: cursor, at first over what the leading size promises
 * @dialect: form of the function tables
 * @entries: the modules
 * @count: how many
 * @expected: how many the blob says there are, for messages
 * @library: index of `_lib`; SIZE_MAX when there is none
 * @has_tree: there are rows; else all modules are imports of the library
 * @rows: row pointers, little-endian u64, not aligned: children of i are those from row i up to row
 *	i + 1
 * @row_count: how many
 * @row_place: their offset in the file
 * @children: module indices, in the same form
 * @child_count: how many
 */
struct import_blob {
	const struct blob_source *source;
	struct tenon_cursor c;
	enum payload_dialect dialect;
	struct import_entry *entries;
	size_t count;
	size_t expected;
	size_t library;
	bool has_tree;
	const uint8_t *rows;
	uint64_t row_count;
	uint64_t row_place;
	const uint8_t *children;
	uint64_t child_count;
};

/**
 * import_blob_read - take a blob apart, and check all that can be checked without loading
 * @b: receives the parts; zeroed by the caller, freed with import_blob_fini() also on failure
 * @blob: the bytes
 * @src: where they come from; must outlive @b
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_CYCLE; -TENON_E_NO_LOADER for an unknown
 *	kind in a legacy blob; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM; what a loader failed with.
 */
int import_blob_read(struct import_blob *b, struct tenon_slice blob,
		     const struct blob_source *src);

void import_blob_fini(struct import_blob *b);

/**
 * import_blob_check_tree - check the import edges
 * @b: a blob with entries and rows
 *
 * Return: 0; -TENON_E_FORMAT for rows that run backwards or a child out of range; -TENON_E_CYCLE;
 *	-TENON_E_UNSUPPORTED for a tree too deep, or one that unfolds to too much; -TENON_E_NOMEM.
 */
int import_blob_check_tree(const struct import_blob *b);

/** import_blob_frame - put "import 2 of 3 (kind "x", 494 bytes at 0x2a)" in front of an error */
int import_blob_frame(const struct import_blob *b, size_t index, int status);

#endif /* RUNTIME_BLOB_IMPORT_BLOB_H */
