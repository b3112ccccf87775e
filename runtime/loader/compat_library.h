/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LOADER_COMPAT_LIBRARY_H
#define RUNTIME_LOADER_COMPAT_LIBRARY_H

/*
 * The runtime's names that some modules import as plain externals. Calls of them are bound to libtenon
 * itself, whichever library offers such names in the process. What the dynamic linker must find
 * already when it opens a module (a library it needs by name, names that are bound at once) is in
 * the compatibility library: a small shared object, named as the original runtime's, which is opened
 * for the first module that wants it.
 */

#include <string.h>

#include "runtime/loader/loaded_object.h"

/* Is a name one that the runtime offers, or that compilers take for granted beside it? */
static inline bool is_runtime_name(const char *name)
{
	return !strncmp(name, "TVM", 3) || !strcmp(name, "__gnu_h2f_ieee") ||
	       !strcmp(name, "__gnu_f2h_ieee");
}

/**
 * compat_library_serve - bind the runtime's names in a library
 * @o: the library
 * @handle: from dlopen()
 *
 * Binding is lazy, and a name that is missing then ends the process: so this is done before any call.
 *
 * Return: 0; -TENON_E_UNSUPPORTED, naming what is missing, where it was looked for and the remedy.
 */
int compat_library_serve(const struct loaded_object *o, void *handle);

/**
 * compat_library_open - open the compatibility library
 * @for_all: for names that are bound at once, as seldom as can be: a libtvm_ffi that is opened later
 *	would find our names instead of its own, and end the process
 *
 * Return: as compat_library_serve().
 */
int compat_library_open(bool for_all);

/**
 * compat_library_wanted - open it if that is what the dynamic linker misses
 * @said: what dlerror() said about a module
 *
 * Return: true when opening the module may go better now.
 */
#ifdef CONFIG_TVM_FFI_COMPAT
bool compat_library_wanted(const char *said);
#else
static inline bool compat_library_wanted(const char *said)
{
	(void)said;
	return false;
}
#endif

/* Where it was found: a path, or "" when it is not open. */
const char *compat_library_path(void);

#endif /* RUNTIME_LOADER_COMPAT_LIBRARY_H */
