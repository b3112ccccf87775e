/* SPDX-License-Identifier: MIT */
#include "runtime/executor/model.h"
#include "runtime/executor/vm_executable.h"

static const struct tenon_module_loader modern_loader = { "relax.VMExecutable",
							  vm_executable_load };
static const struct tenon_module_loader legacy_loader = { "relax.Executable", vm_executable_load };

/* Builtins are registered when the first machine is initialised: most programs never make one. */
int vm_register(void)
{
	int err = tenon_module_loader_register(&modern_loader);

	return err ? err : tenon_module_loader_register(&legacy_loader);
}
