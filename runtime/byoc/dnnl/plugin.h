/* SPDX-License-Identifier: MIT */
/* The row of oneDNN in the table of plug-ins (runtime/table/plugin_row.h). */
#define DNNL_KINDS(each) each("dnnl_json", dnnl_load)
PLUGIN(DNNL_JSON, dnnl, LOADER, DNNL_KINDS)
