/* SPDX-License-Identifier: MIT */
/* The row of asking drivers in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(PROBE, probe, PROBER)
