/* SPDX-License-Identifier: MIT */
/* Run a target once, and find leaks and memory out of proportion to the input. */
#include "tests/fuzz/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/allocation.h"
#include "tests/fuzz/fuzz.h"

/* What is kept for the next time is kept once: a leak is what is lost each time. */
#define RUNS_UNTIL_LEAK 4

static bool is_worth(size_t size)
{
	size_t peak = allocation_peak();

	if (fuzz_may_ask_for_memory || peak <= fuzz_memory_per_byte * size + fuzz_memory_at_all)
		return true;
	fprintf(stderr, "%zu bytes of memory for %zu bytes of input\n", peak, size);
	return false;
}

static bool run(const uint8_t *data, size_t size)
{
	size_t lost;
	int i;

	for (i = 0; i < RUNS_UNTIL_LEAK; i++) {
		allocation_start();
		LLVMFuzzerTestOneInput(data, size);
		lost = allocation_left();
		if (!is_worth(size))
			return false;
		if (!lost)
			return true;
	}
	fprintf(stderr, "%zu bytes of memory are lost each time\n", lost);
	return false;
}

bool execution_run(struct tenon_slice input)
{
	/* of exactly the right size, so that a sanitizer sees the first byte read beyond */
	uint8_t *copy = malloc(input.size);
	bool good;

	if (input.size)
		memcpy(copy, input.data, input.size);
	good = run(copy, input.size);
	free(copy);
	return good;
}
