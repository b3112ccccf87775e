/* SPDX-License-Identifier: MIT */
/* The suite of backends: mortise on a RISC-V core of 64 bits, a board that QEMU emulates. */
#include "tests/cts/mortise_code.h"

const struct cts_backend cts_backend = {
	.uri = "mortise://rv64" MORTISE_PATIENT,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = mortise_setup,
};
