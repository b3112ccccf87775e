/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CTS_MORTISE_CODE_H
#define TESTS_CTS_MORTISE_CODE_H

#include "tests/cts/cts.h"

/* Append the suite's kernels as the program of a payload. */
int mortise_code(struct tenon_buffer *out);

/* Make the backend known; a reason to skip, or NULL. */
const char *mortise_setup(void);

/* As before, for boards that only "make check-hil" and FULL=1 run. */
const char *mortise_setup_more(void);

#endif /* TESTS_CTS_MORTISE_CODE_H */
