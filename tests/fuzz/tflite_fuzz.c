/* SPDX-License-Identifier: MIT */
/*
 * The bytes are a model of TensorFlow Lite, as tenon inspect and tenon verify read it: what was read once can be read again, lies in the
 * file, and is printed; payloads of operators are checked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/file_map.h"
#include "runtime/tflite/tflite_describe.h"
#include "tests/fuzz/fuzz.h"
#include "tools/inspect/inspect.h"

/* what is printed as JSON is in memory before */
const size_t fuzz_memory_per_byte = 1024;
const size_t fuzz_memory_at_all = 1 << 20;

static void lies_in(const struct tflite_model *m, struct tenon_slice part)
{
	const char *start = (const char *)m->tensors.file.start;
	const char *end = (const char *)m->tensors.file.end;

	if (part.size &&
	    (part.data < start || part.data > end || part.size > (size_t)(end - part.data)))
		abort();
}

static void use_tensors(const struct tflite_model *m)
{
	struct tflite_tensor t;
	uint32_t i, k;

	for (i = 0; i < m->tensors.count; i++) {
		if (tflite_tensor(m, i, &t) || !tflite_type_name(t.type))
			abort();
		lies_in(m, t.name);
		lies_in(m, t.data);
		for (k = 0; k < t.scales.count; k++)
			(void)(tflite_scale(&t, k) + (float)tflite_zero_point(&t, k));
	}
}

static void is_index(const struct tflite_model *m, const struct flatbuffer_vector *list,
		     bool may_lack)
{
	int32_t index;
	uint32_t i;

	for (i = 0; i < list->count; i++) {
		index = tflite_index(list, i);
		if (index >= (int64_t)m->tensors.count || index < (may_lack ? TFLITE_NO_TENSOR : 0))
			abort();
	}
}

static void use_operators(const struct tflite_model *m)
{
	struct tflite_operator op;
	uint32_t i;

	for (i = 0; i < m->operators.count; i++) {
		if (tflite_operator(m, i, &op))
			abort();
		lies_in(m, op.custom);
		is_index(m, &op.inputs, true);
		is_index(m, &op.outputs, false);
	}
}

static int use_program(void *context, const struct model_operator *op)
{
	const struct tenon_payload_format *format = program_format(op);
	struct tenon_payload_request request = { 0 };
	struct tenon_report unwanted = { .size = sizeof(unwanted) };
	int err;

	if (!format)
		return 0;
	err = program_file_choose(context, op, &request);
	if (!err)
		err = format->check(&request, &unwanted);
	fuzz_check(err);
	return 0;
}

static void use_model(const struct tflite_model *m)
{
	use_tensors(m);
	use_operators(m);
	is_index(m, &m->inputs, false);
	is_index(m, &m->outputs, false);
}

static void print(struct program_file *f)
{
	static FILE *nothing;
	struct program_report report;
	cJSON *root;

	if (!nothing)
		nothing = fopen("/dev/null", "w");
	if (!nothing)
		return;
	report = program_report_text(nothing);
	fuzz_check(inspect_program_report(f, true, &report));
	root = cJSON_CreateObject();
	report = program_report_json(root);
	fuzz_check(inspect_program_report(f, true, &report));
	cJSON_Delete(root);
	tenon_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program_file f = { .path = "model", .model_format = &tflite_format };
	struct tenon_cursor c = tenon_cursor_of(data, size, "model", 0);
	int err = tflite_format.open(&c, &f.model);

	fuzz_check(err);
	if (err)
		return 0;
	use_model(&f.model->model);
	tflite_format.each_operator(f.model, use_program, &f);
	print(&f);
	program_file_fini(&f);
	return 0;
}

static struct tenon_slice file(const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	struct tenon_slice bytes;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/%s", source ? source : ".", name);
	if (file_map_open(path, &bytes))
		abort();
	return bytes;
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	struct tenon_slice bytes = file("u55_avgpool/vela.tflite");

	visit(context, "u55_avgpool", bytes);
	file_map_close(&bytes);
}

/* Larger files are for campaigns: editing each of their bytes would take too long. */
void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	static const char *const names[] = { "u65_add2_cop2/vela.tflite",
					     "u65_cpu_fallback/vela.tflite",
					     "u65_softmax_mix/vela.tflite",
					     "u65_softmax_mix/source.tflite" };
	struct tenon_slice bytes;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bytes = file(names[i]);
		visit(context, bytes);
		file_map_close(&bytes);
	}
}
