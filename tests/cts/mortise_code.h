/* SPDX-License-Identifier: MIT */
/* The suite's kernels as programs for mortise, and how a backend of it is set up. */
#ifndef TESTS_CTS_MORTISE_CODE_H
#define TESTS_CTS_MORTISE_CODE_H

#include "tests/cts/cts.h"

/*
 * Behind a board's name: how long its heartbeat may stand still. A machine with much to do stops the process that is the
 * board for seconds, which is no fault of the board; what silence does is tested elsewhere (tests/hil/fault_cases.c).
 */
#define MORTISE_PATIENT "?silence=30000"

/* Append the suite's kernels as the program of a payload. */
int mortise_code(struct tenon_buffer *out);

/* Make the backend known; a reason to skip, or NULL. */
const char *mortise_setup(void);

/* As before, without a look whether the board is there. */
const char *mortise_register(void);

/* As before, for transports that tests/driver/guest.sh has in a guest. */
const char *mortise_setup_guest(void);

/* Why a board is tried by "make check-hil" and FULL=1 alone; NULL where it is tried. */
const char *mortise_left_out(void);

/* As mortise_setup(), for boards that only "make check-hil" and FULL=1 run. */
const char *mortise_setup_more(void);

#endif /* TESTS_CTS_MORTISE_CODE_H */
