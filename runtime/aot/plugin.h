/* SPDX-License-Identifier: MIT */
/* The row of ahead-of-time code in the table of plug-ins (runtime/table/plugin_row.h). */
#define AOT_KINDS(each) each("AotExecutorFactory", aot_factory_load)
PLUGIN(AOT_EXECUTOR, aot, EXECUTOR, AOT_KINDS, NO_FUNCTIONS)
