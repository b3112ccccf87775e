/* SPDX-License-Identifier: MIT */
/* The row of null in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(DEVICE_NULL, null, BACKEND, TENON_DL_NULL, TENON_BACKEND_FORKS, PAYLOADS)
