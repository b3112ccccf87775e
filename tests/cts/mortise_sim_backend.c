/* SPDX-License-Identifier: MIT */
/* The suite of backends: mortise on the simulator, a thread of the process. */
#include "tests/cts/mortise_code.h"

const struct cts_backend cts_backend = {
	.uri = "mortise:0",
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = mortise_setup,
};
