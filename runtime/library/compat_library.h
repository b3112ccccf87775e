/* SPDX-License-Identifier: MIT */
/*
 * Some modules import runtime names as plain externals. The dynamic linker must find these when it
 * opens the module, since constructors may call them. The compatibility library provides them: a
 * small shared object with the original runtime's name, opened for the first module that needs it.
 * After a module is open, its calls are bound to libtenon directly, whichever library of the
 * process provides such names.
 */
#ifndef RUNTIME_LIBRARY_COMPAT_LIBRARY_H
#define RUNTIME_LIBRARY_COMPAT_LIBRARY_H

#include <string.h>
#include <tenon/buffer.h>

#include "lib/plugin_api.h"
#include "runtime/library/loaded_object.h"

#define COMPAT_NAME "libtvm_ffi.so"

/* Test for a name that the runtime, or a library that compilers assume with it, provides. */
static inline bool is_runtime_name(const char *name)
{
	return !strncmp(name, "TVM", 3) || !strcmp(name, "__gnu_h2f_ieee") ||
	       !strcmp(name, "__gnu_f2h_ieee");
}

/* Test whether a dlerror() message is about a missing runtime name. */
static inline bool misses_runtime_name(const char *message)
{
	return strstr(message, COMPAT_NAME) || strstr(message, "TVM") ||
	       strstr(message, "__gnu_h2f_ieee") || strstr(message, "__gnu_f2h_ieee");
}

#ifdef CONFIG_TVM_FFI_COMPAT
/**
 * compat_library_dlopen - retry a module that dlopen() refused for missing runtime names
 * @path: the module, with a slash in it
 * @message: the dlerror() message; replaced if the retry fails with another
 * @handle: receives a handle, for dlclose(); unchanged when the dynamic linker refused
 *
 * Where possible only the module and its dependencies see the names: a libtvm_ffi that is opened
 * later would otherwise bind to our names and end the process.
 *
 * Return: 0, with or without a handle; -TENON_E_UNSUPPORTED, with the missing name, the places
 * searched and the remedy.
 */
int compat_library_dlopen(const char *path, struct tenon_buffer *message, void **handle);

/**
 * compat_library_open_lazily - open a module that runs no code while it is opened
 * @path: the module, with a slash in it
 * @handle: receives a handle, for dlclose(); NULL when the module cannot be opened lazily
 *
 * Its calls are bound at their first execution, so it does not need the compatibility library. All
 * names that it calls are looked up before this returns: a missing one would end the process later.
 *
 * Return: 0, with or without a handle; -TENON_E_UNSUPPORTED for a missing name; -TENON_E_FORMAT.
 * Without a handle, opening with RTLD_NOW reports the full reason.
 */
int compat_library_open_lazily(const char *path, void **handle);

/**
 * compat_library_serve - bind a module's calls of runtime names to libtenon
 * @o: the module
 *
 * Calls bound at load time to read-only slots are not changed.
 */
void compat_library_serve(const struct loaded_object *o);
#else
static inline int compat_library_dlopen(const char *path, struct tenon_buffer *message,
					void **handle)
{
	return 0;
}

static inline int compat_library_open_lazily(const char *path, void **handle)
{
	*handle = NULL;
	return 0;
}

static inline void compat_library_serve(const struct loaded_object *o)
{
}
#endif

/**
 * compat_library_open - open the compatibility library
 * @for_all: make its names visible to the whole process
 *
 * Return: as compat_library_dlopen().
 */
int compat_library_open(bool for_all) TO_PLUGINS(compat_library_open);

/* Path of the open library; "" when it is not open. */
const char *compat_library_path(void) TO_PLUGINS(compat_library_path);

#endif /* RUNTIME_LIBRARY_COMPAT_LIBRARY_H */
