/* SPDX-License-Identifier: MIT */
/* Sort times and take the minimum, median and 90th percentile. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/text/text.h"

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct timing timing_summary(uint64_t *ns, size_t count)
{
	struct timing t;

	qsort(ns, count, sizeof(*ns), by_size);
	t.min = ns[0];
	t.median = ns[(count - 1) / 2];
	t.p90 = ns[count - count / 10 - 1];
	t.max = ns[count - 1];
	return t;
}

const char *timing_text(uint64_t ns, char text[TIMING_TEXT])
{
	static const char *const units[] = { "ns", "µs", "ms", "s" };
	double value = (double)ns;
	int unit = 0;

	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(text, TIMING_TEXT, "%.*f %s",
		 !unit || value >= 99.95 ? 0
		 : value >= 9.995	 ? 1
					 : 2,
		 value, units[unit]);
	return text;
}
