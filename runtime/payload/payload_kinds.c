/* SPDX-License-Identifier: MIT */
/* Descriptions of the runtime's own kinds. Data only. */
#include "lib/option.h"
#include "runtime/payload/payload_format.h"

PAYLOAD_DEFINE(constants, PAYLOAD_KINDS("const_loader", "metadata"), .fields = "*yak**y",
	       .remedy = "Enable CONFIG_DNNL_JSON.");
PAYLOAD_DEFINE(metadata, PAYLOAD_KINDS("metadata_module"), .fields = "",
	       .remedy = "Enable CONFIG_AOT_EXECUTOR.");
PAYLOAD_DEFINE(graph_factory, PAYLOAD_KINDS("GraphExecutorFactory", "GraphRuntimeFactory"),
	       .fields = "tpn", .remedy = "Enable CONFIG_GRAPH_EXECUTOR.");
PAYLOAD_DEFINE(aot_factory, PAYLOAD_KINDS("AotExecutorFactory"), .fields = "pn",
	       .remedy = "Enable CONFIG_AOT_EXECUTOR.");
PAYLOAD_DEFINE(example, PAYLOAD_KINDS("examplejson"), .fields = "t",
	       .remedy = "Build the plug-in in examples/example_json/.");

/* devices/bitstream_payload.c */
extern const struct tenon_payload_format payload_bitstream_format;

/* clang-format off */
payload_format_list payload_own_formats = {
	OPTION_ROWS(KERNEL_CACHE, &payload_bitstream_format,)
	&constants,
	&metadata,
	&graph_factory,
	&aot_factory,
	&payload_relax_format,
	&payload_relay_format,
	&example,
	NULL,
};
/* clang-format on */
