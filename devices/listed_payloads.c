/* SPDX-License-Identifier: MIT */
/* Kinds of modules of TVM that no backend runs: they can only be listed. */
#include "runtime/payload/payload_format.h"

PAYLOAD_DEFINE(kernels, PAYLOAD_KINDS("hip", "hsaco", "hexagon", "hex"), .fields = "fmd");
PAYLOAD_DEFINE(metal, PAYLOAD_KINDS("metal"), .fields = "xbmf|fmb|fmd", .legacy = "xbmf|fmd");
PAYLOAD_DEFINE(webgpu, PAYLOAD_KINDS("webgpu"), .fields = "mb");
PAYLOAD_DEFINE(dnnl_graphs, PAYLOAD_KINDS("dnnl_json"), .fields = "nt*y",
	       .remedy = "Enable CONFIG_DNNL_JSON.");
PAYLOAD_DEFINE(graphs,
	       PAYLOAD_KINDS("tensorrt", "arm_compute_lib", "bnns_json", "clml", "cublas_json",
			     "cudnn_json", "hipblas_json", "nnapi", "msc_tensorrt"),
	       .fields = "nt*y");
PAYLOAD_DEFINE(mrvl_sim, PAYLOAD_KINDS("mrvl_sim"), .fields = "nt");
PAYLOAD_DEFINE(mrvl_hw, PAYLOAD_KINDS("mrvl_hw"), .fields = "ntdiii");
PAYLOAD_DEFINE(serialised, PAYLOAD_KINDS("torch", "coreml"), .fields = "nd");
PAYLOAD_DEFINE(vitis, PAYLOAD_KINDS("VitisAIRuntime"), .fields = "dyn*y");
PAYLOAD_DEFINE(ethosn, PAYLOAD_KINDS("ethos-n"), .fields = "*(yy*q*q)");
PAYLOAD_DEFINE(c_source, PAYLOAD_KINDS("c"), .fields = "tfk*y");
PAYLOAD_DEFINE(static_library, PAYLOAD_KINDS("static_library"), .fields = "dk");

payload_format_list payload_listed_formats = {
	&kernels,    &metal, &webgpu, &dnnl_graphs, &graphs,	     &mrvl_sim, &mrvl_hw,
	&serialised, &vitis, &ethosn, &c_source,    &static_library, NULL,
};
