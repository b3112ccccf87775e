/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_COMPAT_LIBRARY_H
#define RUNTIME_LIBRARY_COMPAT_LIBRARY_H

/*
 * The runtime's names that some modules import as plain externals. The dynamic linker must find them when it
 * opens a module, since constructors may call them. They are in the compatibility library: a small shared
 * object, named as the original runtime's, which is opened for the first module that wants it. Once a module
 * is open, calls of the names are bound to libtenon itself, whichever library offers such names in the process.
 */

#include <string.h>
#include <tenon/buffer.h>

#include "lib/plugin_api.h"
#include "runtime/library/loaded_object.h"

#define COMPAT_NAME "libtvm_ffi.so"

/* Is a name one that the runtime offers, or that compilers take for granted beside it? */
static inline bool is_runtime_name(const char *name)
{
	return !strncmp(name, "TVM", 3) || !strcmp(name, "__gnu_h2f_ieee") ||
	       !strcmp(name, "__gnu_f2h_ieee");
}

/* Does dlerror() say of a module that names of the runtime are missing? */
static inline bool misses_runtime_name(const char *said)
{
	return strstr(said, COMPAT_NAME) || strstr(said, "TVM") || strstr(said, "__gnu_h2f_ieee") ||
	       strstr(said, "__gnu_f2h_ieee");
}

#ifdef CONFIG_TVM_FFI_COMPAT
/**
 * compat_library_dlopen - open a module that dlopen() refused, if names of the runtime were missing
 * @path: the module, with a slash in it
 * @said: what dlerror() said; changed when it says something else now
 * @handle: receives a handle, for dlclose(); left alone when the dynamic linker refused
 *
 * The names are shown to this module and what it needs alone, wherever that is possible: a libtvm_ffi
 * that is opened later would find our names instead of its own, and end the process.
 *
 * Return: 0, with or without a handle; -TENON_E_UNSUPPORTED, naming what is missing, where it was
 *	looked for and the remedy.
 */
int compat_library_dlopen(const char *path, struct tenon_buffer *said, void **handle);

/**
 * compat_library_open_lazily - open a module that runs no code while it is opened
 * @path: the module, with a slash in it
 * @handle: receives a handle, for dlclose(); NULL where this way is not open to it
 *
 * Its calls are bound when they are first made, so nothing of the compatibility library is needed for it. All
 * names that it calls are looked up before this returns, since one that is missing ends the process later.
 *
 * Return: 0, with or without a handle; -TENON_E_UNSUPPORTED for a name that is missing; -TENON_E_FORMAT. Where
 *	there is no handle, opening it at once tells the reason in full.
 */
int compat_library_open_lazily(const char *path, void **handle);

/**
 * compat_library_serve - bind a module's calls of the runtime's names to libtenon
 * @o: the module
 * @handle: from dlopen()
 *
 * Calls that were bound at once, to read-only slots, stay as the dynamic linker bound them.
 */
void compat_library_serve(const struct loaded_object *o, void *handle);
#else
static inline int compat_library_dlopen(const char *path, struct tenon_buffer *said, void **handle)
{
	(void)path;
	(void)said;
	(void)handle;
	return 0;
}

static inline int compat_library_open_lazily(const char *path, void **handle)
{
	(void)path;
	*handle = NULL;
	return 0;
}

static inline void compat_library_serve(const struct loaded_object *o, void *handle)
{
	(void)o;
	(void)handle;
}
#endif

/**
 * compat_library_open - open the compatibility library
 * @for_all: show its names to the whole process
 *
 * Return: as compat_library_dlopen().
 */
int compat_library_open(bool for_all) TO_PLUGINS(compat_library_open);

/* Where it was found: a path, or "" when it is not open. */
const char *compat_library_path(void) TO_PLUGINS(compat_library_path);

#endif /* RUNTIME_LIBRARY_COMPAT_LIBRARY_H */
