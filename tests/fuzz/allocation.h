/* SPDX-License-Identifier: MIT */
/*
 * Measure how much memory a stretch of code needs at most, and how much of it it does not give back.
 *
 * It counts where the C library is glibc, or a sanitizer has taken its place; elsewhere all figures are 0.
 */
#ifndef TESTS_FUZZ_ALLOCATION_H
#define TESTS_FUZZ_ALLOCATION_H

#include <stddef.h>

/* Begin a stretch. */
void allocation_start(void);

/* Bytes that were in use at most since then, beyond what was in use at its start. */
size_t allocation_peak(void);

/* Bytes that are in use beyond those of the start; 0 when there are fewer. */
size_t allocation_left(void);

#endif /* TESTS_FUZZ_ALLOCATION_H */
