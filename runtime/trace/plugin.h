/* SPDX-License-Identifier: MIT */
/* The row of traces in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(TRACE, trace, TRACER)
