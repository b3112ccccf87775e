/* SPDX-License-Identifier: MIT */
/* The facts of a deed: a hash of all that came out of it, to compare a disturbed run with an undisturbed one. */
#ifndef TESTS_NOMEM_DEED_FACT_H
#define TESTS_NOMEM_DEED_FACT_H

#include <stddef.h>
#include <stdint.h>

/* Add bytes to the facts. */
static inline void deed_fact(uint64_t *facts, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		*facts = (*facts ^ bytes[i]) * UINT64_C(1099511628211);
}

#endif /* TESTS_NOMEM_DEED_FACT_H */
