/* SPDX-License-Identifier: MIT */
/* Valid inputs of each target, which mutants are made of. */
#ifndef TESTS_FUZZ_SEEDS_H
#define TESTS_FUZZ_SEEDS_H

#include <tenon/tenon.h>

/* Valid inputs of a target, by its name; @visit is called with each, and what it is. */
void seeds_each(const char *target,
		void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context);

#endif /* TESTS_FUZZ_SEEDS_H */
