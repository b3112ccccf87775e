/* SPDX-License-Identifier: MIT */
/* Runs as a curve, operators as bars. */
#include "tools/bench/measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "tools/svg/svg.h"

/* operators with bars of their own */
#define BARS_MOST 30

int bench_svg_runs(const struct measurement *m, struct tenon_buffer *out)
{
	struct tenon_buffer title = TENON_BUFFER_INIT;
	const struct svg_series runs = { m->ns, (size_t)m->runs };
	struct svg_series_chart chart = { .along = "run",
					  .series = &runs,
					  .series_count = 1,
					  .mark_name = "median",
					  .label = timing_text };
	struct timing t;
	int err;

	err = measure_timing(m, &t);
	if (err)
		return err;
	chart.mark = t.median;
	tenon_buffer_printf(&title, "%" PRIu64 " run%s of %s", m->runs, m->runs == 1 ? "" : "s",
			    m->source.file);
	chart.title = (struct tenon_slice){ title.data, title.size };
	err = svg_series(out, &chart, true);
	tenon_buffer_fini(&title);
	return err;
}

/* ---- operators */

static uint64_t each(const struct profile_op *op)
{
	return op->calls ? op->ns / op->calls : 0;
}

/* The operator of a measurement that is the one of another; NULL if it did not run. */
static const struct profile_op *same_in(const struct profiled *p, size_t number,
					const struct profile_op *op)
{
	if (number >= p->count || !p->ops[number].calls ||
	    strcmp(p->ops[number].function, op->function) != 0)
		return NULL;
	return &p->ops[number];
}

struct place {
	size_t number;
	uint64_t ns;
};

static int longer_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

struct bar_text {
	struct tenon_buffer name;
	char labels[SVG_SERIES_MOST][TIMING_TEXT];
};

static void fill_bar(const struct profiled *list, int count, size_t number,
		     const struct profile_op *op, struct svg_bar *bar, struct bar_text *text)
{
	const struct profile_op *other;
	int s;

	tenon_buffer_printf(&text->name, "%zu ", number);
	tenon_buffer_slice(&text->name, model_short_name(tenon_slice_of(
						op->function[0] ? op->function : op->name)));
	bar->name = (struct tenon_slice){ text->name.data, text->name.size };
	for (s = 0; s < count; s++) {
		other = same_in(&list[s], number, op);
		bar->values[s] = other ? (double)each(other) : -1;
		bar->labels[s] = timing_text(other ? each(other) : 0, text->labels[s]);
	}
}

/* The bar of all operators that have none of their own. */
static void fill_rest(const struct profiled *list, int count, const struct place *order,
		      size_t from, size_t n, struct svg_bar *bar, struct bar_text *text)
{
	const struct profile_op *other;
	uint64_t sum;
	size_t i;
	int s;

	tenon_buffer_printf(&text->name, "%zu others together", n - from);
	bar->name = (struct tenon_slice){ text->name.data, text->name.size };
	for (s = 0; s < count; s++) {
		for (sum = 0, i = from; i < n; i++) {
			other = same_in(&list[s], order[i].number, &list[0].ops[order[i].number]);
			sum += other ? each(other) : 0;
		}
		bar->values[s] = (double)sum;
		bar->labels[s] = timing_text(sum, text->labels[s]);
	}
}

static int draw(const char *title, const struct profiled *list, int count, bool alone,
		const struct place *order, size_t n, struct tenon_buffer *out)
{
	const size_t shown = n < BARS_MOST ? n : BARS_MOST, bars = shown + (n > shown);
	struct bar_text *text = calloc(bars + 1, sizeof(*text));
	struct svg_bar *bar = calloc(bars + 1, sizeof(*bar));
	size_t i;
	int err = text && bar ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for %zu bars", bars);

	for (i = 0; !err && i < shown; i++)
		fill_bar(list, count, order[i].number, &list[0].ops[order[i].number], &bar[i],
			 &text[i]);
	if (!err && shown < n)
		fill_rest(list, count, order, shown, n, &bar[shown], &text[shown]);
	if (!err)
		err = svg_bars(out, tenon_slice_of(title), bar, bars, count, alone);
	for (i = 0; text && i < bars; i++)
		tenon_buffer_fini(&text[i].name);
	free(text);
	free(bar);
	return err;
}

int bench_svg_compared(const char *title, const struct profiled *list, int count, bool alone,
		       struct tenon_buffer *out)
{
	struct place *order = malloc((list[0].count + 1) * sizeof(*order));
	size_t i, n = 0;
	int err;

	if (!order)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu operators", list[0].count);
	for (i = 0; i < list[0].count; i++)
		if (list[0].ops[i].calls)
			order[n++] = (struct place){ i, list[0].ops[i].ns };
	if (n)
		qsort(order, n, sizeof(*order), longer_first);
	err = draw(title, list, count, alone, order, n, out);
	free(order);
	return err;
}

int bench_svg_operators(const struct measurement *m, struct tenon_buffer *out)
{
	const struct profiled profiled = { m->profile.ops, m->profile.count };
	struct tenon_buffer title = TENON_BUFFER_INIT;
	int err;

	tenon_buffer_printf(&title, "Operators of %s, time of one call", m->source.file);
	err = title.status ? title.status : bench_svg_compared(title.data, &profiled, 1, true, out);
	tenon_buffer_fini(&title);
	return err;
}
