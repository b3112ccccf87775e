/* SPDX-License-Identifier: MIT */
/* The clock, and the figure that stands for many. */
#include "bench.h"

#include <stdlib.h>
#include <time.h>

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double bench_middle(double *figures, int count)
{
	qsort(figures, (size_t)count, sizeof(*figures), by_size);
	return figures[count / 2];
}
