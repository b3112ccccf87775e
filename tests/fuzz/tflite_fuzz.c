/* SPDX-License-Identifier: MIT */
/*
 * the bytes are a model of TensorFlow Lite, as tenon inspect and tenon verify read it: what was read once can be read again, lies in the
 * file, and is printed; payloads of operators are checked
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/file_map.h"
#include "tests/fuzz/fuzz.h"
#include "tools/inspect/inspect_tflite.h"

/* what is printed as JSON is in memory before */
const size_t fuzz_memory_per_byte = 1024;
const size_t fuzz_memory_at_all = 1 << 20;

static void lies_in(const struct program_file *f, struct tenon_slice part)
{
	if (part.size && (part.data < f->bytes.data ||
			  part.size > f->bytes.size - (size_t)(part.data - f->bytes.data)))
		abort();
}

static void use_tensors(const struct program_file *f)
{
	struct tflite_tensor t;
	uint32_t i, k;

	for (i = 0; i < f->model.tensors.count; i++) {
		if (tflite_tensor(&f->model, i, &t) || !tflite_type_name(t.type))
			abort();
		lies_in(f, t.name);
		lies_in(f, t.data);
		for (k = 0; k < t.scales.count; k++)
			(void)(tflite_scale(&t, k) + (float)tflite_zero_point(&t, k));
	}
}

static void is_index(const struct program_file *f, const struct flatbuffer_vector *list,
		     bool may_lack)
{
	int32_t index;
	uint32_t i;

	for (i = 0; i < list->count; i++) {
		index = tflite_index(list, i);
		if (index >= (int64_t)f->model.tensors.count ||
		    index < (may_lack ? TFLITE_NO_TENSOR : 0))
			abort();
	}
}

static void use_operators(struct program_file *f)
{
	const struct tenon_payload_format *format;
	struct tenon_payload_request request = { 0 };
	struct tenon_report unwanted = { .size = sizeof(unwanted) };
	struct tflite_operator op;
	uint32_t i;
	int err;

	for (i = 0; i < f->model.operators.count; i++) {
		if (tflite_operator(&f->model, i, &op))
			abort();
		lies_in(f, op.custom);
		is_index(f, &op.inputs, true);
		is_index(f, &op.outputs, false);
		format = program_format(&op);
		if (!format)
			continue;
		err = program_file_choose(f, i, &request);
		if (!err)
			err = format->check(&request, &unwanted);
		fuzz_check(err);
	}
}

static void print(struct program_file *f)
{
	static FILE *nothing;
	cJSON *root;

	if (!nothing)
		nothing = fopen("/dev/null", "w");
	if (!nothing)
		return;
	inspect_tflite_text(f, true, nothing);
	root = cJSON_CreateObject();
	inspect_tflite_json(root, f, true);
	cJSON_Delete(root);
	tenon_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program_file f = { .path = "model", .bytes = { (const char *)data, size } };
	struct tenon_cursor c = tenon_cursor_of(data, size, "model", 0);
	int err = tflite_read(&c, &f.model);

	fuzz_check(err);
	if (err)
		return 0;
	f.is_model = true;
	use_tensors(&f);
	use_operators(&f);
	is_index(&f, &f.model.inputs, false);
	is_index(&f, &f.model.outputs, false);
	print(&f);
	tenon_buffer_fini(&f.parts);
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
