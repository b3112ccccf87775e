/* SPDX-License-Identifier: MIT */
/* Open a module so that only it sees the compatibility library. */
#ifndef RUNTIME_LIBRARY_SCOPED_OPEN_H
#define RUNTIME_LIBRARY_SCOPED_OPEN_H

enum scoped_open {
	SCOPED_OPEN_DONE,
	SCOPED_OPEN_REFUSED,	/* by the dynamic linker; see dlerror() */
	SCOPED_OPEN_IMPOSSIBLE, /* no memfd_create(), or no /proc */
};

/**
 * scoped_open - open a library with private access to another's symbols
 * @path: the library, with a slash in it
 * @provider: library to search after the process's global symbols
 * @handle: receives a handle of @path, for dlclose(); NULL unless the result is SCOPED_OPEN_DONE
 *
 * RTLD_GLOBAL would expose the provider's symbols to every library that is opened later. Instead a
 * third library, written to memory, lists both as dependencies: the dynamic linker resolves one
 * dlopen() as one group. All names are bound before the first constructor runs.
 */
enum scoped_open scoped_open(const char *path, const char *provider, void **handle);

#endif /* RUNTIME_LIBRARY_SCOPED_OPEN_H */
