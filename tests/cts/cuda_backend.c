/* SPDX-License-Identifier: MIT */
/* NVIDIA's own driver, where there is one. */
#include "tests/cts/cuda_ptx.h"

const struct cts_backend cts_backend = {
	.uri = "cuda:0",
	.kind = "cuda",
	.format = "ptx",
	.code = cuda_ptx_code,
};
