/* SPDX-License-Identifier: MIT */
/* The order of modules in a blob. */
#ifndef RUNTIME_BLOB_BLOB_NUMBER_H
#define RUNTIME_BLOB_BLOB_NUMBER_H

/*
 * Modules are numbered as TVM's writer does, for TVM's reader: all modules compiled into the shared
 * object share the number of `_lib`, and the last import is visited first. Where an import would
 * get a smaller number than its importer, which TVM refuses to write, the modules are sorted.
 */

#include <tenon/module.h>

/**
 * struct blob_numbers - the numbering of a module tree
 * @modules: all modules, each once, the root first
 * @module_count: how many
 * @count: how many numbers are assigned; the root has 0
 * @first: for each number, the place in @modules of a module that has it
 * @library: number of `_lib`; SIZE_MAX when there is none
 * @rows: @count + 1 row pointers into @children
 * @children: numbers of imports, of each module sorted and each once
 */
struct blob_numbers {
	struct tenon_module **modules;
	size_t module_count;
	size_t count;
	size_t *first;
	size_t library;
	uint64_t *rows;
	uint64_t *children;
};

/**
 * blob_number - number a module and all it imports
 * @n: receives the numbers; zeroed by the caller, freed with blob_numbers_fini() also on failure
 * @root: the module
 *
 * Return: 0; -TENON_E_CYCLE when merging the exportable modules creates a cycle; -TENON_E_NOMEM.
 */
int blob_number(struct blob_numbers *n, struct tenon_module *root);

void blob_numbers_fini(struct blob_numbers *n);

/**
 * blob_write - write modules whose numbers are known
 * @n: the numbers
 * @generation: form of the blob
 * @out: the bytes are appended, including the leading size; unchanged on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED, naming the module that cannot be saved; -TENON_E_NOMEM.
 */
int blob_write(const struct blob_numbers *n, enum tenon_generation generation,
	       struct tenon_buffer *out);

#endif /* RUNTIME_BLOB_BLOB_NUMBER_H */
