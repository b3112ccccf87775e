/* SPDX-License-Identifier: MIT */
/* Open a model on devices and measure its runs, for tenon bench and tenon report. */
#ifndef TOOLS_BENCH_MEASURE_H
#define TOOLS_BENCH_MEASURE_H

#include "tools/device_option/kernels.h"
#include "tools/opened_model/model.h"
#include "tools/text/text.h"

/**
 * struct measurement - a model that is measured
 * @source: the files; @devices of it is set by measure_open()
 * @arguments: @argument_count inputs; others get random numbers, the same each time
 * @argument_count: how many
 * @devices: names of the devices, not yet open
 * @remote: address of the server that has them; NULL for none
 * @runs: how often to run
 * @warmup: runs before, which do not count
 * @per_op: measure each operator, in as many further runs
 * @module: receives the loaded file
 * @inspected: receives its description, with @remote
 * @kernels: those that were built for it
 * @model: receives the model
 * @ns: receives the time of each run, in order
 * @open_ns: receives the time to open it
 * @profile: receives the times of operators
 */
struct measurement {
	struct model_source source;
	struct argument *arguments;
	size_t argument_count;
	struct target_list devices;
	const char *remote;
	uint64_t runs, warmup;
	bool per_op;
	struct tenon_module *module, *inspected;
	struct kernels kernels;
	struct tenon_model *model;
	uint64_t *ns;
	uint64_t open_ns;
	struct profile profile;
};

/** measure - open the model and run it; 0 or an exit code, its message printed */
int measure(struct cli *cli, struct measurement *m);

/** measure_timing - statistics of the runs; @ns of @m keeps its order. 0; -TENON_E_NOMEM */
int measure_timing(const struct measurement *m, struct timing *out);

/** measure_input - cli_option.take of --input, for a struct measurement that has room for it */
int measure_input(struct cli *cli, void *measurement);

/** measure_fini - close the model, and free all but the arguments, which measurements may share */
void measure_fini(struct measurement *m);

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

#endif /* TOOLS_BENCH_MEASURE_H */
