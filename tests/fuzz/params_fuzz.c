/* SPDX-License-Identifier: MIT */
/* The bytes are a file of parameters. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_params((struct tenon_slice){ (const char *)data, size });
}
