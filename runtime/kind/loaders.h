/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_KIND_LOADERS_H
#define RUNTIME_KIND_LOADERS_H

/**
 * DOC: who loads what
 *
 * Loaders come from three places, asked in this order: those that were registered, so that a
 * device's backend or an application goes first; those built in; and packed functions of the global
 * registry, which is where code in other languages puts its own.
 */

#include <tenon/backend/module_kind.h>

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

/**
 * loader_find_file - find the packed function that loads files of an extension
 * @extension: without the dot
 * @out: receives `ffi.Module.load_from_file.<extension>` with one reference, or NULL
 *
 * Return: 0, also when there is none.
 */
int loader_find_file(struct tenon_slice extension, struct tenon_function **out);

/** loader_file_names - append the extensions that can be loaded: ".so, .examplejson" */
int loader_file_names(struct tenon_buffer *out);

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

/**
 * loader_register_globals - give the built-in loaders their global names too
 *
 * So that foreign code, which looks loaders up by name, finds them. Does its work once.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int loader_register_globals(void);

#endif /* RUNTIME_KIND_LOADERS_H */
