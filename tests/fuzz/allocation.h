/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_ALLOCATION_H
#define TESTS_FUZZ_ALLOCATION_H

/*
 * How much memory a stretch of code needs at most. Counts where the C library is glibc and no
 * sanitizer has taken its place; elsewhere nothing is counted.
 */

#include <stdbool.h>
#include <stddef.h>

/* Are allocations counted in this build. */
bool allocation_counts(void);

/* Begin a stretch. */
void allocation_start(void);

/* Bytes that were in use at most since then, beyond what was in use at its start. */
size_t allocation_peak(void);

#endif /* TESTS_FUZZ_ALLOCATION_H */
