/* SPDX-License-Identifier: MIT */
/* What a target does that does not say otherwise. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

__attribute__((weak)) const size_t fuzz_memory_per_byte = 64;
__attribute__((weak)) const size_t fuzz_memory_at_all = 65536;
__attribute__((weak)) const bool fuzz_may_ask_for_memory = false;
__attribute__((weak)) const bool fuzz_is_slow = false;
__attribute__((weak)) const char *const fuzz_kinds[] = { NULL };

__attribute__((weak)) void fuzz_mutate(struct mutant *m)
{
	mutate_bytes(m);
}

__attribute__((weak)) void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes),
					 void *context)
{
	(void)visit;
	(void)context;
}

__attribute__((weak)) void
fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes), void *context)
{
	(void)visit;
	(void)context;
}

/* ---- the same changes for libFuzzer, half of the time */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutant m = { data, size, max_size, { NULL, 0 }, { seed } };

	if (LLVMFuzzerMutate && (!size || random_one_in(&m.random, 2)))
		return LLVMFuzzerMutate(data, size, max_size);
	fuzz_mutate(&m);
	return m.size ? m.size : 1;
}
