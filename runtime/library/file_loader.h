/* SPDX-License-Identifier: MIT */
/* Loaders of files other than shared objects, by extension. */
#ifndef RUNTIME_LIBRARY_FILE_LOADER_H
#define RUNTIME_LIBRARY_FILE_LOADER_H

#include <tenon/buffer.h>
#include <tenon/function.h>
#include <tenon/module.h>

#include "lib/plugin_api.h"

/**
 * file_loader_find - find the packed function that loads files of an extension
 * @extension: without the dot
 * @out: receives `ffi.Module.load_from_file.<extension>` or the built-in loader, with one
 * reference; NULL when there is neither
 *
 * Return: 0, also when there is none; -TENON_E_NOMEM.
 */
int file_loader_find(struct tenon_slice extension, struct tenon_function **out);

/**
 * file_load - load a file by the loader of its extension
 * @path: the file
 * @out: receives the module with one reference; NULL when there is no loader
 *
 * Return: 0, also when there is none; -TENON_E_NOMEM; the loader's error.
 */
int file_load(const char *path, struct tenon_module **out) TO_PLUGINS(file_load);

/** file_loader_names - append the extensions that can be loaded: ".so, .ptx" */
int file_loader_names(struct tenon_buffer *out);

#endif /* RUNTIME_LIBRARY_FILE_LOADER_H */
