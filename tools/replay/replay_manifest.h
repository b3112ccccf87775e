/* SPDX-License-Identifier: MIT */
/* The manifest of a record (docs/replay.md), read and checked. */
#ifndef TOOLS_REPLAY_REPLAY_MANIFEST_H
#define TOOLS_REPLAY_REPLAY_MANIFEST_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <tenon/executable.h>
#include <tenon/tensor.h>

/* arguments of an operation at most */
#define REPLAY_ARGUMENTS_MOST 4096

enum replay_kind {
	REPLAY_OPERATOR,
	REPLAY_KERNEL,
	REPLAY_COPY,
	REPLAY_WRITE,
	REPLAY_READ,
	REPLAY_FILL,
};

enum replay_argument_kind {
	REPLAY_NONE,
	REPLAY_INT,
	REPLAY_BOOL,
	REPLAY_REAL,
	REPLAY_TENSOR,
};

/**
 * struct replay_argument - an argument of an operation
 * @kind: enum replay_argument_kind
 * @integer: REPLAY_INT, REPLAY_BOOL
 * @real: REPLAY_REAL
 * @type: REPLAY_TENSOR: "2x3xfloat32"
 * @dtype: likewise
 * @shape: likewise, @ndim extents
 * @ndim: likewise
 * @size: likewise, in bytes
 * @bytes_only: likewise: the element type is not known; compared byte for byte
 * @before: name of the contents before the operation; NULL for none
 * @after: name of the contents after it; NULL if the operation does not write
 */
struct replay_argument {
	enum replay_argument_kind kind;
	int64_t integer;
	double real;
	const char *type;
	DLDataType dtype;
	int64_t *shape;
	int32_t ndim;
	size_t size;
	bool bytes_only;
	const char *before;
	const char *after;
};

/**
 * struct replay_operation - an operation
 * @number: from 1, in the order in which operations began
 * @within: number of the operator that submitted it; 0 for none
 * @kind: enum replay_kind
 * @name: of the operator in the model, of the kernel, or of the kind
 * @function: REPLAY_OPERATOR: the called function
 * @device: where it ran
 * @arguments: @argument_count arguments
 * @argument_count: how many
 * @tags: REPLAY_KERNEL: what each extent of the launch sets
 * @extents: likewise
 * @extent_count: likewise
 * @pattern: REPLAY_FILL
 * @width: likewise
 */
struct replay_operation {
	uint64_t number;
	uint64_t within;
	enum replay_kind kind;
	const char *name;
	const char *function;
	const char *device;
	struct replay_argument *arguments;
	size_t argument_count;
	uint32_t tags[TENON_TAG_COUNT];
	uint32_t extents[TENON_TAG_COUNT];
	size_t extent_count;
	uint32_t pattern;
	uint32_t width;
};

/**
 * struct replay_manifest - a record
 * @folder: its folder
 * @json: the manifest, which all texts point into
 * @modules: the module's file and its imports: names in the folder; NULL for a file that is not kept
 * @module_names: their names when they were recorded
 * @module_count: how many
 * @operations: by number
 * @operation_count: how many
 */
struct replay_manifest {
	const char *folder;
	cJSON *json;
	const char **modules;
	const char **module_names;
	size_t module_count;
	struct replay_operation *operations;
	size_t operation_count;
};

/**
 * replay_manifest_read - read the manifest of a record
 * @folder: the record
 * @out: zeroed; release it with replay_manifest_fini(), also on failure
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_OVERFLOW; -TENON_E_UNSUPPORTED for another version
 *	of the format; -TENON_E_NOMEM.
 */
int replay_manifest_read(const char *folder, struct replay_manifest *out);

void replay_manifest_fini(struct replay_manifest *m);

/**
 * replay_content - read contents of a record
 * @m: the record
 * @name: name of the contents
 * @size: bytes that they must have
 * @to: receives them; NULL to check that the file has the size
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT for another size, or bytes that do not have this hash.
 */
int replay_content(const struct replay_manifest *m, const char *name, size_t size, void *to);

/**
 * replay_module_path - check a kept file of the module
 * @m: the record
 * @index: of the file
 * @path: receives the path, which the caller frees
 *
 * Return: 0; -TENON_E_NOT_FOUND for one that is not kept; -TENON_E_IO; -TENON_E_FORMAT for bytes that
 *	do not have this hash; -TENON_E_NOMEM.
 */
int replay_module_path(const struct replay_manifest *m, size_t index, char **path);

#endif /* TOOLS_REPLAY_REPLAY_MANIFEST_H */
