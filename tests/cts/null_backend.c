/* SPDX-License-Identifier: MIT */
/* The suite of backends: the backend null. */
#include "tests/cts/cts.h"
#include "tests/cts/host_kernels.h"

const struct cts_backend cts_backend = {
	.uri = "null:0",
	.format = "functions",
	.code = host_kernels_code,
};
