/* SPDX-License-Identifier: MIT */
#include "runtime/model/model.h"
#include "runtime/relax/relax_executable.h"

const struct tenon_module_loader relax_executable_loader = { "relax.VMExecutable",
							  relax_executable_load };
const struct tenon_module_loader relax_executable_legacy_loader = { "relax.Executable",
								 relax_executable_load };
