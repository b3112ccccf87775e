/* SPDX-License-Identifier: MIT */
/* The suite's kernels as PTX, and the fake of libcuda that can stand in for a GPU. */
#ifndef TESTS_CTS_CUDA_PTX_H
#define TESTS_CTS_CUDA_PTX_H

#include "tests/cts/cts.h"

/* The suite's kernels as PTX, for any GPU from compute capability 5.2 on. */
int cuda_ptx_code(struct tenon_buffer *out);

/* Let libcuda be the named fake; a reason to skip when it is not built. */
const char *cuda_fake_setup(const char *library, const char *mode);

#endif /* TESTS_CTS_CUDA_PTX_H */
