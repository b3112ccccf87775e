/* SPDX-License-Identifier: MIT */
/* The row of describing and writing modules in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(DESCRIBE, describe, DESCRIBER)
