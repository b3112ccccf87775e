/* SPDX-License-Identifier: MIT */
/* Ports, operators and parameters of a model as text, graph and JSON. */
#include <inttypes.h>

#include "tools/inspect/inspect.h"
#include "tools/text/text.h"

#define NAME_MOST 96

static void put_name(struct tenon_slice name, FILE *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	printable_append(&text, name, NAME_MOST);
	fputs(text.data ? text.data : "", out);
	tenon_buffer_fini(&text);
}

const char *inspect_type(const struct tenon_port *port, char text[INSPECT_TYPE_ROOM])
{
	char dtype[TENON_DTYPE_NAME];
	size_t n = 0;
	int32_t i;

	for (i = 0; i < port->ndim && n + 24 < INSPECT_TYPE_ROOM - TENON_DTYPE_NAME; i++)
		n += (size_t)(port->shape[i] < 0 ? snprintf(text + n, INSPECT_TYPE_ROOM - n, "?x")
						 : snprintf(text + n, INSPECT_TYPE_ROOM - n,
							    "%" PRIi64 "x", port->shape[i]));
	if (port->ndim < 0)
		n += (size_t)snprintf(text + n, INSPECT_TYPE_ROOM - n, "…x");
	snprintf(text + n, INSPECT_TYPE_ROOM - n, "%s",
		 port->dtype.bits ? tenon_dtype_name(port->dtype, dtype) : "?");
	return text;
}

/* ---- text */

static void text_port(const char *what, const struct tenon_port *port, FILE *out)
{
	char type[INSPECT_TYPE_ROOM];

	fprintf(out, "  %-7s ", what);
	put_name(port->name, out);
	fprintf(out, "  %s\n", inspect_type(port, type));
}

static void text_ports(struct tenon_model *model, FILE *out)
{
	struct tenon_port port;
	size_t i;

	for (i = 0; i < tenon_model_input_count(model); i++)
		if (!tenon_model_input_is_set(model, i) && !tenon_model_input(model, i, &port))
			text_port("input", &port, out);
	for (i = 0; i < tenon_model_output_count(model); i++)
		if (!tenon_model_output(model, i, &port))
			text_port("output", &port, out);
}

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	*(size_t *)context = index + 1;
	return 0;
}

static void text_summary(struct tenon_model *model, FILE *out)
{
	char params[SIZE_TEXT], activations[SIZE_TEXT];
	struct tenon_model_memory memory;
	size_t ops = 0;

	tenon_model_memory(model, &memory);
	if (tenon_model_each_op(model, count_op, &ops))
		tenon_error_clear();
	fprintf(out, "model for the %s executor: %zu operators", tenon_model_kind(model), ops);
	if (memory.params)
		fprintf(out, ", parameters %s", size_text(memory.params, params));
	if (memory.activations)
		fprintf(out, ", activations %s", size_text(memory.activations, activations));
	if (memory.storages)
		fprintf(out, ", %zu storages", memory.storages);
	fputc('\n', out);
}

struct op_text {
	struct tenon_model *model;
	FILE *out;
};

static void text_values(const struct op_text *t, const uint32_t *list, size_t count)
{
	struct tenon_model_value v;
	size_t i;

	for (i = 0; i < count; i++) {
		fputs(i ? ", " : "", t->out);
		if (tenon_model_value_at(t->model, list[i], &v) || v.role == TENON_ROLE_RESULT)
			fprintf(t->out, "%%%" PRIu32, list[i]);
		else
			put_name(v.port.name, t->out);
	}
}

static int text_op(void *context, size_t index, const struct tenon_op *op)
{
	const struct op_text *t = context;
	struct tenon_model_value v;
	char type[INSPECT_TYPE_ROOM];
	size_t i;

	fprintf(t->out, "  %4zu  ", index);
	if (op->output_count) {
		text_values(t, op->outputs, op->output_count);
		fputs(" = ", t->out);
	}
	put_name(op->function.size ? op->function : op->name, t->out);
	fputc('(', t->out);
	text_values(t, op->inputs, op->input_count);
	fputc(')', t->out);
	for (i = 0; i < op->output_count; i++) {
		if (tenon_model_value_at(t->model, op->outputs[i], &v))
			continue;
		fprintf(t->out, "  %s", inspect_type(&v.port, type));
		if (v.storage >= 0)
			fprintf(t->out, " in #%" PRIi64, v.storage);
	}
	fputc('\n', t->out);
	return 0;
}

static void text_params(struct tenon_model *model, FILE *out)
{
	struct tenon_model_value v;
	char type[INSPECT_TYPE_ROOM], size[SIZE_TEXT];
	size_t i;

	for (i = 0; i < tenon_model_value_count(model); i++) {
		if (tenon_model_value_at(model, i, &v) || v.role != TENON_ROLE_PARAM)
			continue;
		fputs("  param   ", out);
		put_name(v.port.name, out);
		fprintf(out, "  %s  %s\n", inspect_type(&v.port, type), size_text(v.bytes, size));
	}
}

void inspect_model_text(struct tenon_model *model, bool all, FILE *out)
{
	struct op_text t = { model, out };

	text_summary(model, out);
	text_ports(model, out);
	if (!all)
		return;
	text_params(model, out);
	if (tenon_model_each_op(model, text_op, &t))
		tenon_error_clear();
}

#define CHOICES_SHOWN 32

struct choice_text {
	FILE *out;
	size_t shown;
};

static int count_choice(void *context, struct tenon_slice name)
{
	++*(size_t *)context;
	return 0;
}

static int text_choice(void *context, struct tenon_slice name)
{
	struct choice_text *t = context;

	fputs(t->shown ? ", " : "", t->out);
	if (t->shown++ == CHOICES_SHOWN) {
		fputs("…", t->out);
		return 1;
	}
	put_name(name, t->out);
	return 0;
}

void inspect_model_choice(struct tenon_module *root, FILE *out)
{
	struct choice_text t = { out, 0 };
	size_t count = 0;

	if (tenon_module_each_function(root, count_choice, &count)) {
		tenon_error_clear();
		return;
	}
	fprintf(out, "%zu models, none called main; choose with --function: ", count);
	tenon_module_each_function(root, text_choice, &t);
	fputc('\n', out);
}

/* ---- Graphviz */

static void dot_text(struct tenon_slice s, FILE *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	size_t i;

	printable_append(&text, s, NAME_MOST);
	for (i = 0; i < text.size; i++) {
		if (text.data[i] == '"' || text.data[i] == '\\')
			fputc('\\', out);
		fputc(text.data[i], out);
	}
	tenon_buffer_fini(&text);
}

static int dot_op(void *context, size_t index, const struct tenon_op *op)
{
	const struct op_text *t = context;
	size_t i;

	fprintf(t->out, "\top%zu [label=\"", index);
	dot_text(op->name, t->out);
	fputs("\"];\n", t->out);
	for (i = 0; i < op->input_count; i++)
		fprintf(t->out, "\tv%" PRIu32 " -> op%zu;\n", op->inputs[i], index);
	for (i = 0; i < op->output_count; i++)
		fprintf(t->out, "\top%zu -> v%" PRIu32 ";\n", index, op->outputs[i]);
	return 0;
}

static void dot_value(struct tenon_model *model, size_t index, FILE *out)
{
	static const char *const shapes[] = { "invhouse", "note", "plaintext" };
	struct tenon_model_value v;
	char type[INSPECT_TYPE_ROOM];

	if (tenon_model_value_at(model, index, &v))
		return;
	fprintf(out, "\tv%zu [shape=%s, label=\"", index, shapes[v.role]);
	if (v.role != TENON_ROLE_RESULT) {
		dot_text(v.port.name, out);
		fputs("\\n", out);
	}
	fprintf(out, "%s\"];\n", inspect_type(&v.port, type));
}

void inspect_model_dot(struct tenon_model *model, const char *file, FILE *out)
{
	struct op_text t = { model, out };
	size_t i;

	fputs("digraph model {\n\tlabel=\"", out);
	dot_text(tenon_slice_of(file), out);
	fputs("\";\n\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];\n", out);
	for (i = 0; i < tenon_model_value_count(model); i++)
		dot_value(model, i, out);
	if (tenon_model_each_op(model, dot_op, &t))
		tenon_error_clear();
	fputs("}\n", out);
}

/* ---- JSON */

#ifdef CONFIG_JSON
static cJSON *json_of_port(const struct tenon_port *port)
{
	cJSON *json = cJSON_CreateObject(), *shape;
	char dtype[TENON_DTYPE_NAME];
	int32_t i;

	json_set(json, "name", json_of_text(port->name));
	if (port->dtype.bits)
		cJSON_AddStringToObject(json, "dtype", tenon_dtype_name(port->dtype, dtype));
	else
		cJSON_AddNullToObject(json, "dtype");
	if (port->ndim < 0) {
		cJSON_AddNullToObject(json, "shape");
		return json;
	}
	shape = cJSON_AddArrayToObject(json, "shape");
	for (i = 0; i < port->ndim; i++)
		json_append(shape,
			    port->shape[i] < 0 ? cJSON_CreateNull() : json_of_int(port->shape[i]));
	return json;
}

static cJSON *json_of_numbers(const uint32_t *list, size_t count)
{
	cJSON *json = cJSON_CreateArray();
	size_t i;

	for (i = 0; i < count; i++)
		json_append(json, json_of_int(list[i]));
	return json;
}

static int json_op(void *context, size_t index, const struct tenon_op *op)
{
	cJSON *json = cJSON_CreateObject();

	json_set(json, "name", json_of_text(op->name));
	json_set(json, "function", json_of_text(op->function));
	json_set(json, "inputs", json_of_numbers(op->inputs, op->input_count));
	json_set(json, "outputs", json_of_numbers(op->outputs, op->output_count));
	json_append(context, json);
	return 0;
}

static void json_values(struct tenon_model *model, cJSON *list)
{
	static const char *const roles[] = { "input", "parameter", "result" };
	struct tenon_model_value v;
	size_t i;

	for (i = 0; i < tenon_model_value_count(model); i++) {
		cJSON *json;

		if (tenon_model_value_at(model, i, &v))
			continue;
		json = json_of_port(&v.port);
		cJSON_AddStringToObject(json, "role", roles[v.role]);
		json_set(json, "storage", json_of_int(v.storage));
		json_set(json, "bytes", json_of_int((int64_t)v.bytes));
		json_append(list, json);
	}
}

cJSON *inspect_model_json(struct tenon_model *model)
{
	cJSON *json = cJSON_CreateObject(), *list;
	struct tenon_model_memory memory;
	struct tenon_port port;
	size_t i;

	cJSON_AddStringToObject(json, "executor", tenon_model_kind(model));
	tenon_model_memory(model, &memory);
	json_set(json, "parameter_bytes", json_of_int((int64_t)memory.params));
	json_set(json, "activation_bytes", json_of_int((int64_t)memory.activations));
	json_set(json, "storages", json_of_int((int64_t)memory.storages));
	list = cJSON_AddArrayToObject(json, "inputs");
	for (i = 0; i < tenon_model_input_count(model); i++) {
		if (tenon_model_input(model, i, &port))
			continue;
		json_append(list, json_of_port(&port));
	}
	list = cJSON_AddArrayToObject(json, "outputs");
	for (i = 0; i < tenon_model_output_count(model); i++)
		if (!tenon_model_output(model, i, &port))
			json_append(list, json_of_port(&port));
	json_values(model, cJSON_AddArrayToObject(json, "values"));
	if (tenon_model_each_op(model, json_op, cJSON_AddArrayToObject(json, "operators")))
		tenon_error_clear();
	return json;
}
#endif
