/* SPDX-License-Identifier: MIT */
/* The fake libcuda, with a thread for each stream. */
#include "tests/cts/cuda_ptx.h"

static const char *setup(void)
{
	return cuda_fake_setup("fake_cuda", "threads");
}

const struct cts_backend cts_backend = {
	.uri = "cuda:0",
	.kind = "cuda",
	.format = "ptx",
	.code = cuda_ptx_code,
	.setup = setup,
};
