/* SPDX-License-Identifier: MIT */
/*
 * Host modules: compiled code in a shared object, or linked into the program.
 *
 * There is one struct dso per mapping, however often the file is opened, because compiled code
 * caches functions in variables of the mapping. Objects with addresses in the mapping reference the
 * dso: the library module, and payload modules whose bytes are slices of it.
 */
#ifndef RUNTIME_LIBRARY_DSO_H
#define RUNTIME_LIBRARY_DSO_H

#include <tenon/module.h>

/**
 * struct dso_symbols - a symbol table that is not a shared object's
 * @find: returns the address of a symbol, or NULL
 * @context: argument of @find
 * @prefix: prefix of the module's own names; "" for none
 */
struct dso_symbols {
	void *(*find)(void *context, const char *name);
	void *context;
	const char *prefix;
};

/**
 * dso_load - open a shared object and read its import tree
 * @path: the file
 * @out: receives the root of the tree
 *
 * Return: as tenon_module_load().
 */
int dso_load(const char *path, struct tenon_module **out);

/**
 * dso_open_symbols - make a module from symbols linked into the program
 * @name: name for messages
 * @symbols: must live as long as the process
 * @out: receives the root of the tree, which is never unloaded
 *
 * Return: as tenon_module_load().
 */
int dso_open_symbols(const char *name, const struct dso_symbols *symbols,
		     struct tenon_module **out);

/**
 * dso_env_lookup - find a function for compiled code
 * @context: value of the library's context variable; NULL: search only the registry
 * @name: the function's name
 * @borrowed: receives a function that stays at its address as long as the library is mapped
 *
 * Searches the imports of the library's module, the whole tree from its root, then the registry.
 *
 * Context: any thread; takes a lock. Compiled code caches the result.
 * Return: 0; -TENON_E_NO_FUNCTION.
 */
int dso_env_lookup(void *context, struct tenon_slice name, struct tenon_function **borrowed);

#endif /* RUNTIME_LIBRARY_DSO_H */
