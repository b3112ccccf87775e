/* SPDX-License-Identifier: MIT */
/* Models with a word or a list that is wrong: each is refused when it is opened, with the operator and the tensor. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/device.h>
#include <tenon/ethosu.h>
#include <tenon/model.h>

#define FILE_MOST  16384
#define WORDS_MOST 12

/* a list of integers of 32 bits in a file */
struct list {
	size_t count;
	int32_t words[WORDS_MOST];
};

#define LIST(...)                                                                                  \
	&(const struct list)                                                                       \
	{                                                                                          \
		sizeof((const int32_t[]){ __VA_ARGS__ }) / 4,                                      \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static char bytes[FILE_MOST];
static size_t size;

static void read_model(const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/%s",
		 getenv("TENON_SOURCE") ? getenv("TENON_SOURCE") : ".", name);
	f = fopen(path, "rb");
	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(size < sizeof(bytes));
}

/* Put other words in the place of those that are there once. */
static void replace(const struct list *old, const struct list *new)
{
	char *at = memmem(bytes, size, old->words, old->count * 4);

	assert_non_null(at);
	assert_int_equal(old->count, new->count);
	assert_null(memmem(at + 1, size - (size_t)(at + 1 - bytes), old->words, old->count * 4));
	memcpy(at, new->words, new->count * 4);
}

static int open_model(struct tenon_model **out)
{
	const DLDevice device = { TENON_DL_ETHOSU, 0 };
	const struct tenon_model_options o = { .size = sizeof(o),
					       .devices = &device,
					       .device_count = 1 };
	struct tenon_module *module;
	int err;

	err = tenon_module_load_bytes("tflite", (struct tenon_slice){ bytes, size }, &module);
	if (err)
		return err;
	err = tenon_model_open(module, &o, out);
	tenon_object_unref(module);
	return err;
}

static void fails(const char *name, const struct list *old, const struct list *new, int status,
		  const char *what)
{
	struct tenon_model *model;
	int err;

	read_model(name);
	replace(old, new);
	err = open_model(&model);
	if (err != status)
		print_error("%s: %s\n", name, tenon_error_message());
	assert_int_equal(err, status);
	assert_error_has(what);
}

#define CONVOLUTION "ethosu/data/u65_conv1x1/vela.tflite"
#define ADDITION    "ethosu/data/u65_add2_cop2/vela.tflite"

#define STATES "ethosu/data/small/u85_states.tflite"

/* offsets in the arena: the state, the input, the output, and what the state becomes */
static void what_an_npu_keeps_is_set_and_left_in_its_place(void **state)
{
	(void)state;
	fails(STATES, LIST(0, 64, 32, 0, -1, -1), LIST(0, 64, 32, 64, -1, -1), -TENON_E_FORMAT,
	      "is read before an operator computes it");
	fails(STATES, LIST(0, 0, 0, 64, 32, 0, -1, -1), LIST(0, 0, 64, 0, 32, 64, -1, -1),
	      -TENON_E_FORMAT, "graph 1, which CALL_ONCE calls, does not set it");
	fails(STATES, LIST(0, -1, -1, 0, 0, 0), LIST(0, -1, -1, 0, 0, 8), -TENON_E_FORMAT,
	      "has 32 bytes at 8 of the arena, which has 32");
	/* the offset of graph 1's list of inputs: another list, of one tensor */
	fails(STATES, LIST(48, 40, 32, 20), LIST(48, 104, 32, 20), -TENON_E_UNSUPPORTED,
	      "calls graph 1, which takes 1 inputs");
}

/* The input of the network is none, and lies where the state does. */
static void two_variables_of_an_npu_do_not_become_one(void **state)
{
	const struct tenon_model_options describing = { .size = sizeof(describing),
							.describe = true };
	struct tenon_module *module;
	struct tenon_model *model;

	(void)state;
	read_model(STATES);
	replace(LIST(1, 6, 1, 5), LIST(1, 6, 0, 5));
	replace(LIST(0, 64, 32, 0, -1, -1), LIST(0, 0, 32, 0, -1, -1));
	assert_int_equal(
		tenon_module_load_bytes("tflite", (struct tenon_slice){ bytes, size }, &module), 0);
	assert_int_equal(tenon_model_open(module, &describing, &model), -TENON_E_FORMAT);
	assert_error_has("tensor 7 (\"0:state\") is what two variables of the NPU become");
	tenon_object_unref(module);
}

static void numbers_of_tensors_exist(void **state)
{
	(void)state;
	fails(CONVOLUTION, LIST(5, 0, 1, 2, 3, 4), LIST(5, 0, 1, 2, 3, 6), -TENON_E_FORMAT,
	      "tensor 6; the model has 6");
	fails(CONVOLUTION, LIST(5, 0, 1, 2, 3, 4), LIST(5, 0, 1, 2, 3, -1), -TENON_E_FORMAT,
	      "operator 0 (ethos-u) leaves an input of its network out");
	fails(CONVOLUTION, LIST(5, 0, 1, 2, 3, 4), LIST(5, 0, -1, 2, 3, 4), -TENON_E_FORMAT,
	      "operator 0 (ethos-u) has no constants");
}

static void an_operator_has_its_number_of_inputs(void **state)
{
	(void)state;
	fails(CONVOLUTION, LIST(5, 0, 1, 2, 3, 4), LIST(3, 0, 1, 2, 3, 4), -TENON_E_FORMAT,
	      "operator 0 (ethos-u) has 3 inputs and 1 outputs");
	fails("tflite/data/pad.tflite", LIST(2, 0, 1), LIST(1, 0, 1), -TENON_E_FORMAT,
	      "operator 0 (PAD) has 1 inputs and 1 outputs, want 2 to 2 and 1");
	fails("tflite/data/pad.tflite", LIST(2, 0, 1), LIST(2, 0, -1), -TENON_E_FORMAT,
	      "operator 0 (PAD) has no tensor for input 1");
}

static void tensors_of_an_npu_lie_in_its_memory(void **state)
{
	(void)state;
	fails(CONVOLUTION, LIST(6, -1, -1, 0, 0, 1024, 0), LIST(6, -1, -1, 0, 0, 1025, 0),
	      -TENON_E_FORMAT,
	      "tensor 4 (\"x\") has 1024 bytes at 1025 of the arena, which has 2048");
	fails(CONVOLUTION, LIST(6, -1, -1, 0, 0, 1024, 0), LIST(6, -1, -1, 0, 0, -1, 0),
	      -TENON_E_UNSUPPORTED, "tensor 4 (\"x\") has no place in the arena");
	fails(CONVOLUTION, LIST(1, 2048), LIST(1, 1000), -TENON_E_FORMAT,
	      "of the arena, which has 1000");
	fails(ADDITION, LIST(7, -1, -1, 0, 0, 0, 576, 0), LIST(7, -1, -1, 0, 0, 0, 575, 0),
	      -TENON_E_FORMAT, "operator 0 (ethos-u) has inputs that overlap, at 0 and 575");
}

static void constants_have_the_size_of_their_tensor(void **state)
{
	(void)state;
	fails(CONVOLUTION, LIST(1, 496), LIST(1, 497), -TENON_E_FORMAT,
	      "is constant, and has 496 bytes of contents for 497");
	fails(CONVOLUTION, LIST(1, 496), LIST(1, 16), -TENON_E_FORMAT,
	      "has 496 bytes of contents for 16");
}

static void shapes_agree(void **state)
{
	(void)state;
	fails("tflite/data/reshape.tflite", LIST(2, 6, 20), LIST(2, 6, 21), -TENON_E_FORMAT,
	      "tensor 2 (\"t2\") has 126 elements, want 120 as of tensor 0");
	fails("tflite/data/pad.tflite", LIST(4, 2, 6, 7, 7), LIST(4, 2, 6, 7, 6), -TENON_E_FORMAT,
	      "has extent 6 in dimension 3, want 7");
	fails("tflite/data/concatenation_last.tflite", LIST(4, 2, 3, 4, 6), LIST(4, 2, 3, 4, 7),
	      -TENON_E_FORMAT, "has extent 7 in dimension 3, and its inputs together 6");
	fails("tflite/data/concatenation_last.tflite", LIST(4, 2, 3, 4, 6), LIST(4, 2, 3, 5, 6),
	      -TENON_E_FORMAT, "has extent 4 in dimension 2, want 5");
}

static void sizes_do_not_overflow(void **state)
{
	(void)state;
	fails("tflite/data/reshape.tflite", LIST(2, 6, 20), LIST(2, INT32_MAX, INT32_MAX),
	      -TENON_E_OVERFLOW, "2^60 bytes");
	fails("tflite/data/reshape.tflite", LIST(2, 6, 20), LIST(2, INT32_MAX, 1 << 29),
	      -TENON_E_NOMEM, "bytes at a time; at most");
	fails("tflite/data/reshape.tflite", LIST(2, 6, 20), LIST(2, 6, -20), -TENON_E_UNSUPPORTED,
	      "dimension 1 has a negative size");
}

static void parameters_are_checked(void **state)
{
	(void)state;
	fails("tflite/data/pad.tflite", LIST(0, 0, 1, 2, 0, 3, 2, 0), LIST(0, 0, -1, 4, 0, 3, 2, 0),
	      -TENON_E_FORMAT, "has -1 and 4 for dimension 1");
	fails("tflite/data/pad.tflite", LIST(0, 0, 1, 2, 0, 3, 2, 0),
	      LIST(0, 0, INT32_MAX, INT32_MAX, 0, 3, 2, 0), -TENON_E_FORMAT,
	      "has extent 6 in dimension 1, want 4294967297");
	fails("tflite/data/transpose.tflite", LIST(0, 3, 1, 2), LIST(0, 3, 1, 3), -TENON_E_FORMAT,
	      "is no order of 4 dimensions");
	fails("tflite/data/transpose.tflite", LIST(0, 3, 1, 2), LIST(0, 4, 1, 2), -TENON_E_FORMAT,
	      "is no order of 4 dimensions");
	fails("tflite/data/slice.tflite", LIST(1, 0, 2, 1), LIST(1, 0, 2, 3), -TENON_E_FORMAT,
	      "select 3 elements from 3 on of dimension 3, which has 5");
	fails("tflite/data/slice.tflite", LIST(1, 2, -1, 3), LIST(1, 2, -2, 3), -TENON_E_FORMAT,
	      "select -2 elements from 2 on of dimension 2");
}

/* as words: 1/256, 0.1, infinity, not a number, and -128 in 64 bits */
#define A_256TH	   0x3b800000
#define A_TENTH	   0x3dcccccd
#define INFINITE   0x7f800000
#define NOT_NUMBER 0x7fc00000

static void scales_are_those_of_the_operator(void **state)
{
	(void)state;
	fails("tflite/data/softmax.tflite", LIST(A_256TH), LIST(A_TENTH), -TENON_E_FORMAT,
	      "has another scale than 1/256");
	fails("tflite/data/softmax.tflite", LIST(A_TENTH), LIST(INFINITE), -TENON_E_FORMAT,
	      "has scale inf and zero point 5");
	fails("tflite/data/softmax.tflite", LIST(A_TENTH), LIST(0), -TENON_E_FORMAT, "has scale 0");
	fails("tflite/data/softmax.tflite", LIST(A_TENTH), LIST(0x20000000), -TENON_E_UNSUPPORTED,
	      "this is out of range");
	fails("tflite/data/softmax.tflite", LIST(-128, -1), LIST(-129, -1), -TENON_E_FORMAT,
	      "has scale 0.00390625 and zero point -129");
	fails("tflite/data/quantize.tflite", LIST(0x3f000000), LIST(NOT_NUMBER), -TENON_E_FORMAT,
	      "has scale nan");
	fails("tflite/data/requantize.tflite", LIST(A_TENTH), LIST(0x30000000),
	      -TENON_E_UNSUPPORTED, "they are too far apart");
}

/* Tensor 4 is computed behind the first operators, and in front of the one that computes tensor 5. */
static void tensors_are_computed_once_and_before_they_are_read(void **state)
{
	char *at;
	struct tenon_model *model;
	const struct list *inputs = LIST(1, 0), *outputs = LIST(1, 5);
	size_t i;
	bool early = false, twice = false;

	(void)state;
	/* every list {1, 0} in turn becomes {1, 4}, and every {1, 5} too: inputs and outputs among them */
	for (i = 0; i + 8 <= FILE_MOST; i += 4) {
		read_model("tflite/data/several.tflite");
		at = bytes + i;
		if (i + 8 > size || (memcmp(at, inputs->words, 8) && memcmp(at, outputs->words, 8)))
			continue;
		at[4] = 4;
		if (!open_model(&model))
			tenon_model_close(model);
		early |= message_has("is read before an operator computes it");
		twice |= message_has("is its output, and has contents already");
		tenon_error_clear();
	}
	assert_true(early);
	assert_true(twice);
}

/* Return: 0 if the model ran on inputs of zeros. */
static int run_on_zeros(struct tenon_model *model)
{
	struct tenon_tensor *tensor;
	struct tenon_value value;
	struct tenon_port port;
	size_t i, bytes;
	int err = 0;

	for (i = 0; i < tenon_model_input_count(model) && !err; i++) {
		assert_int_equal(tenon_model_input(model, i, &port), 0);
		err = tenon_tensor_create(port.shape, port.ndim, port.dtype, &tensor);
		if (err)
			break;
		assert_int_equal(tenon_tensor_bytes(&tensor->dl, &bytes), 0);
		memset(tensor->dl.data, 0, bytes);
		value = tenon_arg_object(tensor);
		err = tenon_model_set_input(model, i, &value);
		tenon_object_unref(tensor);
	}
	return err ? err : tenon_model_run(model);
}

/* Vela makes one of what sets the first values of variables, for an Ethos-U85. */
static void an_operator_of_an_npu_may_have_no_input_of_the_network(void **state)
{
	struct tenon_model *model;

	(void)state;
	read_model(CONVOLUTION);
	replace(LIST(5, 0, 1, 2, 3, 4), LIST(4, 0, 1, 2, 3, 4));
	assert_int_equal(open_model(&model), 0);
	assert_int_equal(run_on_zeros(model), 0);
	tenon_model_close(model);
}

/* Whatever the bytes are, opening and running ends. */
static void no_byte_breaks_anything(void **state)
{
	static const char *const names[] = { "several", "pad", "transpose", "concatenation_last" };
	static const int changes[] = { 1, 0x80, 0xff };
	struct tenon_model_memory memory;
	struct tenon_model *model;
	char path[128];
	size_t i, k, n, ran = 0;

	(void)state;
	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		snprintf(path, sizeof(path), "tflite/data/%s.tflite", names[n]);
		read_model(path);
		for (i = 0; i < size; i++)
			for (k = 0; k < sizeof(changes) / sizeof(changes[0]); k++) {
				const char old = bytes[i];

				bytes[i] = (char)(old ^ changes[k]);
				if (!open_model(&model)) {
					tenon_model_memory(model, &memory);
					/* of what is large nothing is to be learnt, but that it takes long */
					if (memory.activations < 1 << 20)
						ran += !run_on_zeros(model);
					tenon_model_close(model);
				}
				tenon_error_clear();
				bytes[i] = old;
			}
	}
	assert_true(ran > 100);
}

/* A setter in the file of a network, by its place. */
static void set(size_t at, uint16_t code, uint16_t value)
{
	assert_memory_equal(bytes + at, &code, sizeof(code));
	memcpy(bytes + at + sizeof(code), &value, sizeof(value));
}

/* Elements that all lie at one place need little memory, and a pool over a million of them for each of a million takes days. */
static void a_network_computes_for_a_bounded_time(void **state)
{
	static const struct {
		uint16_t at;
		uint16_t code;
		uint16_t value;
	} setters[] = {
		{ 0x3a4, 0x10b, 0xffff }, { 0x3a8, 0x10c, 0xffff }, { 0x3ac, 0x10a, 0xffff },
		{ 0x3b0, 0x104, 0 },	  { 0x40c, 0x112, 1023 },   { 0x410, 0x111, 1023 },
		{ 0x414, 0x11b, 0xffff }, { 0x418, 0x11c, 0xffff }, { 0x41c, 0x11a, 0xffff },
		{ 0x420, 0x113, 0 },	  { 0x444, 0x121, 1023 },   { 0x448, 0x120, 1023 },
		{ 0x44c, 0x122, 0 },
	};
	static const size_t strides[] = { 0x3b8, 0x3c0, 0x428, 0x430 };
	struct tenon_model *model;
	size_t i;

	(void)state;
	read_model("ethosu/data/u55_avgpool/vela.tflite");
	for (i = 0; i < sizeof(setters) / sizeof(setters[0]); i++)
		set(setters[i].at, setters[i].code, setters[i].value);
	for (i = 0; i < sizeof(strides) / sizeof(strides[0]); i++)
		memset(bytes + strides[i], 0, 4);
	assert_int_equal(open_model(&model), 0);
	assert_int_equal(run_on_zeros(model), -TENON_E_TIMEOUT);
	assert_error_has("more work than the run may take");
	tenon_model_close(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_tensors_exist),
		cmocka_unit_test(what_an_npu_keeps_is_set_and_left_in_its_place),
		cmocka_unit_test(two_variables_of_an_npu_do_not_become_one),
		cmocka_unit_test(an_operator_has_its_number_of_inputs),
		cmocka_unit_test(an_operator_of_an_npu_may_have_no_input_of_the_network),
		cmocka_unit_test(tensors_of_an_npu_lie_in_its_memory),
		cmocka_unit_test(constants_have_the_size_of_their_tensor),
		cmocka_unit_test(shapes_agree),
		cmocka_unit_test(sizes_do_not_overflow),
		cmocka_unit_test(parameters_are_checked),
		cmocka_unit_test(scales_are_those_of_the_operator),
		cmocka_unit_test(tensors_are_computed_once_and_before_they_are_read),
		cmocka_unit_test(a_network_computes_for_a_bounded_time),
		cmocka_unit_test(no_byte_breaks_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
