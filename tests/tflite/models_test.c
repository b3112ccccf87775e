/* SPDX-License-Identifier: MIT */
/*
 * Models through tenon/model.h: networks that Vela compiled, with operators that it left to the processor, and models of one operator
 * each (make_operators.py). Outputs are those of the reference kernels of LiteRT, byte for byte.
 */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/device.h>
#include <tenon/ethosu.h>
#include <tenon/model.h>

#define FILE_MOST  65536
#define PORTS_MOST 4

/* a file that was read */
struct bytes {
	uint8_t data[FILE_MOST];
	size_t size;
};

static void path_of(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/tests/%s", getenv("TENON_SOURCE") ? getenv("TENON_SOURCE") : ".",
		 name);
}

static void read_file(const char *name, struct bytes *out)
{
	char path[512];
	FILE *f;

	path_of(name, path, sizeof(path));
	f = fopen(path, "rb");
	assert_non_null(f);
	out->size = fread(out->data, 1, sizeof(out->data), f);
	fclose(f);
	assert_true(out->size < sizeof(out->data));
}

static int load(const char *name, struct tenon_module **out)
{
	char path[512];

	path_of(name, path, sizeof(path));
	return tenon_module_load(path, out);
}

static int open_on(struct tenon_module *module, int type, struct tenon_model **out)
{
	const DLDevice device = { type, 0 };
	const struct tenon_model_options o = { .size = sizeof(o),
					       .devices = &device,
					       .device_count = 1 };

	return tenon_model_open(module, &o, out);
}

static struct tenon_model *open_model(const char *name)
{
	struct tenon_module *module;
	struct tenon_model *model = NULL;

	if (load(name, &module) || open_on(module, TENON_DL_ETHOSU, &model)) {
		print_error("%s: %s\n", name, tenon_error_message());
		fail();
	}
	tenon_object_unref(module);
	assert_string_equal(tenon_model_kind(model), "tflite");
	return model;
}

/* Set an input to the first bytes that are given; returns how many it took. */
static size_t set(struct tenon_model *model, size_t index, const uint8_t *from, size_t left)
{
	struct tenon_tensor *tensor;
	struct tenon_value value;
	struct tenon_port port;
	size_t bytes;

	assert_int_equal(tenon_model_input(model, index, &port), 0);
	assert_int_equal(tenon_tensor_create(port.shape, port.ndim, port.dtype, &tensor), 0);
	assert_int_equal(tenon_tensor_bytes(&tensor->dl, &bytes), 0);
	assert_true(bytes <= left);
	memcpy(tensor->dl.data, from, bytes);
	value = tenon_arg_object(tensor);
	assert_int_equal(tenon_model_set_input(model, index, &value), 0);
	tenon_object_unref(tensor);
	return bytes;
}

static size_t compare(struct tenon_model *model, size_t index, const uint8_t *want, size_t left)
{
	struct tenon_value value;
	DLTensor *t;
	size_t bytes;

	assert_int_equal(tenon_model_output_value(model, index, &value), 0);
	assert_int_equal(tenon_value_tensor(&value, &t), 0);
	assert_int_equal(tenon_tensor_bytes(t, &bytes), 0);
	assert_true(bytes <= left);
	assert_memory_equal(t->data, want, bytes);
	tenon_value_release(&value);
	return bytes;
}

static void run_twice(struct tenon_model *model, const struct bytes *want)
{
	size_t i, at, run;

	for (run = 0; run < 2; run++) {
		if (tenon_model_run(model)) {
			print_error("%s\n", tenon_error_message());
			fail();
		}
		for (i = at = 0; i < tenon_model_output_count(model); i++)
			at += compare(model, i, want->data + at, want->size - at);
		assert_int_equal(at, want->size);
	}
}

/* ---- variables */

/* One run for each input; a second model of the same file begins with the first values again. */
static void keeps_its_value(const char *network, const char *inputs, const char *outputs)
{
	static struct bytes in, want;
	struct tenon_model *model;
	size_t at, to, opened;

	read_file(inputs, &in);
	read_file(outputs, &want);
	for (opened = 0; opened < 2; opened++) {
		model = open_model(network);
		for (at = to = 0; at < in.size;) {
			at += set(model, 0, in.data + at, in.size - at);
			if (tenon_model_run(model))
				fail_msg("%s", tenon_error_message());
			to += compare(model, 0, want.data + to, want.size - to);
		}
		assert_int_equal(to, want.size);
		tenon_model_close(model);
	}
}

static void a_variable_keeps_its_value_between_the_runs_of_a_model(void **state)
{
	(void)state;
	keeps_its_value("tflite/data/variables.tflite", "tflite/data/variables.in",
			"tflite/data/variables.ref");
}

/* Vela compiled it for Ethos-U85: the NPU sets it in the graph of CALL_ONCE, and leaves it in the arena. */
static void so_does_a_variable_that_the_npu_keeps(void **state)
{
	(void)state;
	keeps_its_value("ethosu/data/small/u85_states.tflite", "ethosu/data/small/states.in",
			"ethosu/data/small/states.ref");
}

/* ---- networks that Vela compiled */

struct network {
	const char *folder;
	const char *inputs[PORTS_MOST];
	const char *outputs[PORTS_MOST];
};

static const struct network networks[] = {
	{ "u55_avgpool", { "in0.bin" }, { "ref0.bin" } },
	{ "u65_conv1x1", { "in0.bin" }, { "ref0.bin" } },
	{ "u65_add2_cop2", { "in0.bin", "in1.bin" }, { "ref0.bin" } },
	{ "u65_softmax_mix", { "in0.bin" }, { "ref0.bin" } },
	{ "u65_cpu_fallback", { "op0_input0.bin" }, { "op1_output0.bin", "op1_output1.bin" } },
	{ "u85_residual", { "in0.bin" }, { "ref0.bin" } },
};

static void add_file(const char *folder, const char *name, struct bytes *to)
{
	static struct bytes file;
	char path[256];

	snprintf(path, sizeof(path), "ethosu/data/%s/%s", folder, name);
	read_file(path, &file);
	assert_true(to->size + file.size < sizeof(to->data));
	memcpy(to->data + to->size, file.data, file.size);
	to->size += file.size;
}

static void gives(const char *path, const struct bytes *in, const struct bytes *want)
{
	struct tenon_model *model = open_model(path);
	size_t k, at = 0;

	for (k = 0; k < tenon_model_input_count(model); k++)
		at += set(model, k, in->data + at, in->size - at);
	assert_int_equal(at, in->size);
	run_twice(model, want);
	tenon_model_close(model);
}

static void networks_give_the_reference_outputs(void **state)
{
	static struct bytes in, want;
	char path[256];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		in.size = want.size = 0;
		for (k = 0; k < PORTS_MOST && networks[i].inputs[k]; k++)
			add_file(networks[i].folder, networks[i].inputs[k], &in);
		for (k = 0; k < PORTS_MOST && networks[i].outputs[k]; k++)
			add_file(networks[i].folder, networks[i].outputs[k], &want);
		snprintf(path, sizeof(path), "ethosu/data/%s/vela.tflite", networks[i].folder);
		gives(path, &in, &want);
	}
}

/* A network of tests/ethosu/make_networks.py, with its inputs and outputs. */
static void gives_small(const char *compiled, const char *name)
{
	static struct bytes in, want;
	char file[64], path[256];

	in.size = want.size = 0;
	snprintf(file, sizeof(file), "%s.in", name);
	add_file("small", file, &in);
	snprintf(file, sizeof(file), "%s.ref", name);
	add_file("small", file, &want);
	snprintf(path, sizeof(path), "ethosu/data/small/%s%s.tflite", compiled, name);
	gives(path, &in, &want);
}

/* Compiled for u65-256: maps of 16 bits, curves, ABS, LRELU and a mean. */
static void networks_of_16_bits_and_rarer_operations_give_the_reference_outputs(void **state)
{
	static const char *const names[] = { "add16",  "conv16", "leaky16",   "mean",
					     "minmax", "pool16", "softmax16", "tables16" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gives_small("", names[i]);
}

/* Chains, sums of 48 bits, curves, a bilinear resize; conv16 is for u85-1024, whose weights are in four streams, the others for u85-256. */
static void networks_for_u85_give_the_reference_outputs(void **state)
{
	static const char *const names[] = { "conv16", "mean", "minmax", "resize", "tables16" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gives_small("u85_", names[i]);
}

static void a_network_for_an_npu_needs_a_device(void **state)
{
	struct tenon_module *module;
	struct tenon_model *model;

	(void)state;
	assert_int_equal(load("ethosu/data/u65_conv1x1/vela.tflite", &module), 0);
	assert_int_equal(open_on(module, kDLCPU, &model), -TENON_E_DEVICE);
	assert_error_has("operator 0 (ethos-u) was compiled for an NPU, and no device is given");
	tenon_object_unref(module);
}

static void an_operator_that_is_not_here_is_named(void **state)
{
	struct tenon_module *module;
	struct tenon_model *model;

	(void)state;
	assert_int_equal(load("ethosu/data/u65_softmax_mix/source.tflite", &module), 0);
	assert_int_equal(open_on(module, kDLCPU, &model), -TENON_E_UNSUPPORTED);
	assert_error_has("operator 0 (CONV_2D) runs neither on an NPU nor on the processor: "
			 "this build has no such operator; compile the model with Vela");
	tenon_object_unref(module);
}

/* ---- operators of the processor */

static const char *const operators[] = {
	"concatenation_first",
	"concatenation_float",
	"concatenation_last",
	"dequantize_int16",
	"dequantize_int8",
	"dequantize_uint8",
	"expand_dims",
	"logistic",
	"logistic_edge",
	"logistic_flat",
	"logistic_large",
	"logistic_steep",
	"pad",
	"pad_float",
	"pad_with",
	"quantize",
	"quantize_int16",
	"quantize_odd",
	"quantize_uint8",
	"requantize",
	"requantize_int16",
	"requantize_int16_to_int8",
	"requantize_to_int8",
	"requantize_to_uint8",
	"requantize_up",
	"reshape",
	"slice",
	"softmax",
	"softmax_equal",
	"softmax_flat",
	"softmax_steep",
	"softmax_uint8",
	"squeeze",
	"transpose",
	"several",
};

static void operators_give_the_reference_outputs(void **state)
{
	static struct bytes in, want;
	struct tenon_model *model;
	char path[256];
	size_t i, k, at;

	(void)state;
	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		print_message("# %s\n", operators[i]);
		snprintf(path, sizeof(path), "tflite/data/%s.in", operators[i]);
		read_file(path, &in);
		snprintf(path, sizeof(path), "tflite/data/%s.ref", operators[i]);
		read_file(path, &want);
		snprintf(path, sizeof(path), "tflite/data/%s.tflite", operators[i]);
		model = open_model(path);
		for (k = at = 0; k < tenon_model_input_count(model); k++)
			at += set(model, k, in.data + at, in.size - at);
		assert_int_equal(at, in.size);
		run_twice(model, &want);
		tenon_model_close(model);
	}
}

/* ---- the interface */

static void an_input_that_was_never_set_is_named(void **state)
{
	struct tenon_model *model = open_model("ethosu/data/u65_add2_cop2/vela.tflite");
	static const uint8_t zeros[576];

	(void)state;
	set(model, 1, zeros, sizeof(zeros));
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	assert_error_has("input 0 (\"a\") was never set");
	tenon_model_close(model);
}

static void an_input_of_another_shape_is_refused(void **state)
{
	struct tenon_model *model = open_model("tflite/data/reshape.tflite");
	const int64_t shape[4] = { 2, 3, 5, 4 };
	struct tenon_tensor *tensor;
	struct tenon_value value;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 4, tenon_dtype(TENON_DTYPE_INT, 8, 1), &tensor),
			 0);
	value = tenon_arg_object(tensor);
	assert_int_equal(tenon_model_set_input(model, 0, &value), -TENON_E_VALUE);
	assert_error_has("has extent 5 in dimension 2, the model takes 4");
	tenon_object_unref(tensor);
	tenon_model_close(model);
}

static void a_bound_input_is_read_by_each_run(void **state)
{
	struct tenon_model *model = open_model("tflite/data/expand_dims.tflite");
	struct tenon_tensor *tensor;
	struct tenon_port port;
	uint8_t want[9];

	(void)state;
	assert_int_equal(tenon_model_input(model, 0, &port), 0);
	assert_int_equal(tenon_tensor_create(port.shape, port.ndim, port.dtype, &tensor), 0);
	assert_int_equal(tenon_model_bind_input(model, 0, tensor), 0);
	memset(want, 7, sizeof(want));
	memset(tensor->dl.data, 7, sizeof(want));
	assert_int_equal(tenon_model_run(model), 0);
	compare(model, 0, want, sizeof(want));
	memset(want, 9, sizeof(want));
	memset(tensor->dl.data, 9, sizeof(want));
	assert_int_equal(tenon_model_run(model), 0);
	compare(model, 0, want, sizeof(want));
	tenon_object_unref(tensor);
	tenon_model_close(model);
}

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	static const char *const names[] = { "ethos-u", "DEQUANTIZE", "SIN", "QUANTIZE",
					     "ethos-u" };

	assert_true(index < sizeof(names) / sizeof(names[0]));
	assert_int_equal(op->name.size, strlen(names[index]));
	assert_memory_equal(op->name.data, names[index], op->name.size);
	++*(size_t *)context;
	return 0;
}

static void a_model_is_described_without_a_device(void **state)
{
	const struct tenon_model_options o = { .size = sizeof(o), .describe = true };
	struct tenon_model_value value;
	struct tenon_module *module;
	struct tenon_model *model;
	struct tenon_port port;
	size_t count = 0;

	(void)state;
	assert_int_equal(load("ethosu/data/u65_cpu_fallback/vela.tflite", &module), 0);
	assert_int_equal(tenon_model_open(module, &o, &model), 0);
	assert_int_equal(tenon_model_each_op(model, count_op, &count), 0);
	assert_int_equal(count, 5);
	assert_int_equal(tenon_model_output_count(model), 2);
	assert_int_equal(tenon_model_input(model, 0, &port), 0);
	assert_slice(port.name, "x");
	assert_int_equal(port.ndim, 4);
	assert_int_equal(tenon_model_value_at(model, 1, &value), 0);
	assert_int_equal(value.role, TENON_ROLE_PARAM);
	tenon_model_close(model);
	tenon_object_unref(module);
}

/* Tensors of 1024 float32 and of 1024 int8 each that live one after the other share their places. */
static void tensors_take_the_places_of_others(void **state)
{
	struct tenon_model *model = open_model("ethosu/data/u65_cpu_fallback/vela.tflite");
	struct tenon_model_memory memory;

	(void)state;
	tenon_model_memory(model, &memory);
	/* the input, the two outputs, two of float32, and none of int8 beside these */
	assert_true(memory.activations <= 512 + 512 + 128 + 2 * 4096 + 1024);
	tenon_model_close(model);
}

static void bytes_in_memory_are_a_model_too(void **state)
{
	static struct bytes file;
	struct tenon_module *module;
	struct tenon_model *model;

	(void)state;
	read_file("tflite/data/squeeze.tflite", &file);
	assert_int_equal(
		tenon_module_load_bytes(
			"tflite", (struct tenon_slice){ (char *)file.data, file.size }, &module),
		0);
	memset(&file, 0, sizeof(file));
	assert_int_equal(tenon_model_open(module, NULL, &model), 0);
	tenon_object_unref(module);
	tenon_model_close(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_keeps_its_value_between_the_runs_of_a_model),
		cmocka_unit_test(so_does_a_variable_that_the_npu_keeps),
		cmocka_unit_test(networks_give_the_reference_outputs),
		cmocka_unit_test(
			networks_of_16_bits_and_rarer_operations_give_the_reference_outputs),
		cmocka_unit_test(networks_for_u85_give_the_reference_outputs),
		cmocka_unit_test(a_network_for_an_npu_needs_a_device),
		cmocka_unit_test(an_operator_that_is_not_here_is_named),
		cmocka_unit_test(operators_give_the_reference_outputs),
		cmocka_unit_test(an_input_that_was_never_set_is_named),
		cmocka_unit_test(an_input_of_another_shape_is_refused),
		cmocka_unit_test(a_bound_input_is_read_by_each_run),
		cmocka_unit_test(a_model_is_described_without_a_device),
		cmocka_unit_test(tensors_take_the_places_of_others),
		cmocka_unit_test(bytes_in_memory_are_a_model_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
