/* SPDX-License-Identifier: MIT */
/* Kinds of modules of TVM that no backend runs: they can only be listed. */
#include "runtime/payload/payload_format.h"

#define KINDS(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static const struct tenon_payload_format kernels = {
	.size = sizeof(kernels),
	.kinds = KINDS("hip", "hsaco", "hexagon", "hex"),
	.fields = "fmd",
};

static const struct tenon_payload_format metal = {
	.size = sizeof(metal),
	.kinds = KINDS("metal"),
	.fields = "xbmf|fmb|fmd",
	.legacy = "xbmf|fmd",
};

static const struct tenon_payload_format webgpu = {
	.size = sizeof(webgpu),
	.kinds = KINDS("webgpu"),
	.fields = "mb",
};

static const struct tenon_payload_format dnnl_graphs = {
	.size = sizeof(dnnl_graphs),
	.kinds = KINDS("dnnl_json"),
	.fields = "nt*y",
	.remedy = "Enable CONFIG_DNNL_JSON.",
};

static const struct tenon_payload_format graphs = {
	.size = sizeof(graphs),
	.kinds = KINDS("tensorrt", "arm_compute_lib", "bnns_json", "clml", "cublas_json",
		       "cudnn_json", "hipblas_json", "nnapi", "msc_tensorrt"),
	.fields = "nt*y",
};

static const struct tenon_payload_format mrvl_sim = {
	.size = sizeof(mrvl_sim),
	.kinds = KINDS("mrvl_sim"),
	.fields = "nt",
};

static const struct tenon_payload_format mrvl_hw = {
	.size = sizeof(mrvl_hw),
	.kinds = KINDS("mrvl_hw"),
	.fields = "ntdiii",
};

static const struct tenon_payload_format serialised = {
	.size = sizeof(serialised),
	.kinds = KINDS("torch", "coreml"),
	.fields = "nd",
};

static const struct tenon_payload_format vitis = {
	.size = sizeof(vitis),
	.kinds = KINDS("VitisAIRuntime"),
	.fields = "dyn*y",
};

static const struct tenon_payload_format ethosn = {
	.size = sizeof(ethosn),
	.kinds = KINDS("ethos-n"),
	.fields = "*(yy*q*q)",
};

static const struct tenon_payload_format c_source = {
	.size = sizeof(c_source),
	.kinds = KINDS("c"),
	.fields = "tfk*y",
};

static const struct tenon_payload_format static_library = {
	.size = sizeof(static_library),
	.kinds = KINDS("static_library"),
	.fields = "dk",
};

#ifdef CONFIG_KERNEL_CACHE
/* bitstream_payload.c */
extern const struct tenon_payload_format payload_bitstream_format;
#endif

payload_format_list payload_listed_formats = {
#ifdef CONFIG_KERNEL_CACHE
	&payload_bitstream_format,
#endif
	&kernels,
	&metal,
	&webgpu,
	&dnnl_graphs,
	&graphs,
	&mrvl_sim,
	&mrvl_hw,
	&serialised,
	&vitis,
	&ethosn,
	&c_source,
	&static_library,
	NULL,
};
