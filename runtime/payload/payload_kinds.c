/* SPDX-License-Identifier: MIT */
/* Descriptions of the runtime's own kinds. Data only. */
#include "runtime/payload/payload_format.h"

#define KINDS(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static const struct tenon_payload_format constants = {
	.size = sizeof(constants),
	.kinds = KINDS("const_loader", "metadata"),
	.fields = "*yak**y",
	.remedy = "Enable CONFIG_METADATA.",
};

static const struct tenon_payload_format metadata = {
	.size = sizeof(metadata),
	.kinds = KINDS("metadata_module"),
	.fields = "",
	.remedy = "Enable CONFIG_METADATA.",
};

static const struct tenon_payload_format graph_factory = {
	.size = sizeof(graph_factory),
	.kinds = KINDS("GraphExecutorFactory", "GraphRuntimeFactory"),
	.fields = "tpn",
	.remedy = "Enable CONFIG_GRAPH_EXECUTOR.",
};

static const struct tenon_payload_format aot_factory = {
	.size = sizeof(aot_factory),
	.kinds = KINDS("AotExecutorFactory"),
	.fields = "pn",
	.remedy = "Enable CONFIG_AOT_EXECUTOR.",
};

static const struct tenon_payload_format example = {
	.size = sizeof(example),
	.kinds = KINDS("examplejson"),
	.fields = "t",
	.remedy = "Build the plug-in in examples/example_json/.",
};

payload_format_list payload_own_formats = {
	&constants,
	&metadata,
	&graph_factory,
	&aot_factory,
	&payload_relax_format,
	&payload_relay_format,
	&example,
	NULL,
};
