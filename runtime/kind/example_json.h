/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_KIND_EXAMPLE_JSON_H
#define RUNTIME_KIND_EXAMPLE_JSON_H

/**
 * DOC: ExampleJSON
 *
 * The module of TVM's bring-your-own-codegen guide, in C: an example of a custom kind of module.
 * The source uses only public headers, so it can be copied out of the tree.
 */

#include <tenon/backend/module_kind.h>

/* makes a module of the bytes of a blob entry: one string, the text */
extern const struct tenon_module_loader example_json_loader;

/* `ffi.Module.load_from_file.examplejson`: the path, and the extension, which is not looked at */
int example_json_load_file(void *self, const struct tenon_value *args, int32_t count,
			   struct tenon_value *ret);

#endif /* RUNTIME_KIND_EXAMPLE_JSON_H */
