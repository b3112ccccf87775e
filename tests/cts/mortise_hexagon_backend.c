/* SPDX-License-Identifier: MIT */
/* The suite of backends: mortise on a Hexagon core, as a program that qemu-hexagon runs. */
#include "tests/cts/mortise_code.h"

const struct cts_backend cts_backend = {
	.uri = "mortise://hexagon" MORTISE_PATIENT,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = mortise_setup_more,
};
