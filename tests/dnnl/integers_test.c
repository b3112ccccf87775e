/* SPDX-License-Identifier: MIT */
/* Products of 8-bit integers on oneDNN, compared with sums of integers, and attributes of them that are refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "runtime/byoc/dnnl/dnnl_plan.h"
#include "tests/fuzz/random.h"
#include "tests/unit/suite.h"

#define HIGH	5
#define WIDE	6
#define INPUTS	8
#define OUTPUTS 16
#define WINDOW	3

/* struct product - a convolution of a picture, channels last, or with @dense one of vectors */
struct product {
	bool dense;
	const char *source, *result; /* types */
	int zero, groups, step;
	bool scales, bias;
};

static void add_tensor(struct tenon_buffer *b, const char *op, const char *type, const char *shape)
{
	tenon_buffer_printf(b,
			    "{\"op\": \"%s\", \"name\": \"x\", \"attrs\": {\"dtype\": [[\"%s\"]], "
			    "\"shape\": [[%s]]}}, ",
			    op, type, shape);
}

/* A kernel behind @count tensors. */
static void add_kernel(struct tenon_buffer *b, const char *name, int count, const char *type,
		       const char *shape, const char *attrs)
{
	int i;

	tenon_buffer_printf(b, "{\"op\": \"kernel\", \"name\": \"%s\", \"inputs\": [", name);
	for (i = 0; i < count; i++)
		tenon_buffer_printf(b, "%s[%d, 0, 0]", i ? ", " : "", i);
	tenon_buffer_printf(b,
			    "], \"attrs\": {%s\"dtype\": [[\"%s\"]], \"shape\": [[%s]]}}], "
			    "\"arg_nodes\": [",
			    attrs, type, shape);
	for (i = 0; i < count; i++)
		tenon_buffer_printf(b, "%s%d", i ? ", " : "", i);
	tenon_buffer_printf(b, "], \"heads\": [[%d, 0, 0]]}", count);
}

/* The third tensor is a bias; the second and it are constants. */
static int run_graph(struct tenon_buffer *text, void *const *constants, void *const *data)
{
	struct dnnl_run *r = NULL;
	struct byoc_graph g;
	struct dnnl_plan p;
	int err;

	assert_int_equal(
		byoc_graph_read((struct tenon_slice){ text->data, text->size }, "graph", &g), 0);
	err = dnnl_plan_make(&g, constants, &p);
	if (!err && data) {
		err = dnnl_run_create(&p, &r);
		if (!err)
			err = dnnl_run(r, data);
		dnnl_run_destroy(r);
	}
	dnnl_plan_fini(&p);
	byoc_graph_fini(&g);
	tenon_buffer_fini(text);
	return err;
}

static void need_onednn(void)
{
	if (!dnnl_library() && dnnl_exact_bytes())
		return;
	printf("# no oneDNN that adds products of bytes exactly: %s\n", tenon_error_message());
	tenon_error_clear();
	skip();
}

/* ---- the product as it is defined */

static int extent(const struct product *k, int whole)
{
	return k->dense ? 1 : (whole - 1) / k->step + 1;
}

static const int8_t *row_of(const struct product *k, const int8_t *weights, int o)
{
	const int window = k->dense ? 1 : WINDOW * WINDOW;

	return weights + (size_t)o * (INPUTS / k->groups) * window;
}

static int element(const struct product *k, const void *x, int at)
{
	return *k->source == 'u' ? ((const uint8_t *)x)[at] : ((const int8_t *)x)[at];
}

static int sum_of(const struct product *k, const void *x, const int8_t *weights, int y, int z,
		  int o)
{
	const int each = INPUTS / k->groups, first = o / (OUTPUTS / k->groups) * each,
		  pad = k->dense ? 0 : 1;
	const int window = k->dense ? 1 : WINDOW;
	int i, row, column, above, left, sum = 0;

	for (i = 0; i < each; i++)
		for (row = 0; row < window; row++)
			for (column = 0; column < window; column++) {
				above = y * k->step + row - pad;
				left = z * k->step + column - pad;
				if (above < 0 || left < 0 || above >= HIGH || left >= WIDE)
					continue;
				sum += (element(k, x, (above * WIDE + left) * INPUTS + first + i) -
					k->zero) *
				       row_of(k, weights, o)[(i * window + row) * window + column];
			}
	return sum;
}

static void compare(const struct product *k, const void *out, int at, double want)
{
	if (!strcmp(k->result, "float32")) {
		assert_true(fabs((double)((const float *)out)[at] - want) <=
			    1e-4 + 1e-5 * fabs(want));
	} else if (!strcmp(k->result, "int32")) {
		assert_true(fabs(((const int32_t *)out)[at] - want) <= (k->scales || k->bias));
	} else if (!strcmp(k->result, "uint8")) {
		assert_true(fabs(((const uint8_t *)out)[at] - fmin(fmax(want, 0), 255)) <= 0.51);
	} else {
		assert_true(fabs(((const int8_t *)out)[at] - fmin(fmax(want, -128), 127)) <= 0.51);
	}
}

static void check_product(const struct product *k, struct random *seed)
{
	const int rows = extent(k, HIGH), columns = extent(k, WIDE);
	struct tenon_buffer b = TENON_BUFFER_INIT, attrs = TENON_BUFFER_INIT;
	int8_t weights[OUTPUTS * INPUTS * WINDOW * WINDOW];
	float bias[OUTPUTS], scales[OUTPUTS];
	uint8_t x[HIGH * WIDE * INPUTS];
	float out[HIGH * WIDE * OUTPUTS];
	char shape[64];
	double want;
	int i, at;

	for (i = 0; i < (int)sizeof(x); i++)
		x[i] = (uint8_t)random_below(seed, 256);
	for (i = 0; i < (int)sizeof(weights); i++)
		weights[i] = (int8_t)random_below(seed, 256);
	tenon_buffer_printf(&attrs, "\"zero_point\": [[\"%d\"]], ", k->zero);
	if (k->scales)
		tenon_buffer_printf(&attrs, "\"scales\": [[");
	for (i = 0; i < OUTPUTS; i++) {
		scales[i] = k->scales ? (float)(1 + i) / 4096 : 1;
		bias[i] = k->bias ? (float)i - 7.25F : 0;
		if (k->scales)
			tenon_buffer_printf(&attrs, "%s\"%.9g\"", i ? ", " : "", (double)scales[i]);
	}
	if (k->scales)
		tenon_buffer_printf(&attrs, "]], ");
	if (!k->dense)
		tenon_buffer_printf(&attrs,
				    "\"padding\": [[\"1\", \"1\"]], \"strides\": [[\"%d\", "
				    "\"%d\"]], \"groups\": "
				    "[[\"%d\"]], \"data_layout\": [[\"NHWC\"]], ",
				    k->step, k->step, k->groups);
	tenon_buffer_printf(&b, "{\"nodes\": [");
	snprintf(shape, sizeof(shape), k->dense ? "[1, %d]" : "[1, 5, 6, %d]", INPUTS);
	add_tensor(&b, "input", k->source, shape);
	snprintf(shape, sizeof(shape), k->dense ? "[16, %d]" : "[16, %d, 3, 3]",
		 INPUTS / k->groups);
	add_tensor(&b, "const", "int8", shape);
	if (k->bias)
		add_tensor(&b, "const", "float32", "[16]");
	snprintf(shape, sizeof(shape), k->dense ? "[%d, 16]" : "[1, %d, %d, 16]", rows, columns);
	if (k->dense)
		add_kernel(&b, k->bias ? "dnnl.dense_bias" : "nn.dense", 2 + k->bias, k->result,
			   shape, attrs.data);
	else
		add_kernel(&b, k->bias ? "dnnl.conv2d_bias" : "nn.conv2d", 2 + k->bias, k->result,
			   shape, attrs.data);
	tenon_buffer_fini(&attrs);
	if (run_graph(&b, (void *[]){ weights, bias }, (void *[]){ x, out })) {
		print_error("%s\n", tenon_error_message());
		fail();
	}
	for (at = 0; at < rows * columns * OUTPUTS; at++) {
		i = at % OUTPUTS;
		want = sum_of(k, x, weights, at / OUTPUTS / columns, at / OUTPUTS % columns, i);
		compare(k, out, at, (double)scales[i] * want + (double)bias[i]);
	}
}

static void all_results(struct product k)
{
	static const char *const types[] = { "float32", "int32", "uint8", "int8" };
	struct random seed = { 7 };
	size_t i;

	for (i = 0; i < 4; i++) {
		k.result = types[i];
		k.source = "uint8";
		check_product(&k, &seed);
		k.source = "int8";
		check_product(&k, &seed);
	}
}

static void a_product_is_the_sum_of_its_integers(void **unused)
{
	(void)unused;
	need_onednn();
	all_results((struct product){ .groups = 1, .step = 1 });
	all_results((struct product){ .groups = 1, .step = 2 });
	all_results((struct product){ .groups = 8, .step = 1 });
	all_results((struct product){ .dense = true, .groups = 1, .step = 1 });
}

static void scales_and_a_bias_are_applied(void **unused)
{
	(void)unused;
	need_onednn();
	all_results((struct product){ .groups = 1, .step = 1, .scales = true });
	all_results((struct product){ .groups = 1, .step = 1, .scales = true, .bias = true });
	all_results((struct product){ .groups = 2, .step = 2, .scales = true, .bias = true });
	all_results((struct product){ .groups = 1, .step = 1, .bias = true });
	all_results((struct product){
		.dense = true, .groups = 1, .step = 1, .scales = true, .bias = true });
}

static void a_zero_point_is_taken_from_what_is_in_the_picture(void **unused)
{
	(void)unused;
	need_onednn();
	all_results((struct product){ .groups = 1, .step = 1, .zero = 101 });
	all_results((struct product){
		.groups = 1, .step = 2, .zero = 3, .scales = true, .bias = true });
	all_results((struct product){ .groups = 8, .step = 1, .zero = 127 });
}

/* ---- what is refused */

static void is_refused(const char *const *types, int count, const char *name, const char *result,
		       const char *attrs, const char *why)
{
	static const char *const shapes[] = { "[1, 4, 4, 4]", "[4, 4, 1, 1]", "[4]",
					      "[1, 4, 4, 4]" };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	int8_t weights[16] = { 1 };
	int i;

	tenon_buffer_printf(&b, "{\"nodes\": [");
	for (i = 0; i < count; i++)
		add_tensor(&b, i == 1 ? "const" : "input", types[i], shapes[i]);
	add_kernel(&b, name, count, result, "[1, 4, 4, 4]", attrs);
	assert_int_not_equal(run_graph(&b, (void *[]){ weights }, NULL), 0);
	assert_error_has(why);
}

static void types_that_do_not_go_together_are_refused(void **unused)
{
	const char *const bytes[] = { "uint8", "int8", "float32", "float32" };
	const char *const unsigned_weights[] = { "uint8", "uint8" };
	const char *const float_weights[] = { "int8", "float32" };
	const char *const float_source[] = { "float32", "int8" };
	const char *const words[] = { "int32", "int8" };
	const char *const whole_bias[] = { "uint8", "int8", "int32" };

	(void)unused;
	need_onednn();
	is_refused(unsigned_weights, 2, "nn.conv2d", "int32", "", "weights are uint8, want int8");
	is_refused(float_weights, 2, "nn.conv2d", "int32", "", "weights are float32, want int8");
	is_refused(float_source, 2, "nn.conv2d", "float32", "", "int8 where float32 is wanted");
	is_refused(words, 2, "nn.conv2d", "int32", "", "int32 where float32 is wanted");
	is_refused(whole_bias, 3, "dnnl.conv2d_bias", "int32", "",
		   "input 2 is int32, want float32");
	is_refused(bytes, 2, "nn.conv2d_transpose", "int32", "", "uint8 where float32 is wanted");
	is_refused(bytes, 1, "nn.relu", "uint8", "", "uint8 where float32 is wanted");
	is_refused(bytes, 1, "reshape", "float32", "", "uint8 where float32 is wanted");
	is_refused(bytes, 4, "dnnl.conv2d_bias_sum", "uint8", "", "a sum of type uint8");
}

static void numbers_that_cannot_be_are_refused(void **unused)
{
	const char *const bytes[] = { "uint8", "int8", "float32" }, *const with_sign[] = { "int8",
											   "int8" };

	(void)unused;
	need_onednn();
	is_refused(bytes, 2, "nn.conv2d", "int32", "\"zero_point\": [[\"256\"]], ",
		   "zero_point 256 is no number of");
	is_refused(bytes, 2, "nn.conv2d", "int32", "\"zero_point\": [[\"-1\"]], ",
		   "zero_point -1 is no number of");
	is_refused(with_sign, 2, "nn.conv2d", "int32", "\"zero_point\": [[\"128\"]], ",
		   "zero_point 128 is");
	is_refused(bytes, 2, "nn.conv2d", "int32", "\"zero_point\": [[\"1\", \"1\"]], ",
		   "2 values");
	is_refused(bytes, 2, "nn.conv2d", "float32", "\"scales\": [[\"1\", \"1\", \"1\"]], ",
		   "scales has 3 values");
	is_refused(bytes, 2, "nn.conv2d", "float32", "\"scales\": [[\"1\", \"1\", \"0\", \"1\"]], ",
		   "scale 2 is 0");
	is_refused(bytes, 2, "nn.conv2d", "float32", "\"scales\": [[\"1e999\"]], ", "scale");
	is_refused(bytes, 2, "nn.conv2d", "float32", "\"scales\": [[\"1e-42\"]], ", "scale 0 is");
	is_refused(bytes, 2, "nn.conv2d", "float32", "\"scales\": [[\"nan\"]], ", "scale");
	is_refused(bytes, 2, "nn.conv2d", "float32", "\"scales\": [[\"all\"]], ",
		   "\"all\" is no number");
	if (!dnnl.version_3)
		is_refused(bytes, 3, "dnnl.conv2d_bias", "float32", "\"scales\": [[\"2\"]], ",
			   "no constant");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_product_is_the_sum_of_its_integers),
		cmocka_unit_test(scales_and_a_bias_are_applied),
		cmocka_unit_test(a_zero_point_is_taken_from_what_is_in_the_picture),
		cmocka_unit_test(types_that_do_not_go_together_are_refused),
		cmocka_unit_test(numbers_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
