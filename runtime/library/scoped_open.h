/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_SCOPED_OPEN_H
#define RUNTIME_LIBRARY_SCOPED_OPEN_H

enum scoped_open {
	SCOPED_OPEN_DONE,
	SCOPED_OPEN_REFUSED,	/* by the dynamic linker; dlerror() says why */
	SCOPED_OPEN_IMPOSSIBLE, /* no memfd_create(), or no /proc */
};

/**
 * scoped_open - open a library that finds the symbols of another, which the rest of the process does not
 * @path: the library, with a slash in it
 * @provider: the library whose symbols it finds, behind those that the whole process sees
 * @handle: receives a handle of @path, for dlclose(); NULL unless the result is SCOPED_OPEN_DONE
 *
 * RTLD_GLOBAL would show the provider's symbols to every library that is opened later. Here a third
 * library, written to memory, names both as needed: the dynamic linker searches what one dlopen() loads as
 * one group. All names are bound before the first constructor runs.
 */
enum scoped_open scoped_open(const char *path, const char *provider, void **handle);

#endif /* RUNTIME_LIBRARY_SCOPED_OPEN_H */
