/* SPDX-License-Identifier: MIT */
/* How far a number is from an expected one, and whether that is within a tolerance. */
#ifndef LIB_DIFFERENCE_H
#define LIB_DIFFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** difference_real - NaN is as far from NaN as a number from itself; else NaN and infinity are infinitely far from numbers */
static inline double difference_real(double got, double want)
{
	if ((isnan(got) && isnan(want)) || got == want)
		return 0;
	return isfinite(got) && isfinite(want) ? fabs(got - want) : INFINITY;
}

/** difference_integer - the exact distance of two integers of 64 bits, given by their bits */
static inline uint64_t difference_integer(uint64_t got, uint64_t want, bool is_signed)
{
	const bool less = is_signed ? (int64_t)got < (int64_t)want : got < want;

	return less ? want - got : got - want;
}

/** difference_within - test whether a distance is within atol + rtol * scale, as in numpy's allclose() */
static inline bool difference_within(double far, double scale, double rtol, double atol)
{
	return far == 0 || (isfinite(far) && far <= atol + rtol * scale);
}

#endif /* LIB_DIFFERENCE_H */
