/* SPDX-License-Identifier: MIT */
/*
 * Spin for a short time before sleeping. The time adapts: a wait that ends in time lengthens the
 * next one, a timeout shortens it, so that an idle or crowded machine is not kept busy.
 */
#ifndef RUNTIME_CORE_SPIN_H
#define RUNTIME_CORE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/clock.h"
#include "runtime/core/futex.h"

#define SPIN_MOST_NS  40000
#define SPIN_LEAST_NS 1000
#define SPIN_CHUNK    32 /* pauses between two reads of the clock */

struct spin {
	int32_t budget_ns; /* 0: never spin */
};

/* Spin until (*@word & @mask) equals @value (@want true) or differs (false). False on timeout. */
static inline bool spin_until(struct spin *s, const uint32_t *word, uint32_t mask, uint32_t value,
			      bool want)
{
	int64_t end = 0;
	int i;

	while (s->budget_ns) {
		for (i = 0; i < SPIN_CHUNK; i++) {
			if (((__atomic_load_n(word, __ATOMIC_ACQUIRE) & mask) == value) == want) {
				if (s->budget_ns < SPIN_MOST_NS)
					s->budget_ns *= 2;
				return true;
			}
			cpu_relax();
		}
		if (!end)
			end = (int64_t)clock_now() + s->budget_ns;
		else if ((int64_t)clock_now() > end)
			break;
	}
	if (s->budget_ns > SPIN_LEAST_NS)
		s->budget_ns /= 2;
	return false;
}

#endif /* RUNTIME_CORE_SPIN_H */
