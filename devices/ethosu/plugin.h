/* SPDX-License-Identifier: MIT */
/* The row of Ethos-U in the table of plug-ins (runtime/table/plugin_row.h). */
#include <tenon/ethosu.h>

PLUGIN(DEVICE_ETHOSU, ethosu, BACKEND, TENON_DL_ETHOSU, TENON_BACKEND_FORKS | TENON_BACKEND_PLACES,
       PAYLOADS)
NPU("arm,ethos-u55", "Ethos-U55", NULL, NULL, false)
NPU("arm,ethos-u65", "Ethos-U65", "ethosu", "DRM_ACCEL_ARM_ETHOSU", false)
NPU("arm,ethos-u85", "Ethos-U85", "ethosu", "DRM_ACCEL_ARM_ETHOSU", false)
