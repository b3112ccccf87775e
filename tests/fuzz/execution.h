/* SPDX-License-Identifier: MIT */
/* One run of a target, with its memory counted. */
#ifndef TESTS_FUZZ_EXECUTION_H
#define TESTS_FUZZ_EXECUTION_H

#include <tenon/string.h>

/*
 * Run the target once, with its memory counted. Returns false, with the reason on standard error, when it
 * used more than its input is worth or did not give all of it back.
 */
bool execution_run(struct tenon_slice input);

#endif /* TESTS_FUZZ_EXECUTION_H */
