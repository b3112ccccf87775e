/* SPDX-License-Identifier: MIT */
/* A fake libcuda (tests/cuda/fake_cuda.h), whose streams run in whoever calls. */
#include "tests/cts/cuda_ptx.h"

static const char *setup(void)
{
	return cuda_fake_setup("fake_cuda", "inline");
}

const struct cts_backend cts_backend = {
	.uri = "cuda:0",
	.kind = "cuda",
	.format = "ptx",
	.code = cuda_ptx_code,
	.setup = setup,
};
