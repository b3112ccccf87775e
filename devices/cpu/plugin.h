/* SPDX-License-Identifier: MIT */
/* The row of the processor in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(DEVICE_CPU, cpu, BACKEND, kDLCPU, TENON_BACKEND_FORKS, NO_PAYLOADS)
