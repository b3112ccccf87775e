/* SPDX-License-Identifier: MIT */
/* The clock, and the figure that stands for many. */
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>

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

const char *bench_spread(const double *figures, int count, double unit)
{
	static char text[64];

	snprintf(text, sizeof(text), " (%.3g to %.3g)", figures[count / 10] / unit,
		 figures[count - 1 - count / 10] / unit);
	return text;
}

static const char *verdict(bool met, const char *relation, double goal)
{
	static char text[64];

	snprintf(text, sizeof(text), "goal %s %.4g: %s", relation, goal, met ? "met" : "MISSED");
	return text;
}

const char *bench_at_most(double value, double goal)
{
	return verdict(value <= goal, "≤", goal);
}

const char *bench_at_least(double value, double goal)
{
	return verdict(value >= goal, "≥", goal);
}
