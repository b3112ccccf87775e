/* SPDX-License-Identifier: MIT */
/* Report graphs, tensors and operators of a .tflite file. */
#include "runtime/tflite/tflite_describe.h"

#include <inttypes.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

/**
 * struct description - a file that is described
 * @file: the file
 * @report: receives it
 * @program: reports the program of an operator
 * @context: handed to @program
 * @line: the line that is put together
 */
struct description {
	struct model_file *file;
	struct tenon_report *report;
	model_operator_fn program;
	void *context;
	struct tenon_buffer line;
};

/* ---- lines */

/* A line ends at a NUL, which is printed as other characters are that act on a terminal. */
static void put_name(struct description *d, struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < name.size; i++)
		tenon_buffer_u8(&d->line, name.data[i] ? (uint8_t)name.data[i] : '?');
}

static void put_list(struct description *d, const struct flatbuffer_vector *list)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		if (tflite_index(list, i) == TFLITE_NO_TENSOR)
			tenon_buffer_printf(&d->line, " -");
		else
			tenon_buffer_printf(&d->line, " %" PRId32, tflite_index(list, i));
}

static void end_line(struct description *d)
{
	if (!d->line.status)
		d->report->line(d->report, d->line.data);
	d->line.size = 0;
}

static void put_tensor(struct description *d, uint32_t index, const struct tflite_tensor *t)
{
	struct tenon_buffer *line = &d->line;
	unsigned int i;

	tenon_buffer_printf(line, "  tensor %-10" PRIu32 " ", index);
	put_name(d, t->name);
	tenon_buffer_printf(line, "%s", t->name.size ? "  " : "");
	for (i = 0; i < t->ndim; i++)
		tenon_buffer_printf(line, "%" PRIu32 "x", t->shape[i]);
	tenon_buffer_printf(line, "%s", tflite_type_name(t->type));
	if (t->scales.count == 1)
		tenon_buffer_printf(line, ", scale %.9g, zero point %" PRId64,
				    (double)tflite_scale(t, 0), tflite_zero_point(t, 0));
	else if (t->scales.count)
		tenon_buffer_printf(line, ", %" PRIu32 " scales of dimension %" PRIu32,
				    t->scales.count, t->axis);
	if (t->data.size)
		tenon_buffer_printf(line, ", %zu bytes at 0x%" PRIx64, t->data.size, t->data_at);
	if (t->place >= 0)
		tenon_buffer_printf(line, ", at %" PRId64 " of the arena", t->place);
	tenon_buffer_printf(line, "%s", t->variable ? ", variable" : "");
	end_line(d);
}

static void put_operator(struct description *d, const struct model_operator *o,
			 const struct tflite_operator *op)
{
	tenon_buffer_printf(&d->line, "  operator %-8" PRIu32 " ", o->index);
	put_name(d, o->name);
	if (!tflite_builtin_name(op->builtin))
		tenon_buffer_printf(&d->line, " (%" PRIu32 ")", op->builtin);
	tenon_buffer_printf(&d->line, ", tensors");
	put_list(d, &op->inputs);
	tenon_buffer_printf(&d->line, " ->");
	put_list(d, &op->outputs);
	end_line(d);
}

static void put_graph(struct description *d)
{
	const struct tflite_model *m = &d->file->model;

	if (m->graph) {
		tenon_buffer_printf(&d->line, "  graph %" PRIu32, m->graph);
		end_line(d);
	}
	tenon_buffer_printf(&d->line, "  inputs           ");
	put_list(d, &m->inputs);
	end_line(d);
	tenon_buffer_printf(&d->line, "  outputs          ");
	put_list(d, &m->outputs);
	end_line(d);
}

static void put_model(struct description *d)
{
	const struct tenon_slice text = d->file->model.description;

	tenon_buffer_printf(&d->line, "model of TensorFlow Lite%s", text.size ? " \"" : "");
	put_name(d, text);
	tenon_buffer_printf(&d->line, "%s", text.size ? "\"" : "");
	end_line(d);
}

/* ---- members */

static void add_list(struct tenon_report *report, const char *name,
		     const struct flatbuffer_vector *list)
{
	uint32_t i;

	tenon_report_list(report, name);
	for (i = 0; i < list->count; i++)
		tenon_report_number(report, NULL, tflite_index(list, i));
	tenon_report_close(report);
}

static void add_quantisation(struct tenon_report *report, const struct tflite_tensor *t)
{
	uint32_t i;

	if (!t->scales.count)
		return;
	tenon_report_list(report, "scales");
	for (i = 0; i < t->scales.count; i++)
		tenon_report_real(report, NULL, (double)tflite_scale(t, i));
	tenon_report_close(report);
	tenon_report_list(report, "zero_points");
	for (i = 0; i < t->scales.count; i++)
		tenon_report_number(report, NULL, tflite_zero_point(t, i));
	tenon_report_close(report);
	if (t->scales.count > 1)
		tenon_report_number(report, "axis", t->axis);
}

static void add_tensor(struct tenon_report *report, const struct tflite_tensor *t)
{
	unsigned int i;

	tenon_report_object(report, NULL);
	tenon_report_text(report, "name", t->name);
	tenon_report_text(report, "dtype", tenon_slice_of(tflite_type_name(t->type)));
	tenon_report_list(report, "shape");
	for (i = 0; i < t->ndim; i++)
		tenon_report_number(report, NULL, t->shape[i]);
	tenon_report_close(report);
	add_quantisation(report, t);
	if (t->data.size) {
		tenon_report_number(report, "offset", (int64_t)t->data_at);
		tenon_report_number(report, "bytes", (int64_t)t->data.size);
	}
	if (t->place >= 0)
		tenon_report_number(report, "arena_offset", t->place);
	if (t->variable)
		tenon_report_truth(report, "variable", true);
	tenon_report_close(report);
}

static void add_operator(struct tenon_report *report, const struct tflite_operator *op)
{
	tenon_report_text(report, "name", tflite_operator_name(op));
	tenon_report_number(report, "builtin", op->builtin);
	tenon_report_number(report, "version", op->version);
	add_list(report, "inputs", &op->inputs);
	add_list(report, "outputs", &op->outputs);
}

/* ---- both */

static int describe_operator(struct description *d, uint32_t index)
{
	struct tflite_operator op;
	struct model_operator o;
	int err = tflite_file_operator(d->file, index, &op, &o);

	if (err)
		return err;
	tenon_report_object(d->report, NULL);
	add_operator(d->report, &op);
	if (d->report->line)
		put_operator(d, &o, &op);
	if (o.kind.size)
		err = d->program(d->context, &o);
	tenon_report_close(d->report);
	return err;
}

static int describe_operators(struct description *d)
{
	const uint32_t count = d->file->model.operators.count;
	uint32_t i;
	int err = 0;

	tenon_report_list(d->report, "operators");
	for (i = 0; i < count && !err; i++)
		err = describe_operator(d, i);
	tenon_report_close(d->report);
	return err;
}

static int describe_tensors(struct description *d)
{
	const struct tflite_model *m = &d->file->model;
	struct tflite_tensor t;
	uint32_t i;
	int err = 0;

	tenon_report_list(d->report, "tensors");
	for (i = 0; i < m->tensors.count; i++) {
		err = tflite_tensor(m, i, &t);
		if (err)
			break;
		add_tensor(d->report, &t);
		if (d->report->line)
			put_tensor(d, i, &t);
	}
	tenon_report_close(d->report);
	return err;
}

static int describe_graph(struct description *d, uint32_t graph)
{
	const struct tflite_model *m = &d->file->model;
	int err = tflite_file_graph(d->file, graph);

	if (err)
		return err;
	if (d->report->line)
		put_graph(d);
	add_list(d->report, "inputs", &m->inputs);
	add_list(d->report, "outputs", &m->outputs);
	err = describe_operators(d);
	return err ? err : describe_tensors(d);
}

/* The first graph is the model; those that its operators call are in a list. */
int tflite_describe(struct model_file *m, struct tenon_report *report, model_operator_fn program,
		    void *context)
{
	struct description d = { m, report, program, context, TENON_BUFFER_INIT };
	const uint32_t count = m->model.graphs.count;
	uint32_t graph;
	int err;

	if (report->line)
		put_model(&d);
	tenon_report_text(report, "description", m->model.description);
	err = describe_graph(&d, 0);
	if (count > 1)
		tenon_report_list(report, "called_graphs");
	for (graph = 1; graph < count && !err; graph++) {
		tenon_report_object(report, NULL);
		err = describe_graph(&d, graph);
		tenon_report_close(report);
	}
	if (count > 1)
		tenon_report_close(report);
	err = err ? err : d.line.status;
	tenon_buffer_fini(&d.line);
	return err;
}
