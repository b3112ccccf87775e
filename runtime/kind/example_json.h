/* SPDX-License-Identifier: MIT */
/* A custom kind of module, as an example to copy. */
#ifndef RUNTIME_KIND_EXAMPLE_JSON_H
#define RUNTIME_KIND_EXAMPLE_JSON_H

/*
 * The module of TVM's bring-your-own-codegen guide, in C, as an example of a custom kind of module.
 * The source uses public headers only, so it can be copied out of the tree.
 */

#include <tenon/backend/module_kind.h>

/* Loads a blob entry: one string, the text. */
extern const struct tenon_module_loader example_json_loader;

/* `ffi.Module.load_from_file.examplejson`: takes the path, and an extension, which is ignored. */
int example_json_load_file(void *self, const struct tenon_value *args, int32_t count,
			   struct tenon_value *ret);

#endif /* RUNTIME_KIND_EXAMPLE_JSON_H */
