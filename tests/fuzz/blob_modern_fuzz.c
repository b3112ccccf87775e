/* SPDX-License-Identifier: MIT */
/* The bytes are the symbol of an import tree, of TVM 0.22 and later. */
#include "tests/fuzz/blob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_blob(data, size, TENON_GENERATION_FFI);
}
