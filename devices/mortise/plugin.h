/* SPDX-License-Identifier: MIT */
/* The row of mortise in the table of plug-ins (runtime/table/plugin_row.h). */
#include <tenon/uapi/mortise.h>

PLUGIN(DEVICE_MORTISE, mortise, BACKEND, TENON_DL_MORTISE, TENON_BACKEND_PLACES, PAYLOADS)
