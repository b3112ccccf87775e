/* SPDX-License-Identifier: MIT */
/* The accelerator in SystemVerilog: it has no core, so requests for kernels have to be refused. */
#include "tests/cts/mortise_code.h"

#define NO_CORE "logic has no core for loaded code"

static const struct cts_note unsupported[] = {
	{ "a_module_of_the_kind_is_loaded_and_called", NO_CORE },
	{ NULL, NULL },
};

const struct cts_backend cts_backend = {
	.uri = "mortise://rtl" MORTISE_PATIENT,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.no_kernels = NO_CORE,
	.setup = mortise_setup_more,
	.unsupported = unsupported,
};
