/* SPDX-License-Identifier: MIT */
/* The format of .tflite files for the command: their operators and programs. */
#include <stdlib.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "runtime/tflite/npu_parts.h"
#include "runtime/tflite/tflite_describe.h"

static int open_file(const struct tenon_cursor *file, struct model_file **out)
{
	struct model_file *m = malloc(sizeof(*m));
	int err;

	*out = NULL;
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a model");
	err = tflite_read(file, &m->model);
	if (err)
		free(m);
	else
		*out = m;
	return err;
}

static void close_file(struct model_file *m)
{
	free(m);
}

int tflite_file_graph(struct model_file *m, uint32_t graph)
{
	const struct tflite_model model = m->model;

	return graph != model.graph ? tflite_graph(&model, graph, &m->model) : 0;
}

int tflite_file_operator(const struct model_file *m, uint32_t index, struct tflite_operator *op,
			 struct model_operator *out)
{
	int err = tflite_operator(&m->model, index, op);

	if (err)
		return err;
	*out = (struct model_operator){ .graph = m->model.graph,
					.index = index,
					.name = tflite_operator_name(op) };
	if (op->builtin == TFLITE_CUSTOM)
		out->kind = op->custom;
	return 0;
}

static int each_operator(struct model_file *m, model_operator_fn visit, void *context)
{
	const uint32_t graphs = m->model.graphs.count;
	struct tflite_operator op;
	struct model_operator o;
	uint32_t graph, i;
	int err = 0;

	for (graph = 0; graph < graphs && !err; graph++) {
		err = tflite_file_graph(m, graph);
		for (i = 0; i < m->model.operators.count && !err; i++) {
			err = tflite_file_operator(m, i, &op, &o);
			err = err ? err : visit(context, &o);
		}
	}
	return err;
}

static int get_program(struct model_file *m, const struct model_operator *op,
		       struct tenon_buffer *parts, struct tenon_cursor *out)
{
	int err = tflite_file_graph(m, op->graph);

	return err ? err : npu_read(&m->model, op->index, parts, out);
}

const struct model_format tflite_format = {
	.kind = "tflite",
	.what = "a model of TensorFlow Lite",
	.options = (const char *const[]){ "TFLITE_EXECUTOR", "DEVICES", NULL },
	.recognise = tflite_is,
	.open = open_file,
	.close = close_file,
	.each_operator = each_operator,
	.program = get_program,
	.describe = tflite_describe,
};
