/* SPDX-License-Identifier: MIT */
#ifndef LIB_LIBRARY_OPEN_H
#define LIB_LIBRARY_OPEN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/*
 * Did dlerror() have memory for its message? glibc's dlopen() keeps errno, but without memory its message
 * has no name of a file, and so no colon. The smallest configuration does not ask.
 */
static inline bool library_words_whole(const char *words)
{
#if defined(__GLIBC__) && defined(CONFIG_ERROR_MESSAGES)
	return words && strchr(words, ':');
#else
	return words != NULL;
#endif
}

/**
 * library_open - dlopen() that tells a lack of memory from a library that cannot be loaded
 * @path: what to open
 * @flags: as for dlopen()
 * @handle: receives the handle; NULL on failure
 * @words: receives the dynamic linker's message where there is no handle, else NULL
 *
 * Return: 0, whether the library was opened or not; -TENON_E_NOMEM.
 */
static inline int library_open(const char *path, int flags, void **handle, const char **words)
{
	*words = NULL;
	*handle = dlopen(path, flags);
	if (*handle)
		return 0;
	*words = dlerror();
	return library_words_whole(*words)
		       ? 0
		       : tenon_error(-TENON_E_NOMEM, "%s: no memory to open it", path);
}

#endif /* LIB_LIBRARY_OPEN_H */
