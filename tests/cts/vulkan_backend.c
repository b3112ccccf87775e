/* SPDX-License-Identifier: MIT */
/* The suite of backends: Vulkan, on the driver that is installed. */
#include "tests/cts/vulkan_glsl.h"

const struct cts_backend cts_backend = {
	.uri = "vulkan:0",
	.kind = "vulkan",
	.format = "vulkan",
	.kernel_code = vulkan_glsl_code,
	.setup = vulkan_glsl_setup,
};
