/* SPDX-License-Identifier: MIT */
/* The row of CUDA in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(DEVICE_CUDA, cuda, BACKEND, kDLCUDA, 0, LISTED_PAYLOADS)
