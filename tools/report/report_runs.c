/* SPDX-License-Identifier: MIT */
/* Runs on several devices side by side: their times, their operators, and where outputs differ. */
#include <inttypes.h>
#include <tenon/backend/buffer.h>
#include <time.h>

#include "tools/bench/measure.h"
#include "tools/report/page.h"
#include "tools/report/report.h"
#include "tools/svg/svg.h"
#include "tools/tensor/compare.h"

/* outputs that are compared one by one */
#define OUTPUTS_MOST 50

/* a run that takes so many times the largest median would make the curves of all others flat */
#define LONGEST_SHOWN 4

static void note_date(struct report *r)
{
	const time_t now = time(NULL);
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
	page_note(&r->page,
		  "Measured %s. Inputs that were not given had random numbers, the same in "
		  "each run.",
		  date);
}

/* The colour of a series, and its letter, before its name. */
static void add_key(struct tenon_buffer *b, int series)
{
	tenon_buffer_printf(b,
			    "<span class=\"key\"><svg xmlns=\"http://www.w3.org/2000/svg\" "
			    "width=\"12\" height=\"12\"><rect width=\"12\" height=\"12\" "
			    "class=\"s%d fill\"/></svg>%c</span>",
			    series, 'A' + series);
}

static void compare_medians(const struct report *r, int i, char *text, size_t room)
{
	const double first = (double)r->runs[0].timing.median;

	if (!i || first <= 0)
		snprintf(text, room, "1");
	else
		snprintf(text, room, "%.2f", (double)r->runs[i].timing.median / first);
}

static void list_timings(struct report *r)
{
	char text[TIMING_TEXT];
	int i;

	page_table(&r->page, "|device|#runs|#opened in|#min|#median|#p90|#max|#median / A");
	for (i = 0; i < r->run_count; i++) {
		const struct report_run *run = &r->runs[i];

		page_row(&r->page);
		tenon_buffer_printf(&r->page, "<td>");
		add_key(&r->page, i);
		tenon_buffer_printf(&r->page, "</td>");
		page_cell(&r->page, tenon_slice_of(run->name));
		snprintf(text, sizeof(text), "%" PRIu64, run->m.runs);
		page_number(&r->page, text);
		page_number(&r->page, timing_text(run->m.open_ns, text));
		page_number(&r->page, timing_text(run->timing.min, text));
		page_number(&r->page, timing_text(run->timing.median, text));
		page_number(&r->page, timing_text(run->timing.p90, text));
		page_number(&r->page, timing_text(run->timing.max, text));
		compare_medians(r, i, text, sizeof(text));
		page_number(&r->page, text);
		page_row_end(&r->page);
	}
	page_table_end(&r->page);
}

static int draw_runs(struct report *r)
{
	struct svg_series series[SVG_SERIES_MOST];
	struct svg_series_chart chart = { .title = tenon_slice_of("Time of each run"),
					  .along = "run",
					  .series = series,
					  .label = timing_text };
	struct tenon_buffer picture = TENON_BUFFER_INIT;
	uint64_t most = 0;
	char text[TIMING_TEXT];
	int i, err;

	/* an earlier measurement comes last, and has no single runs */
	for (i = 0; i < r->run_count && r->runs[i].m.ns; i++) {
		series[chart.series_count++] =
			(struct svg_series){ r->runs[i].m.ns, (size_t)r->runs[i].m.runs };
		if (r->runs[i].timing.median * LONGEST_SHOWN > chart.limit)
			chart.limit = r->runs[i].timing.median * LONGEST_SHOWN;
		most = r->runs[i].timing.max > most ? r->runs[i].timing.max : most;
	}
	if (!chart.series_count)
		return 0;
	err = svg_series(&picture, &chart, false);
	page_picture(&r->page, (struct tenon_slice){ picture.data, picture.size });
	tenon_buffer_fini(&picture);
	if (most > chart.limit)
		page_note(&r->page, "Runs of more than %s are drawn at the upper edge.",
			  timing_text(chart.limit, text));
	return err;
}

static int draw_operators(struct report *r)
{
	struct tenon_buffer picture = TENON_BUFFER_INIT;
	struct profiled list[SVG_SERIES_MOST];
	size_t most = 0;
	int i, err;

	for (i = 0; i < r->run_count; i++) {
		list[i] = (struct profiled){ r->runs[i].m.profile.ops, r->runs[i].m.profile.count };
		most = list[i].count > most ? list[i].count : most;
	}
	if (!most)
		return 0;
	tenon_buffer_printf(&r->page, "<h3>Longest operators</h3>\n");
	err = bench_svg_compared("Longest operators, time of one call", list, r->run_count, false,
				 &picture);
	page_picture(&r->page, (struct tenon_slice){ picture.data, picture.size });
	tenon_buffer_fini(&picture);
	return err;
}

/* ---- outputs */

static void add_comparison(struct report *r, int run, size_t output)
{
	const struct tolerance tolerance = { .rtol = COMPARE_RTOL, .atol = COMPARE_ATOL };
	struct tenon_buffer *b = &r->page;
	struct comparison c;
	char text[64];

	compare_values(&r->runs[run].outputs[output], &r->runs[0].outputs[output], &tolerance, &c);
	snprintf(text, sizeof(text), "%zu", output);
	page_row(b);
	page_number(b, text);
	page_cell(b, tenon_slice_of(r->runs[run].name));
	if (*c.mismatch) {
		page_cell(b, tenon_slice_of(c.mismatch));
		page_number(b, "");
		page_number(b, "");
		page_row_end(b);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " differ", c.differing, c.elements);
	page_cell(b, tenon_slice_of(c.equal ? "equal" : text));
	snprintf(text, sizeof(text), "%.3g", c.absolute);
	page_number(b, text);
	snprintf(text, sizeof(text), "%.3g", c.relative);
	page_number(b, text);
	page_row_end(b);
}

static void compare_outputs(struct report *r)
{
	size_t k, n = r->runs[0].output_count;
	int i;

	for (i = 1; i < r->run_count && !r->runs[i].output_count; i++)
		;
	if (i == r->run_count || !n)
		return;
	tenon_buffer_printf(&r->page, "<h3>Outputs compared with A</h3>\n");
	page_note(&r->page, "Equal means: no element differs by more than %g, and %g of its value.",
		  COMPARE_ATOL, COMPARE_RTOL);
	page_table(&r->page, "#output|device|result|#largest difference|#relative");
	for (; i < r->run_count; i++)
		for (k = 0; k < r->runs[i].output_count && k < n && k < OUTPUTS_MOST; k++)
			add_comparison(r, i, k);
	page_table_end(&r->page);
	if (n > OUTPUTS_MOST)
		page_note(&r->page, "The first %d of %zu outputs were compared.", OUTPUTS_MOST, n);
}

int report_runs(struct report *r)
{
	int err;

	if (!r->run_count)
		return 0;
	page_section(&r->page, "runs", r->run_count > 1 ? "Runs compared" : "Runs");
	note_date(r);
	list_timings(r);
	err = draw_runs(r);
	if (!err)
		err = draw_operators(r);
	if (!err)
		compare_outputs(r);
	page_section_end(&r->page);
	return err;
}
