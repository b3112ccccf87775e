/* SPDX-License-Identifier: MIT */
/* A module tree as a list of rows. */
#ifndef TOOLS_MODEL_MODULE_LIST_H
#define TOOLS_MODEL_MODULE_LIST_H

/*
 * The data of `tenon inspect`: every module of a tree, a parent before its imports, with the facts
 * that the module reports to a visitor (tenon/visit.h).
 */

#include <tenon/array.h>
#include <tenon/model.h>
#include <tenon/module.h>

/**
 * struct module_row - a module at its position in the tree
 * @module: the module; valid as long as the root
 * @parent: index of the importing row; SIZE_MAX for the root
 * @depth: 0 for the root
 * @last: last import of its parent
 * @format: "cl", "ptx", …; "" if unknown, as in all texts here
 * @name: symbol or model name
 * @machine: of a library: its processor
 * @generation: of a library: "legacy" or "ffi"
 * @tvm: of a library: versions of TVM that produce such
 * @loader: "ready" or "missing"
 * @remedy: what to do about a missing loader
 * @fault: what is wrong with the payload
 * @functions: names of the functions; NULL if the module lists none
 * @launch: for kernels, a map of "args" and "tags" for each of @functions; NULL for others
 * @regions: for command streams, a text for each region; NULL for others
 * @function_count: how many functions
 * @nodes: of a graph; -1 if unknown, as in all numbers here
 * @parameters: number of parameters
 * @parameter_bytes: their size
 * @size: bytes of the file or payload
 * @offset: offset of the payload in the file
 */
struct module_row {
	struct tenon_module *module;
	size_t parent;
	unsigned int depth;
	bool last;
	char format[32];
	char name[96];
	char machine[32];
	char generation[16];
	char tvm[48];
	char loader[16];
	char remedy[512];
	char fault[256];
	struct tenon_array *functions;
	struct tenon_array *launch;
	struct tenon_array *regions;
	int64_t function_count;
	int64_t nodes;
	int64_t parameters;
	int64_t parameter_bytes;
	int64_t size;
	int64_t offset;
};

/**
 * struct module_list - a module tree as a list
 * @file: the file it was read from
 * @size: its size in bytes
 * @root: the tree
 * @items: the modules
 * @count: how many
 * @library: the row of the library; NULL if there is none
 * @model: the root as a model, opened for inspection; NULL if it is no model
 */
struct module_list {
	const char *file;
	uint64_t size;
	struct tenon_module *root;
	struct module_row *items;
	size_t count;
	const struct module_row *library;
	struct tenon_model *model;
};

/**
 * module_list_make - list a tree
 * @root: its root; must outlive the list
 * @out: receives the list, free it with module_list_drop()
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int module_list_make(struct tenon_module *root, struct module_list *out);

/** module_list_drop - free a list */
void module_list_drop(struct module_list *l);

/** module_list_kind - append a module's kind, sanitised for a terminal */
void module_list_kind(const struct module_row *m, struct tenon_buffer *out);

/** module_list_format - append the text next to the kind: "cl source", "host", a name */
void module_list_format(const struct module_row *m, struct tenon_buffer *out);

/** module_list_facts - append a summary: "6 kernels, 18 KiB at 0x4a1c0" */
void module_list_facts(const struct module_row *m, struct tenon_buffer *out);

#endif /* TOOLS_MODEL_MODULE_LIST_H */
