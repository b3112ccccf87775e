/* SPDX-License-Identifier: MIT */
/*
 * Spin for a short time before sleeping.
 *
 * The time adapts. If a wait ends while it spins, or soon after, the next one spins longer; if it lasts longer, the next
 * one spins for less time. So waiting threads do not keep an idle or crowded machine busy.
 */
#ifndef RUNTIME_CORE_SPIN_H
#define RUNTIME_CORE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/clock.h"
#include "runtime/core/futex.h"

#define SPIN_MOST_NS  100000 /* a small kernel that one thread runs between two launches */
#define SPIN_LEAST_NS 1000
#define SPIN_CHUNK    32 /* pauses between two reads of the clock */

struct spin {
	int32_t budget_ns; /* 0: never spin */
	int64_t end;	   /* when the last wait that timed out was to stop spinning */
};

static inline void spin_longer(struct spin *s)
{
	s->budget_ns = s->budget_ns > SPIN_MOST_NS / 2 ? SPIN_MOST_NS : 2 * s->budget_ns;
}

/* Spin until (*@word & @mask) equals @value (@want true) or differs (false). False on timeout. */
static inline bool spin_until(struct spin *s, const uint32_t *word, uint32_t mask, uint32_t value,
			      bool want)
{
	int64_t end = 0;
	int i;

	while (s->budget_ns) {
		for (i = 0; i < SPIN_CHUNK; i++) {
			if (((__atomic_load_n(word, __ATOMIC_ACQUIRE) & mask) == value) == want) {
				spin_longer(s);
				return true;
			}
			cpu_relax();
		}
		if (!end)
			end = (int64_t)clock_now() + s->budget_ns;
		else if ((int64_t)clock_now() > end)
			break;
	}
	s->end = end;
	return false;
}

/* After a wait that timed out is over: choose how long the next one spins. */
static inline void spin_learn(struct spin *s)
{
	if ((int64_t)clock_now() - s->end < SPIN_MOST_NS)
		spin_longer(s);
	else if (s->budget_ns > SPIN_LEAST_NS)
		s->budget_ns /= 2;
}

#endif /* RUNTIME_CORE_SPIN_H */
