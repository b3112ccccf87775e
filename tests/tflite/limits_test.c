/* SPDX-License-Identifier: MIT */
/* What a file may cost: models that are made here, some of whose parts have other parts' bytes. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/device.h>
#include <tenon/ethosu.h>
#include <tenon/model.h>

#include "runtime/tflite/tflite_network.h"

#define FILE_MOST    262144
#define FIELDS_MOST  8
#define TENSORS_MOST 4096

/* ---- a writer of FlatBuffers: what is referred to comes behind, each field has 4 bytes */

static uint8_t bytes[FILE_MOST];
static uint32_t end;

static uint32_t put(uint32_t word, uint32_t size)
{
	const uint32_t at = end;

	assert_true(end + size <= FILE_MOST);
	while (size--) {
		bytes[end++] = (uint8_t)word;
		word >>= 8;
	}
	return at;
}

static void refer(uint32_t from, uint32_t to)
{
	const uint32_t offset = to - from;

	memcpy(bytes + from, &offset, 4);
}

static uint32_t put_vector(const void *items, uint32_t count, uint32_t size)
{
	const uint32_t at = put(count, 4);

	assert_true(end + count * size + 4 <= FILE_MOST);
	memcpy(bytes + end, items, count * size);
	end += count * size;
	while (end % 4)
		put(0, 1);
	return at;
}

/* A list of offsets that are not set yet. */
static uint32_t put_places(uint32_t count)
{
	const uint32_t at = put(count, 4);

	while (count--)
		put(0, 4);
	return at;
}

static uint32_t put_vtable(uint32_t fields)
{
	const uint32_t at = put(4 + 2 * fields, 2);
	uint32_t i;

	put(4 + 4 * fields, 2);
	for (i = 0; i < fields; i++)
		put(4 + 4 * i, 2);
	while (end % 4)
		put(0, 1);
	return at;
}

/* A table with all fields of a vtable. */
static uint32_t put_table(uint32_t vtable, const uint32_t *fields, uint32_t count)
{
	const uint32_t at = put(end - vtable, 4);

	while (count--)
		put(*fields++, 4);
	return at;
}

static uint32_t field(uint32_t table, uint32_t number)
{
	return table + 4 + 4 * number;
}

/* ---- models */

struct tensor {
	uint32_t type;
	uint32_t dimensions;
	int32_t shape[2];
	uint32_t buffer;
};

struct operation {
	uint32_t code;
	uint32_t input_count;
	uint32_t inputs[8];
	uint32_t output;
};

struct buffer {
	const void *bytes;
	uint32_t size;
};

/* @tables: 0 for a table for each tensor, 1 for one that all have */
struct plan {
	uint32_t builtin[2];
	const char *custom;
	struct tensor tensors[TENSORS_MOST];
	uint32_t tensor_count;
	struct operation operations[TENSORS_MOST];
	uint32_t operation_count;
	struct buffer buffers[4];
	uint32_t buffer_count;
	bool shares;
};

static struct plan plan;

static void put_buffers(uint32_t list)
{
	const uint32_t none = put_vtable(0), has = put_vtable(1);
	uint32_t i, table;

	for (i = 0; i < plan.buffer_count; i++) {
		table = put_table(plan.buffers[i].size ? has : none, (const uint32_t[]){ 0 },
				  plan.buffers[i].size ? 1 : 0);
		refer(list + 4 + 4 * i, table);
		if (plan.buffers[i].size)
			refer(field(table, 0),
			      put_vector(plan.buffers[i].bytes, plan.buffers[i].size, 1));
	}
}

static void put_codes(uint32_t list)
{
	uint32_t i, table, vtable = put_vtable(4);

	for (i = 0; i < 2; i++) {
		table = put_table(vtable, (const uint32_t[]){ 0, 0, 1, plan.builtin[i] }, 4);
		refer(list + 4 + 4 * i, table);
		refer(field(table, 1), put_vector(plan.custom, (uint32_t)strlen(plan.custom), 1));
	}
}

static void put_tensors(uint32_t list)
{
	uint32_t i, vtable = put_vtable(3), table = 0;

	for (i = 0; i < plan.tensor_count; i++) {
		const struct tensor *t = &plan.tensors[i];

		if (!i || !plan.shares) {
			table = put_table(vtable, (const uint32_t[]){ 0, t->type, t->buffer }, 3);
			refer(field(table, 0), put_vector(t->shape, t->dimensions, 4));
		}
		refer(list + 4 + 4 * i, table);
	}
}

static void put_operations(uint32_t list)
{
	uint32_t i, vtable = put_vtable(3), table;

	for (i = 0; i < plan.operation_count; i++) {
		const struct operation *o = &plan.operations[i];

		table = put_table(vtable, (const uint32_t[]){ o->code, 0, 0 }, 3);
		refer(list + 4 + 4 * i, table);
		refer(field(table, 1), put_vector(o->inputs, o->input_count, 4));
		refer(field(table, 2), put_vector(&o->output, 1, 4));
	}
}

/* The plan of memory: all tensors at 0. */
static void add_plan_of_memory(void)
{
	static uint32_t words[3 + TENSORS_MOST];

	words[1] = 1;
	words[2] = plan.tensor_count;
	plan.buffers[plan.buffer_count++] = (struct buffer){ words, (3 + plan.tensor_count) * 4 };
}

static void put_metadata(uint32_t list)
{
	static const char name[] = "OfflineMemoryAllocation";
	const uint32_t table =
		put_table(put_vtable(2), (const uint32_t[]){ 0, plan.buffer_count - 1 }, 2);

	refer(list + 4, table);
	refer(field(table, 0), put_vector(name, sizeof(name) - 1, 1));
}

/* Write the plan: input 0, and the output of the last operation. */
static void write_model(void)
{
	const uint32_t last = plan.operations[plan.operation_count - 1].output, first = 0;
	uint32_t vtable, root, graphs, graph, codes, buffers, metadata, tensors, operations;

	end = 0;
	put(0, 4);
	put(0x334c4654, 4);
	vtable = put_vtable(7);
	root = put_table(vtable, (const uint32_t[]){ 3, 0, 0, 0, 0, 0, 0 }, 7);
	refer(0, root);
	refer(field(root, 1), codes = put_places(2));
	refer(field(root, 2), graphs = put_places(1));
	refer(field(root, 3), put_vector("limits", 6, 1));
	refer(field(root, 4), buffers = put_places(plan.buffer_count));
	refer(field(root, 5), put_places(0));
	refer(field(root, 6), metadata = put_places(1));
	vtable = put_vtable(4);
	graph = put_table(vtable, (const uint32_t[]){ 0, 0, 0, 0 }, 4);
	refer(graphs + 4, graph);
	refer(field(graph, 0), tensors = put_places(plan.tensor_count));
	refer(field(graph, 1), put_vector(&first, 1, 4));
	refer(field(graph, 2), put_vector(&last, 1, 4));
	refer(field(graph, 3), operations = put_places(plan.operation_count));
	put_codes(codes);
	put_buffers(buffers);
	put_metadata(metadata);
	put_tensors(tensors);
	put_operations(operations);
}

static int open_model(bool describe, struct tenon_model **out)
{
	const DLDevice device = { TENON_DL_ETHOSU, 0 };
	const struct tenon_model_options o = {
		.size = sizeof(o), .devices = &device, .device_count = 1, .describe = describe
	};
	struct tenon_module *module;
	int err;

	add_plan_of_memory();
	write_model();
	err = tenon_module_load_bytes("tflite", (struct tenon_slice){ (char *)bytes, end },
				      &module);
	if (err)
		return err;
	err = tenon_model_open(module, &o, out);
	tenon_object_unref(module);
	return err;
}

static void opens(void)
{
	struct tenon_model *model;

	if (open_model(false, &model))
		fail_msg("%s", tenon_error_message());
	tenon_model_close(model);
}

static void fails(int status, const char *what)
{
	struct tenon_model *model;
	int err = open_model(false, &model);

	if (err != status)
		print_error("%d: %s\n", err, err ? tenon_error_message() : "it opened");
	assert_int_equal(err, status);
	assert_error_has(what);
}

static uint32_t add_tensor(uint32_t type, uint32_t dimensions, int32_t rows, int32_t columns,
			   uint32_t buffer)
{
	assert_true(plan.tensor_count < TENSORS_MOST);
	plan.tensors[plan.tensor_count] =
		(struct tensor){ type, dimensions, { rows, columns }, buffer };
	return plan.tensor_count++;
}

static void begin(uint32_t builtin)
{
	memset(&plan, 0, sizeof(plan));
	plan.builtin[0] = builtin;
	plan.builtin[1] = TFLITE_CUSTOM;
	plan.custom = "ethos-u";
	/* buffer 0 is empty, and that of tensors without contents */
	plan.buffer_count = 1;
}

/* ---- */

static void the_shape_of_a_scalar_has_no_contents(void **state)
{
	(void)state;
	begin(TFLITE_RESHAPE);
	add_tensor(TFLITE_INT8, 1, 1, 0, 0);
	add_tensor(TFLITE_INT32, 1, 0, 0, 0);
	add_tensor(TFLITE_INT8, 0, 0, 0, 0);
	plan.operations[0] = (struct operation){ 0, 2, { 0, 1 }, 2 };
	plan.operation_count = 1;
	opens();
	/* nothing goes around a scalar */
	plan.buffer_count = 1;
	plan.builtin[0] = TFLITE_PAD;
	plan.tensors[0].dimensions = 0;
	opens();
	/* what has elements is computed */
	plan.buffer_count = 1;
	plan.tensors[1].shape[0] = 1;
	fails(-TENON_E_FORMAT, "tensor 1 (\"\") is read before an operator computes it");
}

/* PAD to 2^30 bytes, each row of which was padded before: the file has few bytes. */
static void tensors_fit_into_the_limit(void **state)
{
	static const int32_t around[4] = { 0, 65535, 0, 65535 };
	struct tenon_model *model;

	(void)state;
	begin(TFLITE_PAD);
	plan.buffers[plan.buffer_count++] = (struct buffer){ around, sizeof(around) };
	add_tensor(TFLITE_INT8, 2, 1, 1, 0);
	add_tensor(TFLITE_INT32, 2, 2, 2, 1);
	add_tensor(TFLITE_INT8, 2, 65536, 65536, 0);
	plan.operations[0] = (struct operation){ 0, 2, { 0, 1 }, 2 };
	plan.operation_count = 1;
	fails(-TENON_E_NOMEM, "bytes at a time; at most");
	/* what is only described needs none */
	plan.buffer_count = 2;
	assert_int_equal(open_model(true, &model), 0);
	tenon_model_close(model);
}

/* CONCATENATION of one tensor, many times over. */
static void concatenations_fit_into_the_limit(void **state)
{
	uint32_t i;

	(void)state;
	begin(TFLITE_CONCATENATION);
	add_tensor(TFLITE_INT8, 1, 1, 0, 0);
	for (i = 1; i < 31; i++) {
		add_tensor(TFLITE_INT8, 1, (int32_t)(1u << i), 0, 0);
		plan.operations[i - 1] = (struct operation){ 0, 2, { i - 1, i - 1 }, i };
	}
	for (; i < 36; i++) {
		add_tensor(TFLITE_INT8, 1, 1 << 30, 0, 0);
		plan.operations[i - 1] = (struct operation){ 0, 1, { 30 }, i };
	}
	/* all of these are needed at the end */
	add_tensor(TFLITE_INT8, 2, 5, 1 << 30, 0);
	plan.operations[35] = (struct operation){ 0, 5, { 31, 32, 33, 34, 35 }, 36 };
	plan.operation_count = 36;
	fails(-TENON_E_NOMEM, "bytes at a time; at most");
}

static void constants_are_few_times_the_file(void **state)
{
	static const uint8_t zeros[4096];
	uint32_t i;

	(void)state;
	begin(TFLITE_CONCATENATION);
	plan.buffers[plan.buffer_count++] = (struct buffer){ zeros, sizeof(zeros) };
	add_tensor(TFLITE_INT8, 1, 4096, 0, 0);
	for (i = 0; i < 20; i++) {
		add_tensor(TFLITE_INT8, 1, 4096, 0, 1);
		add_tensor(TFLITE_INT8, 1, 8192, 0, 0);
		plan.operations[i] = (struct operation){ 0, 2, { 0, 2 * i + 1 }, 2 * i + 2 };
	}
	plan.operation_count = 4;
	plan.tensor_count = 9;
	opens();
	plan.buffer_count = 2;
	plan.operation_count = 20;
	plan.tensor_count = 41;
	fails(-TENON_E_UNSUPPORTED, "too many tensors have the same contents");
}

/* Offsets of 4 bytes to one table. */
static void tensors_have_tables_of_their_own(void **state)
{
	uint32_t i;

	(void)state;
	begin(TFLITE_SQUEEZE);
	for (i = 0; i < TENSORS_MOST; i++)
		add_tensor(TFLITE_INT8, 1, 1, 0, 0);
	plan.operations[0] = (struct operation){ 0, 1, { 0 }, 1 };
	plan.operation_count = 1;
	opens();
	plan.buffer_count = 1;
	plan.shares = true;
	fails(-TENON_E_FORMAT, "4097 tensors and operators, which have at least 16 bytes each");
}

/* ---- operators of an NPU that have the same constants */

static uint32_t read_part(const char *name, uint8_t *to, size_t room)
{
	char path[512];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/u65_softmax_mix/%s",
		 getenv("TENON_SOURCE") ? getenv("TENON_SOURCE") : ".", name);
	f = fopen(path, "rb");
	assert_non_null(f);
	size = fread(to, 1, room, f);
	fclose(f);
	return (uint32_t)size;
}

/* @count operators with one payload, each of which computes the same from input 0. */
static void plan_operators(uint32_t count)
{
	static uint8_t payload[8192], constants[8192];
	uint32_t i;

	begin(TFLITE_RESHAPE);
	plan.buffers[plan.buffer_count++] =
		(struct buffer){ payload, read_part("payload.bin", payload, sizeof(payload)) };
	plan.buffers[plan.buffer_count++] =
		(struct buffer){ constants,
				 read_part("constants.bin", constants, sizeof(constants)) };
	add_tensor(TFLITE_INT8, 2, 1, 768, 0);
	add_tensor(TFLITE_UINT8, 1, (int32_t)plan.buffers[1].size, 0, 1);
	add_tensor(TFLITE_UINT8, 1, (int32_t)plan.buffers[2].size, 0, 2);
	add_tensor(TFLITE_UINT8, 1, 768, 0, 0);
	add_tensor(TFLITE_UINT8, 1, 4992, 0, 0);
	for (i = 0; i < count; i++) {
		add_tensor(TFLITE_INT8, 2, 1, 12, 0);
		plan.operations[i] = (struct operation){ 1, 5, { 1, 2, 3, 4, 0 }, 5 + i };
	}
	plan.operation_count = count;
}

static void what_is_packed_for_devices_is_few_times_the_file(void **state)
{
	(void)state;
	plan_operators(20);
	opens();
	plan_operators(120);
	fails(-TENON_E_UNSUPPORTED, "more than 32 times the file: too many have the same");
}

static void memory_on_devices_is_bounded(void **state)
{
	(void)state;
	/* of one operator, by the model */
	plan_operators(1);
	plan.tensors[3].shape[0] = INT32_MAX;
	fails(-TENON_E_NOMEM, "bytes that the model of Ethos-U has");
	/* of all together */
	plan_operators(5);
	plan.tensors[3].shape[0] = 1 << 30;
	fails(-TENON_E_NOMEM, "operator 3 (ethos-u) brings arenas and fast scratch memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shape_of_a_scalar_has_no_contents),
		cmocka_unit_test(tensors_fit_into_the_limit),
		cmocka_unit_test(concatenations_fit_into_the_limit),
		cmocka_unit_test(constants_are_few_times_the_file),
		cmocka_unit_test(tensors_have_tables_of_their_own),
		cmocka_unit_test(what_is_packed_for_devices_is_few_times_the_file),
		cmocka_unit_test(memory_on_devices_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
