/* SPDX-License-Identifier: MIT */
/* What the processor of this device can do: kernels that are built in. */
#include "devices/null/null.h"

/* to see what a launch costs */
static int nothing(const struct tenon_host_block *block)
{
	(void)block;
	return 0;
}

const tenon_host_kernel null_functions[] = { nothing };
const size_t null_function_count = sizeof(null_functions) / sizeof(null_functions[0]);
