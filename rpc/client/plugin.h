/* SPDX-License-Identifier: MIT */
/* The row of the client of RPC in the table of plug-ins (runtime/table/plugin_row.h). */
#include <tenon/remote.h>

PLUGIN(REMOTE_CLIENT, rpc, BACKEND, TENON_DL_RPC,
       TENON_BACKEND_FORKS | TENON_BACKEND_PLACES | TENON_BACKEND_CONCURRENT_OPEN, NO_PAYLOADS)
