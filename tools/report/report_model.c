/* SPDX-License-Identifier: MIT */
/* Inputs, outputs and parameters as tables, operators as a picture and as a table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "tools/inspect/inspect.h"
#include "tools/inspect/inspect_svg.h"
#include "tools/report/page.h"
#include "tools/report/report.h"
#include "tools/text/text.h"

/* rows of a table, and of one part of a long table */
#define PORTS_MOST     200
#define OPERATORS_MOST 10000
#define ROWS_OPEN      60
#define ROWS_TOGETHER  500

/* ---- the model */

static void add_port(struct tenon_buffer *b, const char *what, const struct tenon_port *port)
{
	char type[INSPECT_TYPE_ROOM];

	page_row(b);
	page_cell(b, tenon_slice_of(what));
	page_cell(b, port->name);
	page_cell(b, tenon_slice_of(inspect_type(port, type)));
	page_row_end(b);
}

static void list_ports(struct report *r)
{
	struct tenon_port port;
	size_t i, n = 0, all = 0;

	page_table(&r->page, "|name|type");
	/* of a model that ran all inputs are set */
	for (i = 0; i < tenon_model_input_count(r->model); i++)
		if ((!r->described || !tenon_model_input_is_set(r->model, i)) &&
		    !tenon_model_input(r->model, i, &port) && ++all <= PORTS_MOST)
			add_port(&r->page, "input", &port);
	for (i = 0; i < tenon_model_output_count(r->model); i++, n++)
		if (n < PORTS_MOST && !tenon_model_output(r->model, i, &port))
			add_port(&r->page, "output", &port);
	page_table_end(&r->page);
	if (all > PORTS_MOST || n > PORTS_MOST)
		page_note(&r->page, "%zu inputs and %zu outputs; of each the first %d are listed.",
			  all, n, PORTS_MOST);
}

struct param {
	size_t value;
	uint64_t bytes;
};

static int larger_first(const void *a, const void *b)
{
	const struct param *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->value > y->value) - (x->value < y->value);
}

static int list_params(struct report *r)
{
	const size_t values = tenon_model_value_count(r->model);
	struct param *list = malloc((values + 1) * sizeof(*list));
	char type[INSPECT_TYPE_ROOM], size[SIZE_TEXT];
	struct tenon_model_value v;
	size_t i, n = 0;

	if (!list)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu values", values);
	for (i = 0; i < values; i++)
		if (!tenon_model_value_at(r->model, i, &v) && v.role == TENON_ROLE_PARAM)
			list[n++] = (struct param){ i, v.bytes };
	if (n) {
		qsort(list, n, sizeof(*list), larger_first);
		page_fold(&r->page, "%zu parameter%s", n, n == 1 ? "" : "s");
		page_table(&r->page, "name|type|#size");
		for (i = 0; i < n && i < PORTS_MOST; i++) {
			if (tenon_model_value_at(r->model, list[i].value, &v))
				continue;
			page_row(&r->page);
			page_cell(&r->page, v.port.name);
			page_cell(&r->page, tenon_slice_of(inspect_type(&v.port, type)));
			page_number(&r->page, size_text(v.bytes, size));
			page_row_end(&r->page);
		}
		page_table_end(&r->page);
		if (n > PORTS_MOST)
			page_note(&r->page, "These are the %d largest.", PORTS_MOST);
		page_fold_end(&r->page);
	}
	free(list);
	return 0;
}

static int draw_graph(struct report *r)
{
	struct tenon_buffer picture = TENON_BUFFER_INIT;
	struct inspect_drawn d;
	int err;

	err = inspect_svg_model(r->model, r->file, false, &d, &picture);
	if (!err && picture.size) {
		page_section(&r->page, "graph", "Graph");
		if (d.together > 1)
			page_note(&r->page,
				  "%zu operators, %zu to a box: the numbers are those of the list "
				  "below.",
				  d.drawn, d.together);
		if (d.drawn < d.operators)
			page_note(&r->page,
				  "%zu operators that only check or allocate are not drawn.",
				  d.operators - d.drawn);
		if (d.edges_drawn < d.edges)
			page_note(&r->page, "%zu of %zu edges are drawn.", d.edges_drawn, d.edges);
		page_picture(&r->page, (struct tenon_slice){ picture.data, picture.size });
		page_section_end(&r->page);
	}
	tenon_buffer_fini(&picture);
	return err;
}

int report_model(struct report *r)
{
	char params[SIZE_TEXT], activations[SIZE_TEXT];
	struct tenon_model_memory memory;
	int err;

	if (!r->model && r->undescribed) {
		page_section(&r->page, "model", "Model");
		page_note(&r->page, "It cannot be described: %s", r->undescribed);
		page_section_end(&r->page);
	}
	if (!r->model)
		return 0;
	tenon_model_memory(r->model, &memory);
	page_section(&r->page, "model", "Model");
	page_note(&r->page, "Runs on the %s executor; parameters %s, activations %s.",
		  tenon_model_kind(r->model), size_text(memory.params, params),
		  size_text(memory.activations, activations));
	list_ports(r);
	err = list_params(r);
	page_section_end(&r->page);
	return err ? err : draw_graph(r);
}

/* ---- operators */

struct listing {
	struct report *r;
	size_t all, shown;
	bool fold;
};

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	*(size_t *)context = index + 1;
	return 0;
}

static void heads(const struct listing *l)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int i;

	tenon_buffer_printf(&text, "#|function|output|#bytes");
	for (i = 0; i < l->r->run_count; i++)
		tenon_buffer_printf(&text, "|#%c", 'A' + i);
	page_table(&l->r->page, text.data ? text.data : "");
	tenon_buffer_fini(&text);
}

static void add_times(const struct report *r, struct tenon_buffer *b, size_t index)
{
	char text[TIMING_TEXT];
	int i;

	for (i = 0; i < r->run_count; i++) {
		const struct profile *p = &r->runs[i].m.profile;

		page_number(b, index < p->count && p->ops[index].calls
				       ? timing_text(p->ops[index].ns / p->ops[index].calls, text)
				       : "");
	}
}

static int list_op(void *context, size_t index, const struct tenon_op *op)
{
	struct listing *l = context;
	struct tenon_buffer *b = &l->r->page;
	char type[INSPECT_TYPE_ROOM], size[SIZE_TEXT], number[24];
	struct tenon_model_value v;
	const bool has = op->output_count && !tenon_model_value_at(l->r->model, op->outputs[0], &v);

	if (index >= OPERATORS_MOST)
		return 1;
	if (l->fold && index % ROWS_TOGETHER == 0) {
		if (index) {
			page_table_end(b);
			page_fold_end(b);
		}
		page_fold(b, "operators %zu to %zu", index,
			  index + ROWS_TOGETHER < l->all ? index + ROWS_TOGETHER - 1 : l->all - 1);
		heads(l);
	}
	snprintf(number, sizeof(number), "%zu", index);
	page_row(b);
	page_number(b, number);
	page_cell(b, op->function.size ? op->function : op->name);
	page_cell(b, tenon_slice_of(has ? inspect_type(&v.port, type) : ""));
	page_number(b, has ? size_text(v.bytes, size) : "");
	add_times(l->r, b, index);
	page_row_end(b);
	l->shown++;
	return 0;
}

int report_operators(struct report *r)
{
	struct listing l = { .r = r };

	if (!r->model || tenon_model_each_op(r->model, count_op, &l.all) || !l.all) {
		tenon_error_clear();
		return 0;
	}
	l.fold = l.all > ROWS_OPEN;
	page_section(&r->page, "operators", "Operators");
	if (!l.fold)
		heads(&l);
	tenon_model_each_op(r->model, list_op, &l);
	page_table_end(&r->page);
	if (l.fold)
		page_fold_end(&r->page);
	if (l.shown < l.all)
		page_note(&r->page, "and %zu more", l.all - l.shown);
	page_section_end(&r->page);
	return r->page.status;
}
