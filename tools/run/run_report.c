/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "tools/tensor/print.h"
#include "tools/run/run.h"

void report_top(const struct run *run, const struct tenon_value *value, FILE *out)
{
	DLTensor *dl;

	if (!run->top)
		return;
	if (tenon_value_tensor(value, &dl))
		tenon_error_clear();
	else
		print_top(dl, run->top, out);
}

static void report_results(const struct run *run, FILE *out)
{
	if (run->model) {
		run_report_model(run, out);
		return;
	}
	for (size_t i = 0; i < run->argument_count; i++) {
		const struct argument *a = &run->arguments[i];

		if (a->spec.role != SPEC_OUTPUT)
			continue;
		print_tensor(&a->tensor->dl, out);
		if (a->spec.write)
			fprintf(out, "   written to %s", a->spec.write);
		fputc('\n', out);
		print_top(&a->tensor->dl, run->top, out);
	}
	if (run_result_count(run) > run->output_count) {
		fputs("returned ", out);
		print_value(&run->result, out);
		fputc('\n', out);
		report_top(run, &run->result, out);
	}
}

static void report_runs(const struct run *run, FILE *out)
{
	struct timing t = timing_summary(run->ns, run->repeat);
	char min[TIMING_TEXT], median[TIMING_TEXT], p90[TIMING_TEXT], max[TIMING_TEXT];

	fprintf(out, "%" PRIu64 " %s: min %s, median %s, p90 %s, max %s\n", run->repeat,
		run->model ? "runs" : "calls", timing_text(t.min, min),
		timing_text(t.median, median), timing_text(t.p90, p90), timing_text(t.max, max));
}

void run_report(const struct run *run, FILE *out)
{
	char time[TIMING_TEXT];

	report_results(run, out);
	for (size_t i = 0; i < run->expect_count; i++) {
		if (run->expect_count > 1)
			fprintf(out, "expected %zu: ", i + 1);
		else
			fputs("expected: ", out);
		compare_print(&run->comparisons[i], out);
		if (i + 1 == run->expect_count && run->repeat == 1)
			fprintf(out, "   %s", timing_text(run->ns[0], time));
		fputc('\n', out);
	}
	if (run->repeat > 1)
		report_runs(run, out);
}
