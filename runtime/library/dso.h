/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_DSO_H
#define RUNTIME_LIBRARY_DSO_H

/*
 * Host modules: compiled code in a shared object, or linked into the program.
 *
 * There is one struct dso per mapping, however often the file is opened, because compiled code
 * caches functions in variables of the mapping. Objects with addresses in the mapping reference the
 * dso: the library module, and payload modules whose bytes are slices of it.
 */

#include <tenon/module.h>

/**
 * struct dso_symbols - a source of symbols that is no shared object
 * @find: gives the address of a symbol, or NULL
 * @context: handed to @find
 * @prefix: prefix of the module's own names; "" for none
 */
struct dso_symbols {
	void *(*find)(void *context, const char *name);
	void *context;
	const char *prefix;
};

/**
 * dso_load - open a shared object, and the import tree in it
 * @path: the file
 * @out: receives the root of the tree
 *
 * Return: as tenon_module_load().
 */
int dso_load(const char *path, struct tenon_module **out);

/**
 * dso_open_symbols - make a module of symbols linked into the program
 * @name: what to call it in messages
 * @symbols: must live as long as the process
 * @out: receives the root of the tree, which is never unloaded
 *
 * Return: as tenon_module_load().
 */
int dso_open_symbols(const char *name, const struct dso_symbols *symbols,
		     struct tenon_module **out);

/**
 * dso_env_lookup - find a function for compiled code
 * @context: what the library's context variable holds; NULL looks in the registry alone
 * @name: the function's name
 * @borrowed: receives a function that stays at its address as long as the library is mapped
 *
 * Searched are the imports of the library's module, the whole tree from its root, the registry.
 *
 * Context: any thread; takes a lock. Compiled code keeps what it gets, so it asks once.
 * Return: 0; -TENON_E_NO_FUNCTION.
 */
int dso_env_lookup(void *context, struct tenon_slice name, struct tenon_function **borrowed);

#endif /* RUNTIME_LIBRARY_DSO_H */
