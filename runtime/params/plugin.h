/* SPDX-License-Identifier: MIT */
/* The row of files of parameters in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(PARAMS_FILES, params, PARAMS)
