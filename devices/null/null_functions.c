/* SPDX-License-Identifier: MIT */
/* Built-in kernels, the "instruction set" of this device. */
#include "devices/null/null.h"

/* for measuring the cost of a launch */
static int nothing(const struct tenon_host_block *block)
{
	return 0;
}

const tenon_host_kernel null_functions[] = { nothing };
const size_t null_function_count = sizeof(null_functions) / sizeof(null_functions[0]);
