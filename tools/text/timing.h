/* SPDX-License-Identifier: MIT */
/* Statistics of run times. */
#ifndef TOOLS_TEXT_TIMING_H
#define TOOLS_TEXT_TIMING_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct timing - statistics of run times, in nanoseconds
 * @min: the fastest
 * @median: median; the lower of two
 * @p90: 90th percentile
 * @max: the slowest
 */
struct timing {
	uint64_t min, median, p90, max;
};

/**
 * timing_summary - compute the statistics
 * @ns: @count times, at least one; sorted in place
 * @count: how many
 */
struct timing timing_summary(uint64_t *ns, size_t count);

#define TIMING_TEXT 32

/** timing_text - format a time with three digits and its unit: "0.41 ms", "12.3 µs" */
const char *timing_text(uint64_t ns, char text[TIMING_TEXT]);

#endif /* TOOLS_TEXT_TIMING_H */
