/* SPDX-License-Identifier: MIT */
/* The row of rocket in the table of plug-ins (runtime/table/plugin_row.h). */
#include <tenon/uapi/rocket.h>

PLUGIN(DEVICE_ROCKET, rocket, BACKEND, TENON_DL_ROCKET, TENON_BACKEND_FORKS | TENON_BACKEND_PLACES,
       PAYLOADS)
