/* SPDX-License-Identifier: MIT */
/* The bytes are a file in safetensors. */
#include "tests/fuzz/fuzz.h"

/* tokens of JSON, of which a byte of the header may be half of one */
const size_t fuzz_memory_per_byte = 128;

void fuzz_mutate(struct mutant *m)
{
	mutate_json(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_params((struct tenon_slice){ (const char *)data, size });
}
