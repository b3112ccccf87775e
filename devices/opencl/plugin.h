/* SPDX-License-Identifier: MIT */
/* The row of OpenCL in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(DEVICE_OPENCL, opencl, BACKEND, kDLOpenCL, 0, LISTED_PAYLOADS)
