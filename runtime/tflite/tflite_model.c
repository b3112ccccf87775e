/* SPDX-License-Identifier: MIT */
/* Read and check a file: tensors, operators, plans of memory. */
#include "runtime/tflite/tflite_model.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

#define SCHEMA 3
#define PLAN   "OfflineMemoryAllocation"

/* graphs are looked up one after the other; models have one, and one for each IF, WHILE or CALL_ONCE */
#define GRAPHS_MOST 256

/* fields of tables, in the order of the schema */
enum {
	MODEL_VERSION,
	MODEL_CODES,
	MODEL_SUBGRAPHS,
	MODEL_DESCRIPTION,
	MODEL_BUFFERS,
	MODEL_METADATA = 6
};
enum { CODE_OLD_BUILTIN, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS };
enum {
	TENSOR_SHAPE,
	TENSOR_TYPE,
	TENSOR_BUFFER,
	TENSOR_NAME,
	TENSOR_QUANTISATION,
	TENSOR_VARIABLE,
	TENSOR_SPARSITY,
};
enum { QUANTISATION_SCALE = 2, QUANTISATION_ZERO, QUANTISATION_DETAILS, QUANTISATION_AXIS = 6 };
enum { OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS = 4 };
enum { BUFFER_DATA, BUFFER_OFFSET };
enum { METADATA_NAME, METADATA_BUFFER };

bool tflite_is(struct tenon_slice bytes)
{
	return bytes.size >= TFLITE_MAGIC && !memcmp(bytes.data + 4, "TFL3", 4);
}

/* Cursor to a table, for errors. */
static struct tenon_cursor place_of(const struct flatbuffer_table *t)
{
	struct tenon_cursor c = t->file;

	c.at += t->at;
	return c;
}

static int number_of(const struct flatbuffer_table *t, unsigned int field, uint32_t absent,
		     uint32_t *out)
{
	uint64_t value;
	int err = flatbuffer_number(t, field, 4, absent, &value);

	*out = (uint32_t)value;
	return err;
}

/* ---- buffers */

static int read_buffer(const struct tflite_model *m, uint32_t index, struct tenon_slice *out,
		       uint64_t *at)
{
	struct flatbuffer_table t;
	struct flatbuffer_vector data;
	struct tenon_cursor place;
	uint64_t offset;
	int err;

	*out = (struct tenon_slice){ "", 0 };
	*at = 0;
	if (index >= m->buffers.count)
		return tenon_cursor_error(&m->buffers.items, -TENON_E_FORMAT,
					  "buffer %" PRIu32 "; the model has %" PRIu32, index,
					  m->buffers.count);
	err = flatbuffer_item_table(&m->buffers, index, &t);
	err = err ? err : flatbuffer_vector(&t, BUFFER_DATA, 1, &data);
	err = err ? err : flatbuffer_number(&t, BUFFER_OFFSET, 8, 0, &offset);
	if (err)
		return err;
	place = place_of(&t);
	if (offset > 1)
		return tenon_cursor_error(
			&place, -TENON_E_UNSUPPORTED,
			"a buffer behind the FlatBuffer, as models of 2 GiB have");
	*out = flatbuffer_bytes(&data);
	if (data.count)
		*at = tenon_cursor_place(&data.items);
	return 0;
}

/* ---- tensors */

static int read_shape(const struct flatbuffer_table *t, struct tflite_tensor *out)
{
	struct tenon_cursor at = place_of(t);
	struct flatbuffer_vector shape;
	uint64_t bits;
	uint32_t i;
	int err = flatbuffer_vector(t, TENSOR_SHAPE, 4, &shape);

	if (err)
		return err;
	if (shape.count > TFLITE_DIMENSIONS)
		return tenon_cursor_error(&at, -TENON_E_UNSUPPORTED,
					  "a tensor of %" PRIu32 " dimensions; %d are the most",
					  shape.count, TFLITE_DIMENSIONS);
	out->ndim = (uint8_t)shape.count;
	bits = tflite_type_bits(out->type);
	for (i = 0; i < shape.count; i++) {
		out->shape[i] = (uint32_t)flatbuffer_item(&shape, i);
		if (out->shape[i] > INT32_MAX)
			return tenon_cursor_error(
				&at, -TENON_E_UNSUPPORTED,
				"a tensor whose dimension %" PRIu32 " has a negative size", i);
		if (__builtin_mul_overflow(bits, out->shape[i], &bits) || bits > INT64_MAX - 7)
			return tenon_cursor_error(&at, -TENON_E_OVERFLOW,
						  "a tensor of 2^60 bytes or more");
	}
	out->bytes = (bits + 7) / 8;
	return 0;
}

static int read_quantisation(const struct flatbuffer_table *t, struct tflite_tensor *out)
{
	struct tenon_cursor at = place_of(t);
	struct flatbuffer_table q;
	uint64_t details;
	bool found;
	int err = flatbuffer_table(t, TENSOR_QUANTISATION, &q, &found);

	if (err || !found)
		return err;
	err = flatbuffer_number(&q, QUANTISATION_DETAILS, 1, 0, &details);
	if (!err && details)
		return tenon_cursor_error(&at, -TENON_E_UNSUPPORTED,
					  "a tensor with a quantisation of its own kind");
	err = err ? err : flatbuffer_vector(&q, QUANTISATION_SCALE, 4, &out->scales);
	err = err ? err : flatbuffer_vector(&q, QUANTISATION_ZERO, 8, &out->zero_points);
	err = err ? err : number_of(&q, QUANTISATION_AXIS, 0, &out->axis);
	if (err)
		return err;
	if (out->zero_points.count && out->zero_points.count != out->scales.count)
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "a tensor with %" PRIu32 " scales and %" PRIu32
					  " zero points",
					  out->scales.count, out->zero_points.count);
	if (out->scales.count > 1 &&
	    (out->axis >= out->ndim || out->shape[out->axis] != out->scales.count))
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "a tensor with %" PRIu32 " scales for dimension %" PRIu32
					  ", which does not have that size",
					  out->scales.count, out->axis);
	return 0;
}

int tflite_tensor(const struct tflite_model *m, uint32_t index, struct tflite_tensor *out)
{
	struct flatbuffer_vector places = { .size = 4 };
	struct flatbuffer_table t, sparsity;
	struct tenon_cursor at;
	uint32_t buffer;
	uint64_t value;
	bool sparse;
	int err;

	memset(out, 0, sizeof(*out));
	err = flatbuffer_item_table(&m->tensors, index, &t);
	err = err ? err : flatbuffer_number(&t, TENSOR_TYPE, 1, TFLITE_FLOAT32, &value);
	if (err)
		return err;
	at = place_of(&t);
	out->type = (uint8_t)value;
	if (!tflite_type_name(out->type))
		return tenon_cursor_error(&at, -TENON_E_UNSUPPORTED,
					  "a tensor of type %u, which is not known", out->type);
	err = read_shape(&t, out);
	err = err ? err : number_of(&t, TENSOR_BUFFER, 0, &buffer);
	err = err ? err : read_buffer(m, buffer, &out->data, &out->data_at);
	err = err ? err : flatbuffer_string(&t, TENSOR_NAME, &out->name);
	err = err ? err : read_quantisation(&t, out);
	err = err ? err : flatbuffer_number(&t, TENSOR_VARIABLE, 1, 0, &value);
	out->variable = value;
	err = err ? err : flatbuffer_table(&t, TENSOR_SPARSITY, &sparsity, &sparse);
	if (!err && sparse)
		return tenon_cursor_error(&at, -TENON_E_UNSUPPORTED,
					  "a tensor whose contents are sparse");
	out->place = TFLITE_NOWHERE;
	if (err || !m->places.size)
		return err;
	places.items = tenon_cursor_of(m->places.data, m->places.size, m->tensors.file.name, 0);
	out->place = (int32_t)flatbuffer_item(&places, index);
	return 0;
}

int32_t tflite_index(const struct flatbuffer_vector *list, uint64_t i)
{
	return (int32_t)flatbuffer_item(list, i);
}

float tflite_scale(const struct tflite_tensor *t, uint64_t i)
{
	const uint32_t bits = (uint32_t)flatbuffer_item(&t->scales, i);
	float scale;

	memcpy(&scale, &bits, sizeof(scale));
	return scale;
}

int64_t tflite_zero_point(const struct tflite_tensor *t, uint64_t i)
{
	return t->zero_points.count ? (int64_t)flatbuffer_item(&t->zero_points, i) : 0;
}

/* ---- operators */

static int read_code(const struct tflite_model *m, uint32_t index, struct tflite_operator *out)
{
	struct flatbuffer_table t;
	struct tenon_cursor at;
	uint64_t old;
	int err = flatbuffer_item_table(&m->codes, index, &t);

	err = err ? err : flatbuffer_number(&t, CODE_OLD_BUILTIN, 1, 0, &old);
	err = err ? err : number_of(&t, CODE_BUILTIN, 0, &out->builtin);
	err = err ? err : number_of(&t, CODE_VERSION, 1, &out->version);
	err = err ? err : flatbuffer_string(&t, CODE_CUSTOM, &out->custom);
	if (err)
		return err;
	/* models of before 2020 have the number in one byte alone */
	if (old > out->builtin)
		out->builtin = (uint32_t)old;
	at = place_of(&t);
	if (out->custom.size > TFLITE_CUSTOM_NAME)
		return tenon_cursor_error(&at, -TENON_E_UNSUPPORTED,
					  "a custom operator with a name of %zu bytes; %d are the "
					  "most",
					  out->custom.size, TFLITE_CUSTOM_NAME);
	return 0;
}

int tflite_operator(const struct tflite_model *m, uint32_t index, struct tflite_operator *out)
{
	struct flatbuffer_table t;
	struct tenon_cursor at;
	uint32_t code;
	int err;

	memset(out, 0, sizeof(*out));
	err = flatbuffer_item_table(&m->operators, index, &t);
	err = err ? err : number_of(&t, OPERATOR_CODE, 0, &code);
	if (err)
		return err;
	at = place_of(&t);
	if (code >= m->codes.count)
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "an operator of kind %" PRIu32 "; the model has %" PRIu32,
					  code, m->codes.count);
	err = read_code(m, code, out);
	err = err ? err : flatbuffer_vector(&t, OPERATOR_INPUTS, 4, &out->inputs);
	err = err ? err : flatbuffer_vector(&t, OPERATOR_OUTPUTS, 4, &out->outputs);
	return err ? err : flatbuffer_table(&t, OPERATOR_OPTIONS, &out->options, &out->has_options);
}

/* ---- the model */

/* Take @size bytes from what may still be listed. */
static int list(const struct tflite_model *m, uint64_t size, uint64_t *left)
{
	if (size > *left)
		return tenon_cursor_error(&m->tensors.file, -TENON_E_FORMAT,
					  "names and lists of tensors and operators overlap: "
					  "together they are more than %d times the file",
					  TFLITE_LISTED_MOST);
	*left -= size;
	return 0;
}

/* What is kept of a tensor or an operator is larger than an offset to a table that others have, too. */
static int check_tables(const struct tflite_model *m, uint64_t count)
{
	if (count <= tenon_cursor_left(&m->graphs.file) / TFLITE_TABLE_LEAST)
		return 0;
	return tenon_cursor_error(&m->graphs.file, -TENON_E_FORMAT,
				  "%" PRIu64
				  " tensors and operators, which have at least %d bytes each; the "
				  "file has %zu",
				  count, TFLITE_TABLE_LEAST, tenon_cursor_left(&m->graphs.file));
}

static int check_indices(const struct tflite_model *m, const struct flatbuffer_vector *v,
			 bool may_lack)
{
	struct tenon_cursor at = v->items;
	int32_t index;
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		index = tflite_index(v, i);
		if (may_lack && index == TFLITE_NO_TENSOR)
			continue;
		at.at = v->items.at + (size_t)i * 4;
		if (index < 0 || (uint32_t)index >= m->tensors.count)
			return tenon_cursor_error(&at, -TENON_E_FORMAT,
						  "tensor %" PRId32 "; the model has %" PRIu32,
						  index, m->tensors.count);
	}
	return 0;
}

static int check_tensors(const struct tflite_model *m, uint64_t *left)
{
	struct tflite_tensor t;
	uint32_t i;
	int err = 0;

	for (i = 0; i < m->tensors.count && !err; i++) {
		err = tflite_tensor(m, i, &t);
		if (!err)
			err = list(m, t.name.size + 12 * (uint64_t)t.scales.count, left);
	}
	return err;
}

static int check_operators(const struct tflite_model *m, uint64_t *left)
{
	struct tflite_operator op;
	uint32_t i;
	int err = 0;

	for (i = 0; i < m->operators.count && !err; i++) {
		err = tflite_operator(m, i, &op);
		if (!err)
			err = list(m, 4 * ((uint64_t)op.inputs.count + op.outputs.count), left);
		err = err ? err : check_indices(m, &op.inputs, true);
		err = err ? err : check_indices(m, &op.outputs, false);
	}
	return err;
}

static int graph_at(const struct tflite_model *m, uint32_t graph, struct flatbuffer_table *t,
		    struct flatbuffer_vector *tensors)
{
	int err = flatbuffer_item_table(&m->graphs, graph, t);

	return err ? err : flatbuffer_vector(t, GRAPH_TENSORS, 4, tensors);
}

int tflite_graph(const struct tflite_model *m, uint32_t graph, struct tflite_model *out)
{
	struct flatbuffer_table t;
	uint64_t before = 0;
	uint32_t i;
	int err = 0;

	*out = *m;
	out->graph = graph;
	for (i = 0; i < graph && !err; i++) {
		err = graph_at(m, i, &t, &out->tensors);
		before += out->tensors.count;
	}
	err = err ? err : graph_at(m, graph, &t, &out->tensors);
	err = err ? err : flatbuffer_vector(&t, GRAPH_INPUTS, 4, &out->inputs);
	err = err ? err : flatbuffer_vector(&t, GRAPH_OUTPUTS, 4, &out->outputs);
	err = err ? err : flatbuffer_vector(&t, GRAPH_OPERATORS, 4, &out->operators);
	if (!err && m->plan.size)
		out->places = (struct tenon_slice){ m->plan.data + 4 * before,
						    4 * (size_t)out->tensors.count };
	return err;
}

/* Count the tensors and the tables of all graphs. */
static int count_graphs(const struct flatbuffer_table *root, struct tflite_model *m,
			uint64_t *tensors, uint64_t *tables)
{
	struct tenon_cursor at = place_of(root);
	struct tflite_model graph;
	uint32_t i;
	int err = flatbuffer_vector(root, MODEL_SUBGRAPHS, 4, &m->graphs);

	*tensors = *tables = 0;
	if (!err && (!m->graphs.count || m->graphs.count > GRAPHS_MOST))
		return tenon_cursor_error(&at, -TENON_E_UNSUPPORTED,
					  "a model of %" PRIu32 " graphs; 1 to %d are supported",
					  m->graphs.count, GRAPHS_MOST);
	for (i = 0; i < m->graphs.count && !err; i++) {
		err = tflite_graph(m, i, &graph);
		*tensors += graph.tensors.count;
		*tables += (uint64_t)graph.tensors.count + graph.operators.count;
	}
	return err;
}

/* Read the plan: a version, the number of graphs and of tensors, and an offset for each. */
static int read_plan(struct tenon_slice plan, uint64_t at, uint64_t all, struct tflite_model *out)
{
	struct tenon_cursor c = tenon_cursor_of(plan.data, plan.size, out->graphs.file.name, at);
	const struct tenon_cursor first = c;
	uint32_t version = 0, graphs = 0, tensors = 0;
	int err;

	err = tenon_cursor_u32(&c, &version);
	err = err ? err : tenon_cursor_u32(&c, &graphs);
	err = err ? err : tenon_cursor_u32(&c, &tensors);
	if (err)
		return err;
	if (version || graphs != out->graphs.count || tensors != all)
		return tenon_cursor_error(&first, -TENON_E_UNSUPPORTED,
					  "a plan of memory of version %" PRIu32 " for %" PRIu32
					  " graphs and %" PRIu32 " tensors; the model has %" PRIu32
					  " and %" PRIu64,
					  version, graphs, tensors, out->graphs.count, all);
	return tenon_cursor_bytes(&c, 4 * (uint64_t)tensors, &out->plan);
}

static int read_metadata(const struct flatbuffer_table *root, uint64_t tensors,
			 struct tflite_model *out)
{
	struct tenon_slice name, data;
	struct flatbuffer_vector v;
	struct flatbuffer_table t;
	uint32_t i, buffer;
	uint64_t at;
	int err = flatbuffer_vector(root, MODEL_METADATA, 4, &v);

	for (i = 0; !err && i < v.count; i++) {
		err = flatbuffer_item_table(&v, i, &t);
		err = err ? err : flatbuffer_string(&t, METADATA_NAME, &name);
		if (err || !tenon_slice_equal(name, tenon_slice_of(PLAN)))
			continue;
		err = number_of(&t, METADATA_BUFFER, 0, &buffer);
		err = err ? err : read_buffer(out, buffer, &data, &at);
		return err ? err : read_plan(data, at, tensors, out);
	}
	return err;
}

static int check_graph(const struct tflite_model *m, uint64_t *left)
{
	int err = list(m, 4 * ((uint64_t)m->inputs.count + m->outputs.count), left);

	err = err ? err : check_tensors(m, left);
	err = err ? err : check_operators(m, left);
	err = err ? err : check_indices(m, &m->inputs, false);
	return err ? err : check_indices(m, &m->outputs, false);
}

int tflite_read(const struct tenon_cursor *file, struct tflite_model *out)
{
	uint64_t tensors, tables, left = TFLITE_LISTED_MOST * (uint64_t)tenon_cursor_left(file);
	struct flatbuffer_table root;
	struct tflite_model graph;
	uint32_t i;
	int err;

	memset(out, 0, sizeof(*out));
	/* offsets of FlatBuffers have a sign; names and archives below have sizes of int, too */
	if (tenon_cursor_left(file) > INT32_MAX)
		return tenon_cursor_error(file, -TENON_E_UNSUPPORTED,
					  "a file of 2 GiB or more, which no FlatBuffer is");
	if (!tflite_is((struct tenon_slice){ (const char *)file->at, tenon_cursor_left(file) }))
		return tenon_cursor_error(
			file, -TENON_E_FORMAT,
			"no model of TensorFlow Lite, which has TFL3 at offset 4");
	err = flatbuffer_root(file, &root);
	err = err ? err : number_of(&root, MODEL_VERSION, 0, &out->version);
	if (!err && out->version != SCHEMA)
		err = tenon_cursor_error(file, -TENON_E_UNSUPPORTED,
					 "schema %" PRIu32 "; %d is known", out->version, SCHEMA);
	err = err ? err : flatbuffer_string(&root, MODEL_DESCRIPTION, &out->description);
	err = err ? err : flatbuffer_vector(&root, MODEL_CODES, 4, &out->codes);
	err = err ? err : flatbuffer_vector(&root, MODEL_BUFFERS, 4, &out->buffers);
	err = err ? err : count_graphs(&root, out, &tensors, &tables);
	err = err ? err : read_metadata(&root, tensors, out);
	err = err ? err : check_tables(out, tables);
	for (i = out->graphs.count; i-- > 0 && !err;) {
		err = tflite_graph(out, i, &graph);
		err = err ? err : check_graph(&graph, &left);
	}
	if (!err)
		*out = graph;
	return err;
}
