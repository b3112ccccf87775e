/* SPDX-License-Identifier: MIT */
#ifndef TESTS_MORTISE_STREAM_CASES_H
#define TESTS_MORTISE_STREAM_CASES_H

/* The cases of stream_cases.c, which has main(), and the board that a program runs them on. */

extern const char *const stream_uri;

/* why the board cannot be used; NULL when it can */
const char *stream_missing(void);

#endif /* TESTS_MORTISE_STREAM_CASES_H */
