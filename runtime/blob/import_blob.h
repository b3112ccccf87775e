/* SPDX-License-Identifier: MIT */
/* Parse a blob without creating modules. */
#ifndef RUNTIME_BLOB_IMPORT_BLOB_H
#define RUNTIME_BLOB_IMPORT_BLOB_H

#include <tenon/backend/module_kind.h>

#include "lib/plugin_api.h"
#include "runtime/payload/payload_format.h"

/**
 * struct blob_source - the origin of a blob
 * @file: path, for messages and for the location of payloads
 * @offset: offset of the blob in the file
 * @generation: form of the blob
 * @keep: keeps the blob's bytes alive; NULL when they outlive all modules made from them (loaders
 * then copy what they need)
 * @inspect: inspect only: run no loader for kinds whose format is known
 * @record: names of the artifacts, from `__tenon_artifacts`; empty when there are none
 */
struct blob_source {
	const char *file;
	uint64_t offset;
	enum tenon_generation generation;
	struct tenon_object *keep;
	bool inspect;
	struct tenon_slice record;
};

/**
 * struct import_entry - a module of a blob
 * @kind: its kind; entries in a row that have the same share its bytes
 * @bytes: its payload; empty for `_lib`
 * @format: format of its kind; NULL if unknown
 * @loader: its C loader; NULL: a packed function loads it, or it stays a payload
 * @made: module, if loading was the only way to find the payload's end
 */
struct import_entry {
	struct tenon_slice kind;
	struct tenon_slice bytes;
	const struct tenon_payload_format *format;
	const struct tenon_module_loader *loader;
	struct tenon_module *made;
};

/**
 * struct import_blob - a parsed blob
 * @source: where it comes from
 * @c: cursor, initially over the range that the leading size gives
 * @dialect: form of the function tables
 * @entries: the modules
 * @count: how many
 * @expected: module count that the blob states, for messages
 * @library: index of `_lib`; SIZE_MAX when there is none
 * @has_tree: rows exist; otherwise the library imports all modules
 * @rows: row pointers, little-endian u64, not aligned: children of i are children[rows[i]] up to
 * children[rows[i + 1] - 1]
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
 * import_blob_read - parse a blob and check it as far as possible without loading
 * @b: receives the parts; zeroed by the caller, freed with import_blob_fini() also on failure
 * @blob: the bytes
 * @src: their origin; must outlive @b
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_CYCLE; -TENON_E_NO_LOADER for an unknown
 *	kind in a legacy blob; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM; the error of a loader.
 */
int import_blob_read(struct import_blob *b, struct tenon_slice blob, const struct blob_source *src)
	TO_PLUGINS(import_blob_read);

void import_blob_fini(struct import_blob *b) TO_PLUGINS(import_blob_fini);

/**
 * import_blob_check_tree - check the import edges
 * @b: a blob with entries and rows
 *
 * Return: 0; -TENON_E_FORMAT for rows that run backwards or a child out of range; -TENON_E_CYCLE;
 *	-TENON_E_UNSUPPORTED for a tree too deep, or one that unfolds to too much; -TENON_E_NOMEM.
 */
int import_blob_check_tree(const struct import_blob *b);

/** import_blob_frame - prefix an error with "import 2 of 3 (kind "x", 494 bytes at 0x2a)" */
int import_blob_frame(const struct import_blob *b, size_t index, int status);

#endif /* RUNTIME_BLOB_IMPORT_BLOB_H */
