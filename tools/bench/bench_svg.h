/* SPDX-License-Identifier: MIT */
/* Pictures of tenon bench and tenon report. */
#ifndef TOOLS_BENCH_BENCH_SVG_H
#define TOOLS_BENCH_BENCH_SVG_H

#include "tools/bench/measure.h"

/** bench_svg_runs - append a picture, a file of its own, of the time of each run; 0; -TENON_E_NOMEM */
int bench_svg_runs(const struct measurement *m, struct tenon_buffer *out);

/** bench_svg_operators - append a picture, as bench_svg_runs(), of the longest operators */
int bench_svg_operators(const struct measurement *m, struct tenon_buffer *out);

/**
 * struct profiled - the times of the operators of one measurement, to be compared
 * @ops: operators by number
 * @count: how many
 */
struct profiled {
	const struct profile_op *ops;
	size_t count;
};

/**
 * bench_svg_compared - append a picture of the longest operators of one or several measurements
 * @title: what it is of
 * @list: @count measurements, of one model
 * @count: how many, 1 to SVG_SERIES_MOST
 * @alone: as for svg_begin()
 * @out: receives it
 *
 * Operators are those of one number and name. The order is that of the first measurement.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int bench_svg_compared(const char *title, const struct profiled *list, int count, bool alone,
		       struct tenon_buffer *out);

#endif /* TOOLS_BENCH_BENCH_SVG_H */
