/* SPDX-License-Identifier: MIT */
/* The executor's entry in the executor table. */
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_executable.h"
#include "runtime/relax/relax_model.h"

static const struct tenon_module_loader loader = { "relax.VMExecutable", relax_executable_load };
static const struct tenon_module_loader legacy_loader = { "relax.Executable",
							  relax_executable_load };
static const struct tenon_module_loader *const loaders[] = { &loader, &legacy_loader, NULL };

extern const struct executor relax_executor;
const struct executor relax_executor = {
	.loaders = loaders,
	.create = relax_model_create,
	.register_functions = relax_builtins_register,
};
