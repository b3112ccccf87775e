/* SPDX-License-Identifier: MIT */
/* The module of a JSON runtime, for any library that runs its graph. */
#ifndef RUNTIME_BYOC_JSON_MODULE_H
#define RUNTIME_BYOC_JSON_MODULE_H

/*
 * TVM, and "tenon partition", write a payload for each graph that they give to a library: a symbol,
 * the graph as JSON, and the names of its constants, which a module of kind const_loader passes to
 * __init_<symbol> before the first call. What is here is the same for all libraries.
 */

#include <tenon/backend/module_kind.h>

#include "runtime/byoc/json_graph.h"

/**
 * struct byoc_library - what a runtime of a library provides
 * @kind: of its modules
 * @make: make a program of a graph, none of whose tensors is BYOC_OTHER, and of the data of its
 *	constants; both outlive it
 * @run: run it on the data of the inputs, then of the heads, all checked; in any thread
 * @destroy: drop a program
 */
struct byoc_library {
	const char *kind;
	int (*make)(const struct byoc_graph *graph, void *const *constants, void **program);
	int (*run)(void *program, void *const *data);
	void (*destroy)(void *program);
};

/** byoc_module_load - read a payload; @library outlives the module */
int byoc_module_load(const struct byoc_library *library, struct tenon_cursor *c,
		     struct tenon_module **out);

#endif /* RUNTIME_BYOC_JSON_MODULE_H */
