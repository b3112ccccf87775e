/* SPDX-License-Identifier: MIT */
/* The search for the loader of a kind. */
#ifndef RUNTIME_KIND_LOADERS_H
#define RUNTIME_KIND_LOADERS_H

/*
 * Loaders are searched in this order: registered by the program, so that it can replace any other;
 * of the table of plug-ins; of backends; packed functions in the global registry, for other languages.
 */

#include <tenon/backend/module_kind.h>

#include "lib/plugin.h"
#include "lib/plugin_api.h"

/* prefixes of packed functions that load, followed by a kind or a file extension */
#define LOADER_OF_BYTES "ffi.Module.load_from_bytes."
#define LOADER_OF_FILES "ffi.Module.load_from_file."

/* longest kind or extension in such a name, NUL included */
#define LOADER_KIND_MOST 128
#define LOADER_NAME_MOST (sizeof(LOADER_OF_BYTES) + LOADER_KIND_MOST)

/**
 * loader_find - find the C loader of a kind
 * @kind: kind
 *
 * Context: any thread. Lock-free.
 * Return: the loader; NULL.
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
 * Find the packed function "@prefix@name"; @out receives it with one reference, or NULL. Return: 0;
 * -TENON_E_NOMEM.
 */
int loader_find_global(const char *prefix, struct tenon_slice name, struct tenon_function **out);

/**
 * loader_call - make a module with a packed function
 * @function: takes bytes, or a path and an extension
 * @args: @count arguments
 * @count: how many
 * @out: receives the module with one reference
 *
 * Return: 0; the function's error; -TENON_E_TYPE when it returned no module of Tenon.
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
 * Return: what the loader returned; -TENON_E_FORMAT when bytes are left over.
 */
int loader_run(const struct tenon_module_loader *loader, struct tenon_cursor *c,
	       const struct tenon_payload *payload, struct tenon_module **out);

/* loader of the kinds of the table of plug-ins: opens the plug-in of the payload's kind, and has it load */
int loader_open_plugin(struct tenon_cursor *c, const struct tenon_payload *payload,
		       struct tenon_module **out);

/* The part in the table of plug-ins that loads a kind, open or not; NULL. */
struct plugin *loader_plugin(struct tenon_slice kind);

/*
 * Test whether what loads or runs a kind is a plug-in without a file; append the reason and the
 * remedy.
 */
bool loader_plugin_missing(struct tenon_slice kind, struct tenon_buffer *out)
	TO_PLUGINS(loader_plugin_missing);

#endif /* RUNTIME_KIND_LOADERS_H */
