/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_FILE_EXTENSION_H
#define RUNTIME_LIBRARY_FILE_EXTENSION_H

#include <tenon/function.h>
#include <tenon/module.h>

/**
 * file_extension - the part of a path that chooses a loader
 * @path: a path
 *
 * Return: what follows the last dot of the file's name, in place: "so" for "r18.so" and for
 *	"libr18.so.1"; empty when there is no dot.
 */
struct tenon_slice file_extension(const char *path);

/** file_extension_is_library - is it one of a shared object: so, dylib, dll, dso, or none at all */
bool file_extension_is_library(struct tenon_slice extension);

/** file_load_by - call a loader of files with path and extension; as loader_call() */
int file_load_by(struct tenon_function *function, const char *path, struct tenon_module **out);

#endif /* RUNTIME_LIBRARY_FILE_EXTENSION_H */
