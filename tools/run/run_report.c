/* SPDX-License-Identifier: MIT */
/* Print the report of a run as text: outputs, times, comparisons. */
#include <inttypes.h>

#include "lib/option.h"
#include "tools/run/run.h"
#include "tools/tensor/print.h"
#include "tools/text/text.h"

/* Print the largest elements of a tensor, for --top and --labels. */
static void report_top(const struct tenon_value *value, const struct run *run, FILE *out)
{
	DLTensor *dl;

	if (!run->options.top)
		return;
	if (tenon_value_tensor(value, &dl))
		tenon_error_clear();
	else
		print_top(dl, run->options.top,
			  (struct tenon_slice){ run->labels.data, run->labels.size }, out);
}

static uint64_t lines_in(const struct tenon_buffer *text)
{
	uint64_t lines = 0;
	size_t i;

	for (i = 0; i < text->size; i++)
		lines += text->data[i] == '\n' || i + 1 == text->size;
	return lines;
}

void run_check_labels(const struct run *run, FILE *err)
{
	const struct results *r = &run->results;
	uint64_t names = lines_in(&run->labels), row, first = 0;
	DLTensor *dl;
	size_t i;

	for (i = 0; run->options.labels && i < r->count; i++) {
		if (tenon_value_tensor(&r->at[i], &dl)) {
			tenon_error_clear();
			continue;
		}
		row = print_top_names(dl);
		if (row == names)
			return;
		first = first ? first : row;
	}
	if (first)
		printable_format(err,
				 "tenon: --labels %s: %" PRIu64 " names for %" PRIu64
				 " elements; the names may be those of other elements\n",
				 run->options.labels, names, first);
}

static void report_function(const struct run *run, FILE *out)
{
	const struct arguments *a = &run->arguments;
	struct tenon_value filled;

	for (size_t i = 0; i < a->count; i++) {
		const struct argument *output = &a->at[i];

		if (output->spec.role != SPEC_OUTPUT)
			continue;
		print_tensor(&output->tensor->dl, out);
		if (output->spec.write)
			fprintf(out, "   written to %s", output->spec.write);
		fputc('\n', out);
		filled = tenon_arg_object(output->tensor);
		report_top(&filled, run, out);
	}
	if (run->results.count > a->output_count) {
		const struct tenon_value *returned = &run->results.at[a->output_count];

		fputs("returned ", out);
		print_value(returned, out);
		fputc('\n', out);
		report_top(returned, run, out);
	}
}

static void report_model(const struct run *run, FILE *out)
{
	const struct results *r = &run->results;
	const struct arguments *a = &run->arguments;
	struct tenon_port port;
	size_t i, k, next;

	for (i = 0; i < r->count; i++) {
		if (!tenon_model_output(run->model, i, &port) && port.name.size) {
			printable_cell(port.name, 0, out);
			fputs(": ", out);
		}
		print_value(&r->at[i], out);
		for (k = 0, next = 0; k < a->count; k++) {
			const struct spec *spec = &a->at[k].spec;

			if (spec->role == SPEC_OUTPUT &&
			    model_find_output(run->model, spec, next++) == (int64_t)i &&
			    spec->write)
				fprintf(out, "   written to %s", spec->write);
		}
		fputc('\n', out);
		report_top(&r->at[i], run, out);
	}
	tenon_error_clear();
}

static void report_times(const struct times *times, const char *what, FILE *out)
{
	struct timing t = timing_summary(times->ns, times->count);
	char min[TIMING_TEXT], median[TIMING_TEXT], p90[TIMING_TEXT], max[TIMING_TEXT];

	fprintf(out, "%" PRIu64 " %s: min %s, median %s, p90 %s, max %s\n", times->count, what,
		timing_text(t.min, min), timing_text(t.median, median), timing_text(t.p90, p90),
		timing_text(t.max, max));
}

static void report_expectations(const struct expectations *e, const struct times *times, FILE *out)
{
	char time[TIMING_TEXT];

	for (size_t i = 0; i < e->count; i++) {
		if (e->count > 1)
			fprintf(out, "expected %zu: ", i + 1);
		else
			fputs("expected: ", out);
		compare_print(&e->comparisons[i], out);
		if (i + 1 == e->count && times->count == 1)
			fprintf(out, "   %s", timing_text(times->ns[0], time));
		fputc('\n', out);
	}
}

void run_report(const struct run *run, FILE *out)
{
	const bool model = run->model;

	if (OPTION_ON(EXECUTORS) && model)
		report_model(run, out);
	else
		report_function(run, out);
	report_expectations(&run->expectations, &run->times, out);
	if (run->times.count > 1)
		report_times(&run->times, model ? "runs" : "calls", out);
}
