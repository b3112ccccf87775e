/* SPDX-License-Identifier: MIT */
/* Random numbers that depend on a seed alone, so that every machine repeats a failure. */
#ifndef TESTS_FUZZ_RANDOM_H
#define TESTS_FUZZ_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

/* splitmix64: every seed is good, and seeds next to each other give unrelated numbers */
static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A number below @bound; 0 when @bound is. */
static inline uint64_t random_below(struct random *r, uint64_t bound)
{
	return bound ? random_next(r) % bound : 0;
}

static inline bool random_one_in(struct random *r, uint64_t n)
{
	return !random_below(r, n);
}

#endif /* TESTS_FUZZ_RANDOM_H */
