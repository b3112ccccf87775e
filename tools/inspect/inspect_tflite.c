/* SPDX-License-Identifier: MIT */
/* Print graphs, tensors and operators of a .tflite file. */
#include "tools/inspect/inspect_tflite.h"

#include <inttypes.h>

#include "tools/program/program_report.h"
#include "tools/text/printable.h"

/* Describe the program of an operator; what cannot be read is a fault to print. Return: the fault; NULL for none. */
static const char *describe_operator(struct program_file *f,
				     const struct tenon_payload_format *format, uint32_t index,
				     bool commands, struct program_report *report)
{
	struct tenon_payload_request request = { .commands = commands };

	tenon_error_clear();
	if (program_file_choose(f, index, &request) || format->describe(&request, &report->base))
		return tenon_error_message();
	return NULL;
}

/* ---- text */

static void print_tensor(const struct tflite_model *m, uint32_t index, FILE *out)
{
	struct tflite_tensor t;
	unsigned int i;

	if (tflite_tensor(m, index, &t))
		return;
	fprintf(out, "  tensor %-10" PRIu32 " ", index);
	printable_cell(t.name, 0, out);
	fputs(t.name.size ? "  " : "", out);
	for (i = 0; i < t.ndim; i++)
		fprintf(out, "%" PRIu32 "x", t.shape[i]);
	fputs(tflite_type_name(t.type), out);
	if (t.scales.count == 1)
		fprintf(out, ", scale %.9g, zero point %" PRId64, (double)tflite_scale(&t, 0),
			tflite_zero_point(&t, 0));
	else if (t.scales.count)
		fprintf(out, ", %" PRIu32 " scales of dimension %" PRIu32, t.scales.count, t.axis);
	if (t.data.size)
		fprintf(out, ", %zu bytes at 0x%" PRIx64, t.data.size, t.data_at);
	if (t.place >= 0)
		fprintf(out, ", at %" PRId64 " of the arena", t.place);
	fputs(t.variable ? ", variable\n" : "\n", out);
}

static void print_list(const struct flatbuffer_vector *list, FILE *out)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		if (tflite_index(list, i) == TFLITE_NO_TENSOR)
			fputs(" -", out);
		else
			fprintf(out, " %" PRId32, tflite_index(list, i));
}

static void print_program(struct program_file *f, const struct tenon_payload_format *format,
			  uint32_t index, bool commands, FILE *out)
{
	struct program_report report = program_report_text(out);
	const char *fault;

	report.before = "                    ";
	fault = describe_operator(f, format, index, commands, &report);
	if (fault) {
		fputs("  refused           ", out);
		printable_cell(tenon_slice_of(fault), 0, out);
		fputc('\n', out);
	}
}

static void print_operator(struct program_file *f, uint32_t index, bool commands, FILE *out)
{
	const struct tenon_payload_format *format;
	struct tflite_operator op;

	if (tflite_operator(&f->model, index, &op))
		return;
	fprintf(out, "  operator %-8" PRIu32 " ", index);
	printable_cell(tflite_operator_name(&op), 0, out);
	if (!tflite_builtin_name(op.builtin))
		fprintf(out, " (%" PRIu32 ")", op.builtin);
	fputs(", tensors", out);
	print_list(&op.inputs, out);
	fputs(" ->", out);
	print_list(&op.outputs, out);
	fputc('\n', out);
	format = program_format(&op);
	if (format)
		print_program(f, format, index, commands, out);
}

static void print_graph(struct program_file *f, bool commands, FILE *out)
{
	const struct tflite_model *m = &f->model;
	uint32_t i;

	if (m->graph)
		fprintf(out, "  graph %" PRIu32 "\n", m->graph);
	fputs("  inputs           ", out);
	print_list(&m->inputs, out);
	fputs("\n  outputs          ", out);
	print_list(&m->outputs, out);
	fputc('\n', out);
	for (i = 0; i < m->operators.count; i++)
		print_operator(f, i, commands, out);
	for (i = 0; i < m->tensors.count; i++)
		print_tensor(m, i, out);
}

void inspect_tflite_text(struct program_file *f, bool commands, FILE *out)
{
	uint32_t graph;

	for (graph = 0; graph < f->model.graphs.count && !program_file_graph(f, graph); graph++)
		print_graph(f, commands, out);
}

/* ---- JSON */

static cJSON *json_of_list(const struct flatbuffer_vector *list)
{
	cJSON *numbers = cJSON_CreateArray();
	uint32_t i;

	for (i = 0; i < list->count; i++)
		json_append(numbers, json_of_int(tflite_index(list, i)));
	return numbers;
}

static void set_quantisation(cJSON *item, const struct tflite_tensor *t)
{
	cJSON *scales, *zero_points;
	uint32_t i;

	if (!t->scales.count)
		return;
	scales = cJSON_CreateArray();
	zero_points = cJSON_CreateArray();
	for (i = 0; i < t->scales.count; i++) {
		json_append(scales, json_of_real((double)tflite_scale(t, i)));
		json_append(zero_points, json_of_int(tflite_zero_point(t, i)));
	}
	json_set(item, "scales", scales);
	json_set(item, "zero_points", zero_points);
	if (t->scales.count > 1)
		json_set(item, "axis", json_of_int(t->axis));
}

static cJSON *json_of_tflite_tensor(const struct tflite_tensor *t)
{
	cJSON *item = cJSON_CreateObject(), *shape = cJSON_CreateArray();
	unsigned int i;

	for (i = 0; i < t->ndim; i++)
		json_append(shape, json_of_int(t->shape[i]));
	json_set(item, "name", json_of_text(t->name));
	json_set(item, "dtype", json_of_text(tenon_slice_of(tflite_type_name(t->type))));
	json_set(item, "shape", shape);
	set_quantisation(item, t);
	if (t->data.size) {
		json_set(item, "offset", json_of_int((int64_t)t->data_at));
		json_set(item, "bytes", json_of_int((int64_t)t->data.size));
	}
	if (t->place >= 0)
		json_set(item, "arena_offset", json_of_int(t->place));
	if (t->variable)
		json_set(item, "variable", cJSON_CreateBool(true));
	return item;
}

static cJSON *json_of_program(struct program_file *f, const struct tenon_payload_format *format,
			      uint32_t index, bool commands)
{
	cJSON *item = cJSON_CreateObject();
	struct program_report report = program_report_json(item);
	const char *fault = describe_operator(f, format, index, commands, &report);

	if (fault)
		json_set(item, "fault", json_of_text(tenon_slice_of(fault)));
	return item;
}

static cJSON *json_of_operator(struct program_file *f, uint32_t index,
			       const struct tflite_operator *op, bool commands)
{
	const struct tenon_payload_format *format = program_format(op);
	cJSON *item = cJSON_CreateObject();

	json_set(item, "name", json_of_text(tflite_operator_name(op)));
	json_set(item, "builtin", json_of_int(op->builtin));
	json_set(item, "version", json_of_int(op->version));
	json_set(item, "inputs", json_of_list(&op->inputs));
	json_set(item, "outputs", json_of_list(&op->outputs));
	if (format)
		json_set(item, "payload", json_of_program(f, format, index, commands));
	return item;
}

static void set_graph(cJSON *root, struct program_file *f, bool commands)
{
	cJSON *tensors = cJSON_CreateArray(), *operators = cJSON_CreateArray();
	const struct tflite_model *m = &f->model;
	struct tflite_operator op;
	struct tflite_tensor t;
	uint32_t i;

	json_set(root, "inputs", json_of_list(&m->inputs));
	json_set(root, "outputs", json_of_list(&m->outputs));
	for (i = 0; i < m->operators.count && !tflite_operator(m, i, &op); i++)
		json_append(operators, json_of_operator(f, i, &op, commands));
	for (i = 0; i < m->tensors.count && !tflite_tensor(m, i, &t); i++)
		json_append(tensors, json_of_tflite_tensor(&t));
	json_set(root, "operators", operators);
	json_set(root, "tensors", tensors);
}

/* The first graph is the model; those that its operators call are in a list. */
void inspect_tflite_json(cJSON *root, struct program_file *f, bool commands)
{
	const uint32_t count = f->model.graphs.count;
	cJSON *graphs = NULL, *item;
	uint32_t graph;

	json_set(root, "description", json_of_text(f->model.description));
	set_graph(root, f, commands);
	if (count > 1)
		graphs = cJSON_AddArrayToObject(root, "called_graphs");
	for (graph = 1; graphs && graph < count && !program_file_graph(f, graph); graph++) {
		item = cJSON_CreateObject();
		set_graph(item, f, commands);
		json_append(graphs, item);
	}
}
