/* SPDX-License-Identifier: MIT */
/* Use a Relax executable that was read from mutated bytes. */
#ifndef TESTS_FUZZ_USE_EXECUTABLE_H
#define TESTS_FUZZ_USE_EXECUTABLE_H

#include "runtime/relax/relax_executable.h"

/* Print a Relax executable and run its functions for a while, with tensors as arguments. */
void fuzz_use_executable(struct relax_executable *x);

#endif /* TESTS_FUZZ_USE_EXECUTABLE_H */
