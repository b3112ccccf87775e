/* SPDX-License-Identifier: MIT */
/* Modules that pass constants to the code that they import. */
#ifndef RUNTIME_KIND_CONST_LOADER_H
#define RUNTIME_KIND_CONST_LOADER_H

/*
 * Third-party code generators store their constants apart from their code: a const_loader (0.8:
 * metadata) module holds them, imports the modules with the code, and passes each of these its
 * constants before its first use. metadata_module wraps an ahead-of-time model and is empty.
 */

#include <tenon/backend/module_kind.h>

extern const struct tenon_module_loader const_loader;
extern const struct tenon_module_loader const_loader_as_metadata;
extern const struct tenon_module_loader metadata_module_loader;

#endif /* RUNTIME_KIND_CONST_LOADER_H */
