/* SPDX-License-Identifier: MIT */
/*
 * Run a fuzz target on many mutants in one process, and keep each input that fails.
 *
 * Mutant number N of a seed is the same whenever it is made, so its two numbers are enough to repeat a failure. A
 * parent process watches: it tells a crash, a hang and a leak apart, keeps the input, and continues behind it.
 */
#ifndef TESTS_FUZZ_CAMPAIGN_H
#define TESTS_FUZZ_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct campaign - what to run
 * @target: its name
 * @seed: decides all mutants
 * @first: number of the first mutant
 * @count: how many
 * @quiet: print failures only
 */
struct campaign {
	const char *target;
	uint64_t seed;
	uint64_t first;
	uint64_t count;
	bool quiet;
};

/* Run all mutants in a child process. Returns how many failures there were. */
unsigned int campaign_run(const struct campaign *c);

/* Run one mutant in this process, where a debugger sees it; aborts when it fails. */
void campaign_run_one(const struct campaign *c);

#endif /* TESTS_FUZZ_CAMPAIGN_H */
