/* SPDX-License-Identifier: MIT */
/* The bytes are the symbol of an import tree, of TVM 0.8 to 0.21. */
#include "tests/fuzz/blob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_blob(data, size, TENON_GENERATION_LEGACY);
}
