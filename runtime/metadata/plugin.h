/* SPDX-License-Identifier: MIT */
/* The row of constants and metadata in the table of plug-ins (runtime/table/plugin_row.h). */
#define METADATA_KINDS(each)                                                                       \
	each("const_loader", const_load) each("metadata", const_load)                              \
		each("metadata_module", metadata_load)
PLUGIN(METADATA, metadata, LOADER, METADATA_KINDS)
