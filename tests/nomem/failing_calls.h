/* SPDX-License-Identifier: MIT */
/*
 * Make one chosen call to the system fail with EIO, to test that every failure becomes an error.
 *
 * The functions stand in for those of the C library in the whole process. Calls that give something back are not among
 * them; memory is in failing_malloc.h.
 */
#ifndef TESTS_NOMEM_FAILING_CALLS_H
#define TESTS_NOMEM_FAILING_CALLS_H

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
