/* SPDX-License-Identifier: MIT */
/* The row of Torq in the table of plug-ins (runtime/table/plugin_row.h). */
#include <tenon/uapi/torq.h>

PLUGIN(DEVICE_TORQ, torq, BACKEND, TENON_DL_TORQ, TENON_BACKEND_FORKS, PAYLOADS)
NPU("syna,npu", "SL2610", "torq", "SYNAPTICS_NPU", true)
