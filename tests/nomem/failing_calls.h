/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NOMEM_FAILING_CALLS_H
#define TESTS_NOMEM_FAILING_CALLS_H

/*
 * Functions of the C library that ask the system for something, of which one chosen call fails with EIO. They stand in for those of the
 * whole process. What gives something back is not among them, nor is memory (failing_malloc.h).
 */

#include <stdatomic.h>
#include <stdbool.h>

/* Can this build stand in for them? Sanitizers do so themselves. */
bool failing_calls_work(void);

/* Count calls from here on, and let one fail: 1 is the next, 0 none. */
void failing_calls_start(long fails_at);

/* Let the processes that are forked from here on count together with this one, in memory that they share. */
void failing_calls_share(atomic_long *count);

/* End the count. Return: how many calls there were */
long failing_calls_stop(void);

#endif /* TESTS_NOMEM_FAILING_CALLS_H */
