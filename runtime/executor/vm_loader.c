/* SPDX-License-Identifier: MIT */
#include "runtime/executor/model.h"
#include "runtime/executor/vm_executable.h"

const struct tenon_module_loader vm_executable_loader = { "relax.VMExecutable",
							  vm_executable_load };
const struct tenon_module_loader vm_executable_legacy_loader = { "relax.Executable",
								 vm_executable_load };
