/* SPDX-License-Identifier: MIT */
/* The row of Ethos-U in the table of plug-ins (runtime/table/plugin_row.h). */
#include <tenon/ethosu.h>

PLUGIN(DEVICE_ETHOSU, ethosu, BACKEND, TENON_DL_ETHOSU, TENON_BACKEND_FORKS | TENON_BACKEND_PLACES,
       PAYLOADS)
