/* SPDX-License-Identifier: MIT */
/*
 * Do what a program does once for each allocation or system call in it, with that one failing.
 *
 * A deed ends with an error and a message, or with what it gives undisturbed. It can be done again right after, and
 * nothing is lost.
 */
#ifndef TESTS_NOMEM_DEEDS_H
#define TESTS_NOMEM_DEEDS_H

#include <stdint.h>

#include "tests/nomem/deed_fact.h"

/* Return: 0, or a status with a message. What came out goes to @facts, the same with each run. */
typedef int (*deed)(uint64_t *facts);

/* Of a deed with processes of its own: how many requests they made that this one did not count; 0 where they count together. */
void deed_add_requests(long count);

/* Let only one request in so many fail, where a deed takes long and makes many alike. */
void deeds_step(long step);

/* setup of a group with deeds */
int deeds_prepare(void **state);

/* the cases of a deed */
void an_allocation_that_fails_is_an_error_and_no_loss(void **state);
void a_call_that_fails_is_an_error_and_no_loss(void **state);

#define DEED_CASE(name, case, act)                                                                 \
	{                                                                                          \
		name, case, NULL, NULL, &(deed)                                                    \
		{                                                                                  \
			act                                                                        \
		}                                                                                  \
	}

/* … with each allocation, and with each call to the system that failing_calls.h has */
#define DEED(name, act)	      DEED_CASE(name, an_allocation_that_fails_is_an_error_and_no_loss, act)
#define DEED_CALLS(name, act) DEED_CASE(name, a_call_that_fails_is_an_error_and_no_loss, act)

#endif /* TESTS_NOMEM_DEEDS_H */
