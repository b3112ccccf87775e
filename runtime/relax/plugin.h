/* SPDX-License-Identifier: MIT */
/* The row of the Relax machine in the table of plug-ins (runtime/table/plugin_row.h). */
#include "runtime/relax/relax_builtin_list.h"

#define RELAX_KINDS(each)                                                                          \
	each("relax.VMExecutable", relax_executable_load)                                          \
		each("relax.Executable", relax_executable_load)
PLUGIN(RELAX_VM, relax, EXECUTOR, RELAX_KINDS, RELAX_FUNCTIONS, RELAX_NAMES)
