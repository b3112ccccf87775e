/* SPDX-License-Identifier: MIT */
/* The interface between the cases of stream_cases.c, which has main(), and the board that a program runs them on. */
#ifndef TESTS_MORTISE_STREAM_CASES_H
#define TESTS_MORTISE_STREAM_CASES_H

extern const char *const stream_uri;

/* behind a board's name: a machine with much to do may stop the board for seconds */
#define STREAM_PATIENT "?silence=30000"

/* why the board cannot be used; NULL when it can */
const char *stream_missing(void);

#endif /* TESTS_MORTISE_STREAM_CASES_H */
