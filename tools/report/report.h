/* SPDX-License-Identifier: MIT */
/* tenon report: a page of a model. */
#ifndef TOOLS_REPORT_REPORT_H
#define TOOLS_REPORT_REPORT_H

#include <tenon/link.h>

#include "tools/bench/measure.h"
#include "tools/cli/verbs.h"
#include "tools/svg/svg.h"

/**
 * struct report_run - a measurement on a page
 * @name: of the device, or of the file with an earlier measurement; untrusted
 * @m: the measurement; @ns and @model of it are NULL for an earlier one
 * @timing: its statistics
 * @outputs: @output_count outputs of the last run, in memory of the host
 * @output_count: how many
 */
struct report_run {
	const char *name;
	struct measurement m;
	struct timing timing;
	struct tenon_value *outputs;
	size_t output_count;
};

/**
 * struct report - what a page is made of
 * @file: name that the user gave
 * @n: what is in the file
 * @described: the model in it, described without running it; NULL for none
 * @model: that, or the one that ran; NULL for none
 * @undescribed: why the model in the file cannot be described; NULL if it can, or there is none
 * @runs: @run_count measurements
 * @run_count: how many
 * @page: the page
 */
struct report {
	const char *file;
	const struct tenon_link_inspection *n;
	struct tenon_model *described, *model;
	char *undescribed;
	struct report_run runs[SVG_SERIES_MOST];
	int run_count;
	struct tenon_buffer page;
};

/* Each appends a section to the page; 0, or -TENON_E_NOMEM. */

/** report_modules - the import tree and its functions */
int report_modules(struct report *r);

/** report_model - inputs, outputs, parameters, and the graph of operators */
int report_model(struct report *r);

/** report_memory - bytes of values in use at each operator */
int report_memory(struct report *r);

/** report_runs - times of runs and operators, side by side, and differences of outputs */
int report_runs(struct report *r);

/** report_operators - the list of operators, with the times of each run */
int report_operators(struct report *r);

/**
 * baseline_read - read what an earlier "tenon bench --json" printed
 * @path: the file
 * @run: receives name, timing and profile
 *
 * Return: 0; -TENON_E_FORMAT for a file that is something else; -TENON_E_IO; -TENON_E_NOMEM.
 */
int baseline_read(const char *path, struct report_run *run);

#endif /* TOOLS_REPORT_REPORT_H */
