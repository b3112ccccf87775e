/* SPDX-License-Identifier: MIT */
/* The same device as if it were an older one with memory of its own. */
#include "tests/cts/vulkan_glsl.h"

const struct cts_backend cts_backend = {
	.uri = "vulkan://0?without=1.2&without=push-descriptors&without=host-memory",
	.kind = "vulkan",
	.format = "vulkan",
	.kernel_code = vulkan_glsl_code,
	.setup = vulkan_glsl_setup,
};
