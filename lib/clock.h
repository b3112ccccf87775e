/* SPDX-License-Identifier: MIT */
/* The monotonic clock in nanoseconds. */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

/** clock_now - nanoseconds of CLOCK_MONOTONIC */
static inline uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/** clock_ms - milliseconds of CLOCK_MONOTONIC */
static inline uint64_t clock_ms(void)
{
	return clock_now() / 1000000;
}

#endif /* LIB_CLOCK_H */
