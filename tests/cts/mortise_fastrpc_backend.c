/* SPDX-License-Identifier: MIT */
/*
 * The suite of backends: mortise in a process on a Hexagon DSP, behind a named fake of the kernel's FastRPC. qemu-hexagon runs
 * the process and the library with the firmware.
 */
#include "tests/cts/mortise_code.h"
#include "tests/fastrpc/dsp_kernel.h"

static const char *setup(void)
{
	const char *why = mortise_left_out();

	if (!why)
		why = dsp_kernel_use();
	return why ? why : mortise_register();
}

const struct cts_backend cts_backend = {
	.uri = "mortise://fastrpc/cdsp" MORTISE_PATIENT,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = setup,
};
