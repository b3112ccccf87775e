/* SPDX-License-Identifier: MIT */
/* Graphs for oneDNN: what they compute, and what is refused in them. */
#include "tests/unit/dnnl_graph.h"

#include <stdio.h>

#include "driver/dnnl/dnnl_library.h"

static void need_library(void)
{
	if (!dnnl_library())
		return;
	print_message("%s\n", tenon_error_message());
	tenon_error_clear();
	skip();
}

static int call(struct tenon_module *m, const float *in, int64_t *in_shape, int in_ndim, float *out,
		int64_t *out_shape, int out_ndim)
{
	const DLDataType f32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	DLTensor a = tenon_dltensor((void *)(uintptr_t)in, in_shape, in_ndim, f32);
	DLTensor b = tenon_dltensor(out, out_shape, out_ndim, f32);
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	int err;

	assert_int_equal(tenon_module_get_function(m, "f", &f), 0);
	err = tenon_call(f, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b));
	tenon_object_unref(f);
	return err;
}

static void a_fused_convolution_computes(void **state)
{
	/* two channels of 3x3, one of which is the sum of all and the other its negative */
	static const char json[] = GRAPH(
		INPUT("[1, 1, 3, 3]") ", " CONSTANT("[2, 1, 3, 3]") ", " CONSTANT(
			"[2, 1, 1]") ", " KERNEL("dnnl.conv2d_bias_relu",
						 "[0, 0, 0], [1, 0, 0], [2, 0, 0]", "[1, 2, 3, 3]",
						 "\"padding\": [[\"1\", \"1\", \"1\", \"1\"]], "
						 "\"strides\": [[\"1\", \"1\"]], "
						 "\"groups\": [[\"1\"]], \"data_layout\": "
						 "[[\"NCHW\"]], \"kernel_layout\": [[\"OIHW\"]], "
						 "\"out_layout\": [[\"\"]], "),
		"0, 1, 2", "3");
	static const float in[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, bias[2] = { 0.5F, 60 };
	int64_t shapes[2][4] = { { 2, 1, 3, 3 }, { 2, 1, 1 } }, x[] = { 1, 1, 3, 3 },
		y[] = { 1, 2, 3, 3 };
	float weights[18], out[18];
	const float *values[] = { weights, bias };
	struct tenon_module *m;
	int i, round;

	(void)state;
	need_library();
	for (i = 0; i < 18; i++)
		weights[i] = i < 9 ? 1 : -1;
	m = module_of(json, 2);
	assert_int_equal(call(m, in, x, 4, out, y, 4), -TENON_E_CALL);
	assert_error_has("call __init_f first");
	assert_int_equal(initialise(m, shapes, values, 2), 0);
	for (round = 0; round < 2; round++) {
		memset(out, 0, sizeof(out));
		assert_int_equal(call(m, in, x, 4, out, y, 4), 0);
		/* the corner sees four values, the middle all nine */
		assert_float_equal(out[0], 1 + 2 + 4 + 5 + 0.5F, 1e-5);
		assert_float_equal(out[4], 45.5F, 1e-5);
		assert_float_equal(out[9 + 0], 60 - 12, 1e-5);
		assert_float_equal(out[9 + 4], 60 - 45, 1e-5);
	}
	tenon_object_unref(m);
}

static void the_last_extent_of_a_pooling_may_be_rounded_up(void **state)
{
	static const char json[] = GRAPH(
		INPUT("[1, 1, 4, 4]") ", " KERNEL(
			"nn.max_pool2d", "[0, 0, 0]", "[1, 1, 2, 2]",
			"\"pool_size\": [[\"3\", \"3\"]], \"strides\": [[\"2\", \"2\"]], "
			"\"padding\": [[\"0\", \"0\", \"0\", \"0\"]], \"layout\": [[\"NCHW\"]], "),
		"0", "1");
	int64_t x[] = { 1, 1, 4, 4 }, y[] = { 1, 1, 2, 2 };
	struct tenon_module *m;
	float in[16], out[4];
	int i;

	(void)state;
	need_library();
	for (i = 0; i < 16; i++)
		in[i] = (float)-i;
	m = module_of(json, 0);
	assert_int_equal(call(m, in, x, 4, out, y, 4), 0);
	assert_float_equal(out[0], 0, 0);
	assert_float_equal(out[1], -2, 0);
	assert_float_equal(out[3], -10, 0);
	tenon_object_unref(m);
}

/* What is wrong with a graph is said when it is read, or when it is first called. */
static void refused_at_load(const char *json, const char *words)
{
	struct tenon_module *m = NULL;

	assert_true(load_graph(json, 0, &m) < 0);
	assert_null(m);
	assert_error_has(words);
}

static void a_graph_that_breaks_the_format_is_refused(void **state)
{
	(void)state;
	refused_at_load("", "");
	refused_at_load("[]", "");
	refused_at_load("{\"nodes\": [], \"heads\": []}", "one is missing");
	refused_at_load(GRAPH("{\"op\": \"input\"}", "0", "0"), "without op and attrs");
	refused_at_load(GRAPH("{\"op\": \"inptu\"}", "0", "0"), "want input, const or kernel");
	refused_at_load(GRAPH(INPUT("[1, -2]"), "0", "0"), "an extent");
	refused_at_load(GRAPH(INPUT("[2000000000, 2000000000, 2000000000]"), "0", "0"),
			"too large");
	refused_at_load(GRAPH(INPUT("[1,1,1,1,1,1,1,1,1,1,1,1,1]"), "0", "0"), "13 dimensions");
	refused_at_load(GRAPH(INPUT("[1]") ", " KERNEL("abs", "[1, 0, 0]", "[1]", ""), "0", "1"),
			"a node");
	refused_at_load(GRAPH(INPUT("[1]") ", " KERNEL("abs", "[0, 1, 0]", "[1]", ""), "0", "1"),
			"an output");
	refused_at_load(GRAPH(INPUT("[1]"), "0, 0", "0"), "twice");
	refused_at_load(GRAPH(INPUT("[1]") ", " CONSTANT("[1]"), "0, 1", "0"),
			"0 names for 1 constants");
}

static void refused_at_call(const char *json, const char *words)
{
	struct tenon_module *m = module_of(json, 0);
	int64_t shape[] = { 1, 1, 2, 2 };
	float in[4] = { 0 }, out[4];

	assert_true(call(m, in, shape, 4, out, shape, 4) < 0);
	assert_error_has(words);
	tenon_object_unref(m);
}

#define ONE(name, attrs)                                                                           \
	GRAPH(INPUT("[1, 1, 2, 2]") ", " KERNEL(name, "[0, 0, 0]", "[1, 1, 2, 2]", attrs), "0", "1")

static void an_operator_that_cannot_be_made_is_named(void **state)
{
	(void)state;
	need_library();
	refused_at_call(ONE("nn.fft", ""), "node 1, nn.fft: this operator is not supported");
	refused_at_call(ONE("nn.conv2d", ""), "1 inputs, want 2");
	refused_at_call(ONE("nn.batch_norm", ""), "1 inputs, want 5");
	refused_at_call(ONE("nn.softmax", "\"axis\": [[\"7\"]], "), "axis 7 of 4 dimensions");
	refused_at_call(ONE("nn.max_pool2d", "\"strides\": [[\"0\", \"0\"]], "), "is 0");
	refused_at_call(ONE("nn.max_pool2d", "\"strides\": [[\"-1\", \"1\"]], "), "is negative");
	refused_at_call(ONE("nn.max_pool2d", "\"strides\": [[\"1\", \"1\", \"1\"]], "), "3 values");
	refused_at_call(ONE("nn.max_pool2d", "\"pool_size\": [[\"9999999999\"]], "),
			"no integer of 32 bits");
	refused_at_call(ONE("nn.max_pool2d", "\"pool_size\": [[\"1000000\"]], "), "oneDNN");
	refused_at_call(ONE("nn.max_pool2d", "\"layout\": [[\"NCHW4c\"]], "), "layout \"NCHW4c\"");
	refused_at_call(ONE("nn.max_pool2d", "\"layout\": [[\"NCHH\"]], "), "layout \"NCHH\"");
	refused_at_call(ONE("clip", "\"a_min\": [[\"low\"]], "), "is no number");
	refused_at_call(GRAPH(INPUT("[1, 1, 2, 2]") ", " KERNEL("add", "[0, 0, 0], [0, 0, 0]",
								"[1, 1, 3, 2]", ""),
			      "0", "1"),
			"");
	refused_at_call(GRAPH(INPUT("[1, 1, 2, 2]") ", " KERNEL("reshape", "[0, 0, 0]", "[5]", ""),
			      "0", "1"),
			"16 bytes, want 20");
	refused_at_call(GRAPH(INPUT("[1, 1, 2, 2]") ", " KERNEL(
				      "concatenate", "[0, 0, 0], [0, 0, 0]", "[1, 1, 2, 2]", ""),
			      "0", "1"),
			"oneDNN");
}

static void computes(const char *json, const float *in, const float *wanted)
{
	struct tenon_module *m = module_of(json, 0);
	int64_t shape[] = { 1, 1, 2, 2 };
	float out[4] = { 0 };
	int i;

	assert_int_equal(call(m, in, shape, 4, out, shape, 4), 0);
	for (i = 0; i < 4; i++)
		assert_float_equal(out[i], wanted[i], 1e-5);
	tenon_object_unref(m);
}

static void hard_activations_have_their_bounds(void **state)
{
	static const float in[] = { -4, -1, 1, 4 };
	static const float sigmoid[] = { 0, 0.3F, 0.7F, 1 }, other[] = { 0, 0, 0.75F, 1 };
	static const float swish[] = { 0, -1.F / 3, 2.F / 3, 4 };

	(void)state;
	need_library();
	computes(ONE("hard_sigmoid", ""), in, sigmoid);
	computes(ONE("hard_sigmoid", "\"alpha\": [[\"0.5\"]], \"beta\": [[\"0.25\"]], "), in,
		 other);
	computes(ONE("hard_swish", ""), in, swish);
}

/* the mean, which a pooling of the whole computes, times each element */
static void a_vector_of_channels_is_broadcast(void **state)
{
	static const char json[] = GRAPH(
		INPUT("[1, 1, 2, 2]") ", " KERNEL(
			"nn.global_avg_pool2d", "[0, 0, 0]", "[1, 1, 1, 1]",
			"") ", " KERNEL("multiply", "[1, 0, 0], [0, 0, 0]", "[1, 1, 2, 2]", ""),
		"0", "2");
	static const float in[] = { 1, 2, 3, 6 }, wanted[] = { 3, 6, 9, 18 };

	(void)state;
	need_library();
	computes(json, in, wanted);
}

/* channels of a convolution by 1 x 1, which oneDNN computes in the order that it likes */
static void channels_come(const char *json, int64_t *out_shape, int of_channel, int of_position)
{
	static const float in[] = { 1, 2, 3, 4 };
	int64_t weights_shape[1][4] = { { 16, 1, 1, 1 } }, shape[] = { 1, 1, 2, 2 };
	float weights[16], out[64];
	const float *values[] = { weights };
	struct tenon_module *m = module_of(json, 1);
	int c, i;

	for (c = 0; c < 16; c++)
		weights[c] = (float)(c + 1);
	assert_int_equal(initialise(m, weights_shape, values, 1), 0);
	assert_int_equal(call(m, in, shape, 4, out, out_shape, 4), 0);
	for (c = 0; c < 16; c++)
		for (i = 0; i < 4; i++)
			assert_float_equal(out[c * of_channel + i * of_position],
					   in[i] * weights[c], 1e-5);
	tenon_object_unref(m);
}

static void the_caller_receives_the_layout_that_the_graph_names(void **state)
{
#define CHANNELS(shape, layout)                                                                    \
	GRAPH(INPUT("[1, 1, 2, 2]") ", " CONSTANT("[16, 1, 1, 1]") ", " KERNEL(                    \
		      "nn.conv2d", "[0, 0, 0], [1, 0, 0]", shape,                                  \
		      "\"data_layout\": [[\"NCHW\"]], \"out_layout\": [[\"" layout "\"]], "),      \
	      "0, 1", "2")
	int64_t first[] = { 1, 16, 2, 2 }, last[] = { 1, 2, 2, 16 };

	(void)state;
	need_library();
	channels_come(CHANNELS("[1, 16, 2, 2]", "NCHW"), first, 4, 1);
	channels_come(CHANNELS("[1, 2, 2, 16]", "NHWC"), last, 1, 16);
}

static void the_caller_receives_an_input_in_another_shape(void **state)
{
	static const float in[] = { 1, 2, 3, 6 };

	(void)state;
	need_library();
	computes(ONE("reshape", ""), in, in);
}

static void an_argument_of_another_size_is_refused(void **state)
{
	struct tenon_module *m = module_of(ONE("abs", ""), 0);
	int64_t shape[] = { 1, 1, 2, 2 }, small[] = { 3 };
	float in[4] = { -1, 2, -3, 4 }, out[4];

	(void)state;
	need_library();
	assert_int_equal(call(m, in, shape, 4, out, small, 1), -TENON_E_VALUE);
	assert_error_has("argument 1");
	assert_int_equal(call(m, in, shape, 4, out, shape, 4), 0);
	assert_float_equal(out[2], 3, 0);
	tenon_object_unref(m);
}

static void a_module_is_saved_with_its_bytes(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_module *m = module_of(ONE("abs", ""), 0), *again;

	(void)state;
	assert_int_equal(tenon_module_save(m, &b), 0);
	assert_int_equal(tenon_module_load_bytes("dnnl_json", slice_of(&b), &again), 0);
	tenon_object_unref(again);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

/* ---- each attribute, with what no graph should say */

#define LAID(name, inputs, shape, attrs)                                                           \
	"{\"symbol\": \"dnnl_f\", \"nodes\": [{\"op\": \"input\", \"name\": \"x\", \"attrs\": "    \
	"{\"dtype\": [[\"float32\"]], \"shape\": [[" shape "]]}}, {\"op\": \"kernel\", \"name\": " \
	"\"" name "\", \"inputs\": [" inputs "], \"attrs\": {" attrs "\"dtype\": "                 \
	"[[\"float32\"]], \"shape\": [[" shape "]]}}], \"arg_nodes\": [0], \"heads\": "            \
	"[[1, 0, 0]], \"node_row_ptr\": []}"

static const char *const operators[] = {
	"nn.conv1d",
	"nn.conv2d",
	"nn.conv3d",
	"nn.conv2d_transpose",
	"nn.dense",
	"nn.max_pool2d",
	"nn.avg_pool2d",
	"nn.global_avg_pool2d",
	"nn.batch_norm",
	"nn.layer_norm",
	"nn.softmax",
	"nn.batch_matmul",
	"nn.leaky_relu",
	"concatenate",
	"reshape",
	"nn.batch_flatten",
	"add",
	"subtract",
	"clip",
	"hard_sigmoid",
	"linear",
	"dnnl.dense_bias",
	"nn.max_pool3d",
	"dnnl.deconv2d_bias",
	"dnnl.conv2d_bias_sum_relu",
};

static const char *const keys[] = {
	"axis",	       "strides", "dilation",	 "padding",	"pool_size",  "groups",
	"layout",      "scale",	  "out_layout",	 "post_ops",	"post_alpha", "count_include_pad",
	"a_min",       "alpha",	  "activation",	 "data_layout", "epsilon",    "kernel_layout",
	"transpose_a", "sum_idx", "transpose_b",
};

static const char *const values[] = {
	"[[\"-1\"]]",
	"[[\"0\"]]",
	"[[\"2147483648\"]]",
	"[[\"99999999999999999999\"]]",
	"[[\"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\"]]",
	"[[\"3\", \"1\", \"1\", \"1\"]]",
	"[[\"nan\"]]",
	"[[\"True\"]]",
	"[[\"\"]]",
	"[[]]",
	"\"x\"",
	"[[{}]]",
	"[[null]]",
	"[[\"NHWC\"]]",
	"[[\"IOHW\"]]",
	"[[\"sum\", \"sum\"]]",
	"[[\"clip\", \"nn.fft\", \"nn.relu\"]]",
	"[[\"a text that is longer than each number and each name of a layout may be, by far\"]]",
};

static const char *const extents[] = {
	"[1, 1, 2, 2]",	      "[4]", "[2, 2]", "[1, 2, 2]", "[1, 1, 1, 2, 2]",
	"[1, 1, 1, 1, 2, 2]", "[]",  "[0]",    "[4, 0, 1]",
};

static const char *const inputs[] = {
	"[0, 0, 0]",
	"[0, 0, 0], [0, 0, 0]",
	"[0, 0, 0], [0, 0, 0], [0, 0, 0]",
	"[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]",
	"[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Load and call: it computes something, or an error says what is wrong. */
static void computes_or_tells(const char *operator, const char * from, const char *extent,
			      const char *key, const char *value)
{
	struct tenon_module *m = NULL;
	int64_t shape[] = { 1, 1, 2, 2 };
	char json[1024], attribute[256] = "";
	float in[4] = { 1, 2, 3, 4 }, out[4];
	int err;

	if (key)
		snprintf(attribute, sizeof(attribute), "\"%s\": %s, ", key, value);
	snprintf(json, sizeof(json), LAID("%s", "%s", "%s", "%s"), extent, operator, from,
		 attribute, extent);
	err = load_graph(json, 0, &m);
	if (!err)
		err = call(m, in, shape, 4, out, shape, 4);
	if (err > 0 || (err && !*tenon_error_message()))
		fail_msg("no error: %s", json);
	if (!err && *tenon_error_message())
		fail_msg("an error that is none, %s: %s", tenon_error_message(), json);
	tenon_error_clear();
	tenon_object_unref(m);
}

static void any_attribute_of_any_operator_is_used_or_refused(void **state)
{
	size_t o, k, v;

	(void)state;
	need_library();
	for (o = 0; o < COUNT(operators); o++) {
		for (k = 0; k < COUNT(keys); k++)
			for (v = (o + k) % 2; v < COUNT(values); v += 2)
				computes_or_tells(operators[o], inputs[(k + v) % 3 + (o == 8) * 2],
						  extents[o == 11  ? 3
							  : o == 4 ? 2
								   : 0],
						  keys[k], values[v]);
		for (k = 0; k < COUNT(extents); k++)
			for (v = 0; v < COUNT(inputs); v++)
				computes_or_tells(operators[o], inputs[v], extents[k], NULL, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fused_convolution_computes),
		cmocka_unit_test(the_last_extent_of_a_pooling_may_be_rounded_up),
		cmocka_unit_test(a_graph_that_breaks_the_format_is_refused),
		cmocka_unit_test(an_operator_that_cannot_be_made_is_named),
		cmocka_unit_test(any_attribute_of_any_operator_is_used_or_refused),
		cmocka_unit_test(hard_activations_have_their_bounds),
		cmocka_unit_test(a_vector_of_channels_is_broadcast),
		cmocka_unit_test(the_caller_receives_the_layout_that_the_graph_names),
		cmocka_unit_test(the_caller_receives_an_input_in_another_shape),
		cmocka_unit_test(an_argument_of_another_size_is_refused),
		cmocka_unit_test(a_module_is_saved_with_its_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
