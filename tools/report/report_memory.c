/* SPDX-License-Identifier: MIT */
/* Bytes of values in use at each operator: from the one that writes a value to the last that reads it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/page.h"
#include "tools/report/report.h"
#include "tools/svg/svg.h"
#include "tools/text/text.h"

#define NEVER SIZE_MAX

struct life {
	struct tenon_model *model;
	size_t values, ops;
	size_t *first;	/* of each value the operator that writes it first; NEVER for none */
	size_t *last;	/* and the last that reads or writes it */
	uint64_t *used; /* bytes in use at each operator */
};

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	struct life *l = context;

	l->ops = index + 1;
	return 0;
}

static void use(struct life *l, const uint32_t *list, size_t count, size_t index)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (list[i] >= l->values)
			continue;
		if (l->first[list[i]] == NEVER)
			l->first[list[i]] = index;
		l->last[list[i]] = index;
	}
}

static int follow(void *context, size_t index, const struct tenon_op *op)
{
	struct life *l = context;

	use(l, op->inputs, op->input_count, index);
	use(l, op->outputs, op->output_count, index);
	return 0;
}

/* Values that are an input from the start, and that no operator reads to the end. */
static void add_lives(struct life *l)
{
	struct tenon_model_value v;
	size_t i, from;
	uint64_t sum = 0;

	for (i = 0; i < l->values; i++) {
		if (l->first[i] == NEVER || tenon_model_value_at(l->model, i, &v) ||
		    v.role == TENON_ROLE_PARAM)
			continue;
		from = v.role == TENON_ROLE_INPUT ? 0 : l->first[i];
		/* differences, which wrap around; their sums do not */
		l->used[from] += v.bytes;
		l->used[l->last[i] + 1] -= v.bytes;
	}
	for (i = 0; i < l->ops; i++) {
		sum += l->used[i];
		l->used[i] = sum;
	}
}

static int draw(struct report *r, const struct life *l)
{
	struct tenon_model_memory memory;
	const struct svg_series series = { l->used, l->ops };
	struct svg_series_chart chart = { .title = tenon_slice_of("Bytes in use at each operator"),
					  .along = "operator",
					  .series = &series,
					  .series_count = 1,
					  .steps = true,
					  .binary = true,
					  .mark_name = "planned",
					  .label = size_text };
	struct tenon_buffer picture = TENON_BUFFER_INIT;
	char peak[SIZE_TEXT], planned[SIZE_TEXT];
	size_t i, at = 0;
	int err;

	for (i = 0; i < l->ops; i++)
		if (l->used[i] > l->used[at])
			at = i;
	if (!l->used[at])
		return 0;
	tenon_model_memory(r->model, &memory);
	chart.mark = memory.activations;
	page_section(&r->page, "memory", "Memory over time");
	page_note(&r->page,
		  "Most is in use at operator %zu: %s of inputs, outputs and values between. The "
		  "plan of the "
		  "model has %s in %zu storage%s for them.",
		  at, size_text(l->used[at], peak), size_text(memory.activations, planned),
		  memory.storages, memory.storages == 1 ? "" : "s");
	err = svg_series(&picture, &chart, false);
	page_picture(&r->page, (struct tenon_slice){ picture.data, picture.size });
	tenon_buffer_fini(&picture);
	page_section_end(&r->page);
	return err;
}

int report_memory(struct report *r)
{
	struct life l = { .model = r->model };
	size_t i;
	int err = 0;

	if (!r->model || tenon_model_each_op(r->model, count_op, &l) || !l.ops) {
		tenon_error_clear();
		return 0;
	}
	l.values = tenon_model_value_count(r->model);
	l.first = malloc((l.values + 1) * sizeof(*l.first));
	l.last = calloc(l.values + 1, sizeof(*l.last));
	l.used = calloc(l.ops + 2, sizeof(*l.used));
	if (!l.first || !l.last || !l.used) {
		err = tenon_error(-TENON_E_NOMEM, "no memory for the lives of %zu values",
				  l.values);
		goto free_lists;
	}
	for (i = 0; i < l.values; i++)
		l.first[i] = NEVER;
	tenon_model_each_op(r->model, follow, &l);
	add_lives(&l);
	err = draw(r, &l);
free_lists:
	free(l.first);
	free(l.last);
	free(l.used);
	return err;
}
