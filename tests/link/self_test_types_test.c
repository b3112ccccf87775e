/* SPDX-License-Identifier: MIT */
/* Outputs of all types beside those of a case: equal, within the tolerance, beyond it; and cases that do not fit the model. */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/self_test.h>

#define GRAPH "tests/interop/data/tvm-0.8/graph_mlp/graph.so"

/* a model that gives its input of four elements of a type */
static struct tenon_model *identity(const char *dtype)
{
	struct tenon_buffer json = TENON_BUFFER_INIT;
	struct tenon_module *library = NULL;
	struct tenon_model *model = NULL;

	tenon_buffer_printf(
		&json,
		"{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]},{\"op\":\"tvm_op\","
		"\"name\":\"same\",\"attrs\":{\"num_outputs\":\"1\",\"num_inputs\":\"1\","
		"\"flatten_data\":\"0\",\"func_name\":\"__nop\"},\"inputs\":[[0,0,0]]}],"
		"\"arg_nodes\":[0],\"heads\":[[1,0,0]],\"node_row_ptr\":[0,1,2],\"attrs\":{"
		"\"dltype\":[\"list_str\",[\"%s\",\"%s\"]],\"storage_id\":[\"list_int\",[0,0]],"
		"\"shape\":[\"list_shape\",[[4],[4]]]}}",
		dtype, dtype);
	assert_int_equal(tenon_module_load(GRAPH, &library), 0);
	if (tenon_model_open_graph(library, (struct tenon_slice){ json.data, json.size }, NULL,
				   NULL, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(library);
	tenon_buffer_fini(&json);
	return model;
}

static const int64_t four[] = { 4 }, two_by_two[] = { 2, 2 };

static struct tenon_case_value value_of(const char *dtype, const void *data, size_t size)
{
	struct tenon_case_value v = { .ndim = 1, .shape = four, .data = { data, size } };

	assert_int_equal(tenon_dtype_parse(tenon_slice_of(dtype), &v.dtype), 0);
	return v;
}

static struct tenon_case case_of(const struct tenon_case_value *in,
				 const struct tenon_case_value *out)
{
	return (struct tenon_case){ .size = sizeof(struct tenon_case),
				    .name = tenon_slice_of("four"),
				    .inputs = in,
				    .input_count = 1,
				    .outputs = out,
				    .output_count = 1 };
}

/* Run a self-test that wants @want of a model that returns @got. Return: tenon_self_test()'s, 1 if they differ; @why says where. */
static int compare(const char *dtype, const void *got, const void *want, size_t size,
		   const struct tenon_case *tolerance, struct tenon_buffer *why)
{
	const struct tenon_case_value in = value_of(dtype, got, size);
	const struct tenon_case_value out = value_of(dtype, want, size);
	struct tenon_case c = case_of(&in, &out);
	struct tenon_model *model = identity(dtype);
	int result;

	c.rtol = tolerance->rtol;
	c.atol = tolerance->atol;
	c.steps = tolerance->steps;
	why->size = 0;
	result = tenon_self_test(model, &c, NULL, why);
	tenon_model_close(model);
	return result;
}

/* two numbers of a type, how far they may be from each other, and what is said where they may not */
struct pair {
	const char *dtype;
	size_t size;
	uint64_t got, want;
	struct tenon_case tolerance;
	const char *said;
};

static const struct pair pairs[] = {
	{ "float16", 2, 0x3c00, 0x3c01, { .rtol = 1e-3 }, "first at 2: 1, expected 1.00097656" },
	{ "bfloat16", 2, 0x3f80, 0x3f81, { .atol = 0.01 }, "first at 2: 1, expected 1.0078125" },
	{ "float32", 4, 0x3f800000, 0x3fc00000, { .atol = 0.5 }, "first at 2: 1, expected 1.5" },
	{ "float64",
	  8,
	  0x3ff0000000000000,
	  0x4000000000000000,
	  { .rtol = 0.5 },
	  "first at 2: 1, expected 2" },
	{ "int8", 1, 0x80, 0x81, { .steps = 1 }, "first at 2: -128, expected -127" },
	{ "uint8", 1, 0xff, 0xfd, { .steps = 2 }, "first at 2: 255, expected 253" },
	{ "int16", 2, 0xffff, 1, { .steps = 2 }, "first at 2: -1, expected 1" },
	{ "uint32",
	  4,
	  0xffffffff,
	  0xfffffffe,
	  { .steps = 1 },
	  "first at 2: 4.2949673e+09, expected 4.29496729e+09" },
	{ "int64", 8, UINT64_MAX, 0, { .steps = 1 }, "first at 2: -1, expected 0" },
	{ "uint64", 8, UINT64_MAX, UINT64_MAX - 1, { .steps = 1 }, "largest difference 1;" },
};

static void numbers_may_be_as_far_apart_as_the_case_says(void **state)
{
	const struct tenon_case none = { 0 };
	struct tenon_buffer why = TENON_BUFFER_INIT;
	unsigned char got[32], want[32];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const struct pair *p = &pairs[i];

		for (k = 0; k < 4; k++) {
			memcpy(got + k * p->size, &p->got, p->size);
			memcpy(want + k * p->size, k == 2 ? &p->want : &p->got, p->size);
		}
		assert_int_equal(compare(p->dtype, got, got, 4 * p->size, &none, &why), 0);
		assert_int_equal(compare(p->dtype, got, want, 4 * p->size, &p->tolerance, &why), 0);
		assert_int_equal(compare(p->dtype, got, want, 4 * p->size, &none, &why), 1);
		if (!strstr(why.data, "differs in 1 of 4 elements") || !strstr(why.data, p->said))
			fail_msg("%s: %s; want %s", p->dtype, why.data, p->said);
	}
	tenon_buffer_fini(&why);
}

static void what_is_no_number_is_like_itself_alone(void **state)
{
	static const uint32_t nan[] = { 0, 0, 0x7fc00000, 0 }, zeros[4] = { 0 };
	static const struct tenon_case far = { .atol = 1e30, .rtol = 1e30 };
	static const unsigned char truth[] = { 1, 0, 1, 1 }, other[] = { 1, 0, 0, 1 };
	struct tenon_buffer why = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(compare("float32", nan, nan, sizeof(nan), &far, &why), 0);
	assert_int_equal(compare("float32", nan, zeros, sizeof(nan), &far, &why), 1);
	assert_int_equal(compare("float32", zeros, nan, sizeof(nan), &far, &why), 1);
	assert_int_equal(compare("bool", truth, truth, sizeof(truth), &far, &why), 0);
	assert_int_equal(compare("bool", truth, other, sizeof(truth), &far, &why), 1);
	assert_non_null(strstr(why.data, "first at 2: 1, expected 0"));
	tenon_buffer_fini(&why);
}

static void an_output_of_another_form_is_told(void **state)
{
	static const float numbers[4];
	const struct tenon_case_value in = value_of("float32", numbers, sizeof(numbers));
	struct tenon_case_value out = in;
	const struct tenon_case c = case_of(&in, &out);
	struct tenon_model *model = identity("float32");
	struct tenon_buffer why = TENON_BUFFER_INIT;

	(void)state;
	out.ndim = 2;
	out.shape = two_by_two;
	assert_int_equal(tenon_self_test(model, &c, NULL, &why), 1);
	assert_string_equal(why.data, "output 0: 4xfloat32 where 2x2xfloat32 is expected\n");
	out = value_of("int32", numbers, sizeof(numbers));
	why.size = 0;
	assert_int_equal(tenon_self_test(model, &c, NULL, &why), 1);
	assert_string_equal(why.data, "output 0: 4xfloat32 where 4xint32 is expected\n");
	tenon_buffer_fini(&why);
	tenon_model_close(model);
}

static void a_case_of_another_model_fails_with_its_name(void **state)
{
	static const float numbers[4];
	struct tenon_case_value in = value_of("float32", numbers, sizeof(numbers)), out = in;
	struct tenon_case c = case_of(&in, &out);
	struct tenon_model *model = identity("float32");
	struct tenon_buffer why = TENON_BUFFER_INIT;

	(void)state;
	in.name = tenon_slice_of("y");
	assert_true(tenon_self_test(model, &c, NULL, &why) < 0);
	assert_error_has("case four");
	in.name = tenon_slice_of("x");
	out.name = tenon_slice_of("z");
	assert_true(tenon_self_test(model, &c, NULL, &why) < 0);
	assert_error_has("case four");
	out.name = (struct tenon_slice){ NULL, 0 };
	in.dtype = tenon_dtype(TENON_DTYPE_INT, 32, 1);
	assert_true(tenon_self_test(model, &c, NULL, &why) < 0);
	assert_error_has("case four");
	tenon_buffer_fini(&why);
	tenon_model_close(model);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_may_be_as_far_apart_as_the_case_says),
		cmocka_unit_test(what_is_no_number_is_like_itself_alone),
		cmocka_unit_test(an_output_of_another_form_is_told),
		cmocka_unit_test(a_case_of_another_model_fails_with_its_name),
	};

#ifndef __x86_64__
	print_message("the recorded module is for x86-64\n");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
