/* SPDX-License-Identifier: MIT */
/* Models of TensorFlow Lite: a small one that is written here, with one word of it wrong in each case. */
#include "tests/unit/suite.h"

#include <string.h>

#include "runtime/tflite/tflite_model.h"

#define BYTES_MOST  8192
#define FIELDS_MOST 7
#define LISTED_MOST 12

/* fields, by their numbers in the schema; all take four bytes here */
enum { CODES = 1, GRAPHS, BUFFERS = 4, METADATA = 6 };
enum { TENSORS, INPUTS, OUTPUTS, OPERATORS };
enum { SHAPE, TYPE, BUFFER, NAME, QUANTISATION };

/* a FlatBuffer while it is written; what it refers to comes behind */
struct writer {
	uint8_t bytes[BYTES_MOST];
	uint32_t size;
};

/* A table of a model: where it is, and how many fields it has. */
struct table {
	uint32_t at;
	uint32_t fields;
};

static void put(struct writer *w, uint32_t at, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		w->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static uint32_t add(struct writer *w, uint32_t value)
{
	assert_true(w->size + 4 <= BYTES_MOST);
	put(w, w->size, value);
	w->size += 4;
	return w->size - 4;
}

/* Let the offset at @from refer to what is written next. */
static void refer(struct writer *w, uint32_t from)
{
	put(w, from, w->size - from);
}

/* A table with fields of four bytes, all 0, and its vtable in front; both are as large for any number of fields. */
static struct table add_table(struct writer *w, uint32_t from, uint32_t fields)
{
	const uint32_t vtable = w->size;
	struct table t;
	uint32_t i;

	add(w, (4 + 4 * FIELDS_MOST) << 16 | (4 + 2 * fields));
	for (i = 0; i < (FIELDS_MOST + 1) / 2; i++)
		add(w, (4 + 4 * (2 * i + 1)) << 16 | (4 + 4 * 2 * i));
	refer(w, from);
	t = (struct table){ w->size, fields };
	add(w, w->size - vtable);
	for (i = 0; i < FIELDS_MOST; i++)
		add(w, 0);
	return t;
}

static uint32_t field(const struct table *t, uint32_t number)
{
	assert_true(number < t->fields);
	return t->at + 4 + 4 * number;
}

/* A vector of @count words, 0 each; returns the first. */
static uint32_t add_vector(struct writer *w, const struct table *t, uint32_t number, uint32_t count)
{
	uint32_t i, first;

	refer(w, field(t, number));
	first = add(w, count) + 4;
	for (i = 0; i < count; i++)
		add(w, 0);
	return first;
}

static void add_text(struct writer *w, const struct table *t, uint32_t number, const char *text)
{
	const uint32_t size = (uint32_t)strlen(text);

	refer(w, field(t, number));
	add(w, size);
	memcpy(w->bytes + w->size, text, size);
	w->size += (size + 4) & ~3U;
}

/**
 * struct small - a model: one operator DEQUANTIZE, of a tensor of int8 to one of float32
 * @w: its bytes
 * @graphs: where their number is
 * @tensor: the first tensor
 * @shape: its two extents
 * @scale: number of its scales
 * @operators: the list of operators, which begins with their number
 * @operator: the operator
 * @input: its input
 */
struct small {
	struct writer w;
	uint32_t graphs;
	struct table tensor;
	uint32_t shape;
	uint32_t scale;
	uint32_t operators;
	struct table operator;
	uint32_t input;
};

static void add_tensors(struct small *s, const struct table *graph)
{
	const uint32_t list = add_vector(&s->w, graph, TENSORS, 2);
	struct table t, q;

	s->tensor = add_table(&s->w, list, 5);
	put(&s->w, field(&s->tensor, TYPE), TFLITE_INT8);
	s->shape = add_vector(&s->w, &s->tensor, SHAPE, 2);
	put(&s->w, s->shape, 2);
	put(&s->w, s->shape + 4, 3);
	add_text(&s->w, &s->tensor, NAME, "x");
	q = add_table(&s->w, field(&s->tensor, QUANTISATION), 4);
	s->scale = add_vector(&s->w, &q, 2, 1);
	put(&s->w, s->scale, 0x3f000000);
	add_vector(&s->w, &q, 3, 2);
	put(&s->w, s->w.size - 12, 1);
	put(&s->w, s->w.size - 8, (uint32_t)-3);
	put(&s->w, s->w.size - 4, (uint32_t)-1);
	/* the fields of a quantisation that are not written are its minimum and maximum: empty */
	add_vector(&s->w, &q, 0, 0);
	add_vector(&s->w, &q, 1, 0);
	t = add_table(&s->w, list + 4, 4);
	add_vector(&s->w, &t, SHAPE, 0);
	add_text(&s->w, &t, NAME, "y");
}

/* List the operator several times. The list has room for LISTED_MOST. */
static void repeat_operator(struct small *s, uint32_t times)
{
	uint32_t i;

	put(&s->w, s->operators, times);
	for (i = 0; i < times; i++)
		put(&s->w, s->operators + 4 + 4 * i, s->operator.at - s->operators - 4 - 4 * i);
}

static void make(struct small *s)
{
	struct table model, graph, code, buffer;
	uint32_t list;

	memset(s, 0, sizeof(*s));
	add(&s->w, 0);
	memcpy(s->w.bytes + 4, "TFL3", 4);
	s->w.size = 8;
	model = add_table(&s->w, 0, 7);
	put(&s->w, field(&model, 0), 3);
	add_text(&s->w, &model, 3, "by hand");
	add_vector(&s->w, &model, 5, 0);
	add_vector(&s->w, &model, METADATA, 0);
	list = add_vector(&s->w, &model, CODES, 1);
	code = add_table(&s->w, list, 1);
	put(&s->w, field(&code, 0), 6);
	list = add_vector(&s->w, &model, BUFFERS, 1);
	buffer = add_table(&s->w, list, 1);
	add_vector(&s->w, &buffer, 0, 0);
	s->graphs = add_vector(&s->w, &model, GRAPHS, 1) - 4;
	graph = add_table(&s->w, s->graphs + 4, 4);
	add_tensors(s, &graph);
	add_vector(&s->w, &graph, INPUTS, 1);
	put(&s->w, add_vector(&s->w, &graph, OUTPUTS, 1), 1);
	s->operators = add_vector(&s->w, &graph, OPERATORS, LISTED_MOST) - 4;
	s->operator= add_table(&s->w, s->operators + 4, 3);
	repeat_operator(s, 1);
	s->input = add_vector(&s->w, &s->operator, 1, 1);
	put(&s->w, add_vector(&s->w, &s->operator, 2, 1), 1);
}

static int read_model(const struct small *s, struct tflite_model *out)
{
	const struct tenon_cursor c = tenon_cursor_of(s->w.bytes, s->w.size, "small", 0);

	return tflite_read(&c, out);
}

static void fails(const struct small *s, int status, const char *what)
{
	struct tflite_model m;

	assert_int_equal(read_model(s, &m), status);
	assert_true(message_has("small at 0x"));
	assert_error_has(what);
}

static void operators_and_tensors_are_read(void **state)
{
	struct tflite_operator op;
	struct tflite_tensor t;
	struct tflite_model m;
	struct small s;

	(void)state;
	make(&s);
	assert_int_equal(read_model(&s, &m), 0);
	assert_slice(m.description, "by hand");
	assert_int_equal(m.tensors.count, 2);
	assert_int_equal(tflite_tensor(&m, 0, &t), 0);
	assert_slice(t.name, "x");
	assert_string_equal(tflite_type_name(t.type), "int8");
	assert_int_equal(t.bytes, 6);
	assert_int_equal(t.place, TFLITE_NOWHERE);
	assert_int_equal(t.scales.count, 1);
	assert_true(tflite_scale(&t, 0) == 0.5F);
	assert_int_equal(tflite_zero_point(&t, 0), -3);
	assert_int_equal(tflite_tensor(&m, 1, &t), 0);
	assert_int_equal(t.bytes, 4);
	assert_int_equal(tflite_operator(&m, 0, &op), 0);
	assert_slice(tflite_operator_name(&op), "DEQUANTIZE");
	assert_int_equal(tflite_index(&op.inputs, 0), 0);
	assert_int_equal(tflite_index(&op.outputs, 0), 1);
}

static void a_model_cut_anywhere_is_refused(void **state)
{
	struct tflite_model m;
	uint32_t whole;
	struct small s;

	(void)state;
	make(&s);
	whole = s.w.size;
	for (s.w.size = 0; s.w.size < whole; s.w.size++) {
		assert_true(read_model(&s, &m) < 0);
		assert_error_has("small at 0x");
	}
}

static void tables_lie_in_the_file(void **state)
{
	struct small s;

	(void)state;
	make(&s);
	put(&s.w, s.tensor.at, s.tensor.at + 1);
	fails(&s, -TENON_E_FORMAT, "vtable is before the first byte");
	make(&s);
	put(&s.w, s.tensor.at, 1U << 31);
	fails(&s, -TENON_E_TRUNCATED, "");
	make(&s);
	put(&s.w, s.graphs + 4, UINT32_MAX);
	fails(&s, -TENON_E_TRUNCATED, "an offset of 4294967295 bytes");
}

static void a_field_lies_in_its_table(void **state)
{
	uint32_t vtable;
	struct small s;

	(void)state;
	make(&s);
	vtable = s.tensor.at - 4 - 2 * (FIELDS_MOST + 1);
	/* the offset of the first field, in the upper and lower half of a word */
	put(&s.w, vtable + 4, 8U << 16 | 4 * (FIELDS_MOST + 1));
	fails(&s, -TENON_E_FORMAT, "begins 32 bytes into a table of 32");
	make(&s);
	put(&s.w, vtable + 4, 8U << 16 | 3);
	fails(&s, -TENON_E_FORMAT, "begins 3 bytes into a table");
}

static void tensors_that_do_not_exist_are_refused(void **state)
{
	struct tflite_model m;
	struct small s;

	(void)state;
	make(&s);
	put(&s.w, s.input, 2);
	fails(&s, -TENON_E_FORMAT, "tensor 2; the model has 2");
	put(&s.w, s.input, (uint32_t)-2);
	fails(&s, -TENON_E_FORMAT, "tensor -2");
	put(&s.w, s.input, (uint32_t)TFLITE_NO_TENSOR);
	assert_int_equal(read_model(&s, &m), 0);
	put(&s.w, field(&s.operator, 0), 1);
	fails(&s, -TENON_E_FORMAT, "an operator of kind 1; the model has 1");
}

static void sizes_do_not_overflow(void **state)
{
	struct tflite_model m;
	struct small s;

	(void)state;
	make(&s);
	put(&s.w, s.shape, INT32_MAX);
	put(&s.w, s.shape + 4, 1 << 28);
	assert_int_equal(read_model(&s, &m), 0);
	put(&s.w, s.shape + 4, INT32_MAX);
	fails(&s, -TENON_E_OVERFLOW, "2^60 bytes");
	put(&s.w, s.shape, (uint32_t)-1);
	fails(&s, -TENON_E_UNSUPPORTED, "dimension 0 has a negative size");
}

static void a_model_has_a_graph(void **state)
{
	struct small s;

	(void)state;
	make(&s);
	put(&s.w, s.graphs, 0);
	fails(&s, -TENON_E_UNSUPPORTED, "a model of 0 graphs");
}

/* Let a table have more fields than were written. */
static void widen(struct small *s, struct table *t, uint32_t fields)
{
	put(&s->w, t->at - 4 - 2 * (FIELDS_MOST + 1),
	    (4 + 4 * FIELDS_MOST) << 16 | (4 + 2 * fields));
	t->fields = fields;
}

static void what_tensors_say_and_is_not_understood_is_refused(void **state)
{
	struct table q = { 0, 5 };
	struct small s;
	uint32_t at;

	(void)state;
	make(&s);
	widen(&s, &s.tensor, 7);
	at = field(&s.tensor, 6);
	put(&s.w, at, s.operator.at - at);
	fails(&s, -TENON_E_UNSUPPORTED, "sparse");
	make(&s);
	at = field(&s.tensor, QUANTISATION);
	q.at = at + s.w.bytes[at] + (s.w.bytes[at + 1] << 8);
	widen(&s, &q, 5);
	put(&s.w, field(&q, 4), 1);
	fails(&s, -TENON_E_UNSUPPORTED, "a quantisation of its own kind");
}

/* FlatBuffers refer forwards, so a list of operators can be longer than the operators that it leads to. */
static void parts_that_overlap_do_not_multiply(void **state)
{
	struct tflite_model m;
	struct small s;

	(void)state;
	make(&s);
	/* the one operator has a thousand inputs, and is listed as often as may be, then more often */
	add_vector(&s.w, &s.operator, 1, 1000);
	assert_int_equal(read_model(&s, &m), 0);
	repeat_operator(&s, 4);
	assert_int_equal(read_model(&s, &m), 0);
	repeat_operator(&s, 5);
	fails(&s, -TENON_E_FORMAT, "overlap");
	repeat_operator(&s, LISTED_MOST);
	fails(&s, -TENON_E_FORMAT, "overlap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_and_tensors_are_read),
		cmocka_unit_test(a_model_cut_anywhere_is_refused),
		cmocka_unit_test(tables_lie_in_the_file),
		cmocka_unit_test(a_field_lies_in_its_table),
		cmocka_unit_test(tensors_that_do_not_exist_are_refused),
		cmocka_unit_test(sizes_do_not_overflow),
		cmocka_unit_test(a_model_has_a_graph),
		cmocka_unit_test(what_tensors_say_and_is_not_understood_is_refused),
		cmocka_unit_test(parts_that_overlap_do_not_multiply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
