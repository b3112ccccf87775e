/* SPDX-License-Identifier: MIT */
/* The suite's kernels as SPIR-V, which glslangValidator makes of GLSL. */
#ifndef TESTS_CTS_VULKAN_GLSL_H
#define TESTS_CTS_VULKAN_GLSL_H

#include "tests/cts/cts.h"

/* Compile a kernel with glslangValidator; every other one takes its scalars in a uniform block. */
int vulkan_glsl_code(const struct cts_kernel *kernel, struct tenon_buffer *out, uint32_t *flags);
/* Why there can be no kernels here; else what is the matter with the environment is set right. */
const char *vulkan_glsl_setup(void);

#endif /* TESTS_CTS_VULKAN_GLSL_H */
