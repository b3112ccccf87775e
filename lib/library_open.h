/* SPDX-License-Identifier: MIT */
/* Tell a dlopen() that ran out of memory from one that failed otherwise. */
#ifndef LIB_LIBRARY_OPEN_H
#define LIB_LIBRARY_OPEN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/*
 * Test whether dlerror() had memory for its message. glibc's dlopen() does not set errno, but when
 * memory is out its message names no file and so has no colon. Not checked where messages are off.
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
 * library_open - dlopen() that distinguishes lack of memory from a library that cannot be loaded
 * @path: name of the library
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
