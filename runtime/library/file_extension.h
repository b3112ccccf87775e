/* SPDX-License-Identifier: MIT */
/* Extensions of file names, which select loaders. */
#ifndef RUNTIME_LIBRARY_FILE_EXTENSION_H
#define RUNTIME_LIBRARY_FILE_EXTENSION_H

#include <tenon/function.h>
#include <tenon/module.h>

/**
 * file_extension - get the extension that selects a loader
 * @path: a path
 *
 * Return: the part after the last dot of the file name, as a slice of @path: "so" for "r18.so" and
 * for "libr18.so.1"; empty when there is no dot.
 */
struct tenon_slice file_extension(const char *path);

/** file_extension_is_library - test for a shared object's: so, dylib, dll, dso, or none */
bool file_extension_is_library(struct tenon_slice extension);

/** file_load_by - call a file loader with a path and its extension; as loader_call() */
int file_load_by(struct tenon_function *function, const char *path, struct tenon_module **out);

#endif /* RUNTIME_LIBRARY_FILE_EXTENSION_H */
