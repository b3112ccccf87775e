/* SPDX-License-Identifier: MIT */
/* The suite of backends: mortise on a Cortex-M3, a board that QEMU emulates. */
#include "tests/cts/mortise_code.h"

const struct cts_backend cts_backend = {
	.uri = "mortise://cm3" MORTISE_PATIENT,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = mortise_setup_more,
};
