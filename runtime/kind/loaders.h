/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_KIND_LOADERS_H
#define RUNTIME_KIND_LOADERS_H

/**
 * DOC: which loader a kind of module has
 *
 * Loaders are searched in this order: those that a program registered, so that it can replace any
 * other; built-in ones; those of backends; and packed functions of the global registry, for other
 * languages.
 */

#include <tenon/backend/module_kind.h>

/* names of packed functions that load: each is followed by a kind, or by a file's extension */
#define LOADER_OF_BYTES "ffi.Module.load_from_bytes."
#define LOADER_OF_FILES "ffi.Module.load_from_file."

/* longest kind or extension that has such a name, and room for one with its NUL */
#define LOADER_KIND_MOST 128
#define LOADER_NAME_MOST (sizeof(LOADER_OF_BYTES) + LOADER_KIND_MOST)

/* what this build loads by itself, ended by NULL */
extern const struct tenon_module_loader *const loaders_builtin[];

/**
 * loader_find - find the C loader of a kind
 * @kind: kind
 *
 * Context: any thread. Lock-free.
 * Return: the loader, registered or built in; NULL.
 */
const struct tenon_module_loader *loader_find(struct tenon_slice kind);

/**
 * loader_find_function - find the packed function that loads a kind
 * @kind: kind
 * @out: receives `ffi.Module.load_from_bytes.<kind>` with one reference, or NULL
 *
 * Return: 0, also when there is none.
 */
int loader_find_function(struct tenon_slice kind, struct tenon_function **out);

/*
 * The packed function @prefix followed by @name, with one reference, or NULL. Return: 0;
 * -TENON_E_NOMEM.
 */
int loader_find_global(const char *prefix, struct tenon_slice name, struct tenon_function **out);

/**
 * loader_call - make a module by a packed function
 * @function: takes bytes, or a path and an extension
 * @args: @count arguments
 * @count: how many
 * @out: receives the module with one reference
 *
 * Return: 0; what the function failed with; -TENON_E_TYPE when it gave no module of Tenon's.
 */
int loader_call(struct tenon_function *function, const struct tenon_value *args, int32_t count,
		struct tenon_module **out);

/**
 * loader_run - run a loader over the whole of a payload
 * @loader: loader
 * @c: cursor over just the payload
 * @payload: where it stands
 * @out: receives the module with one reference
 *
 * Return: what the loader returned; -TENON_E_FORMAT when it leaves bytes over.
 */
int loader_run(const struct tenon_module_loader *loader, struct tenon_cursor *c,
	       const struct tenon_payload *payload, struct tenon_module **out);

#endif /* RUNTIME_KIND_LOADERS_H */
