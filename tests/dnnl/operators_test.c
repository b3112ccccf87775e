/* SPDX-License-Identifier: MIT */
/* Graphs of a JSON runtime: attributes, memory by lifetime, and what oneDNN makes of operators. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/threads.h>

#include "runtime/byoc/dnnl/dnnl_plan.h"
#include "runtime/byoc/json_attributes.h"
#include "tests/fuzz/random.h"
#include "tests/unit/suite.h"

#define FLOAT(shape) "\"dtype\": [[\"float32\"]], \"shape\": [[" shape "]]"
#define INPUT(shape) "{\"op\": \"input\", \"name\": \"x\", \"attrs\": {" FLOAT(shape) "}},"

static void read_graph(struct byoc_graph *g, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void read_graph(struct byoc_graph *g, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (byoc_graph_read(tenon_slice_of(text), "graph", g))
		print_error("%s\n", tenon_error_message());
	assert_int_equal(g->text != NULL && g->head_count, 1);
}

/* A graph of one operator: @count inputs with extents, the result, and attributes that follow. */
static void read_operator(struct byoc_graph *g, const char *name, const char *const *inputs,
			  uint32_t count, const char *output, const char *attrs)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint32_t i;

	tenon_buffer_printf(&b, "{\"nodes\": [");
	for (i = 0; i < count; i++)
		tenon_buffer_printf(&b, INPUT("%s"), inputs[i]);
	tenon_buffer_printf(&b, "{\"op\": \"kernel\", \"name\": \"%s\", \"inputs\": [", name);
	for (i = 0; i < count; i++)
		tenon_buffer_printf(&b, "%s[%u, 0, 0]", i ? ", " : "", i);
	tenon_buffer_printf(&b, "], \"attrs\": {" FLOAT("%s") "%s}}], \"arg_nodes\": [", output,
			    attrs);
	for (i = 0; i < count; i++)
		tenon_buffer_printf(&b, "%s%u", i ? ", " : "", i);
	tenon_buffer_printf(&b, "], \"heads\": [[%u, 0, 0]]}", count);
	read_graph(g, "%s", b.data);
	tenon_buffer_fini(&b);
}

static void need_onednn(void)
{
	if (!dnnl_library())
		return;
	printf("# %s\n", tenon_error_message());
	tenon_error_clear();
	skip();
}

/* Plan a graph; with @data, run it. */
static int plan_and_run(const struct byoc_graph *g, void *const *data)
{
	struct dnnl_plan p;
	struct dnnl_run *r = NULL;
	int err = dnnl_plan_make(g, NULL, &p);

	if (!err && data) {
		err = dnnl_run_create(&p, &r);
		if (!err)
			err = dnnl_run(r, data);
		dnnl_run_destroy(r);
	}
	dnnl_plan_fini(&p);
	return err;
}

static void operator_is_refused(const char *name, const char *const *inputs, uint32_t count,
				const char *output, const char *attrs, const char *why)
{
	struct byoc_graph g;

	read_operator(&g, name, inputs, count, output, attrs);
	assert_int_not_equal(plan_and_run(&g, NULL), 0);
	assert_error_has(why);
	byoc_graph_fini(&g);
}

static void an_operator_gives_its_values(void **unused)
{
	const char *const inputs[] = { "[2, 3]", "[3]" };
	float x[6] = { 1, 2, 3, 4, 5, 6 }, y[3] = { 10, 20, 30 }, out[6];
	const float want[6] = { 11, 22, 33, 14, 25, 36 };
	struct byoc_graph g;

	(void)unused;
	need_onednn();
	read_operator(&g, "add", inputs, 2, "[2, 3]", "");
	assert_int_equal(plan_and_run(&g, (void *[]){ x, y, out }), 0);
	assert_memory_equal(out, want, sizeof(want));
	byoc_graph_fini(&g);
}

static void post_ops_are_applied_in_their_order(void **unused)
{
	const char *const inputs[] = { "[1, 2, 1, 1]", "[1, 2, 1, 1]", "[1, 1, 1, 1]" };
	float x[2] = { 1, 2 }, weights[2] = { 3, -4 }, addend[1] = { 4 }, out[1];
	struct byoc_graph g;

	(void)unused;
	need_onednn();
	/* (3 - 8 + 4) * -2 + 1 is 3, then at most 2.5 */
	read_operator(&g, "nn.conv2d", inputs, 3, "[1, 1, 1, 1]",
		      ", \"post_ops\": [[\"sum\", \"linear\", \"nn.relu\", \"clip\"]], "
		      "\"post_alpha\": [[\"0\", \"-2\", \"0\", \"-1\"]], "
		      "\"post_beta\": [[\"0\", \"1\", \"0\", \"2.5\"]]");
	assert_int_equal(plan_and_run(&g, (void *[]){ x, weights, addend, out }), 0);
	assert_true(out[0] == 2.5F);
	byoc_graph_fini(&g);
}

static void a_post_op_that_is_not_known_is_refused(void **unused)
{
	const char *const inputs[] = { "[1, 2]", "[3, 2]", "[1, 2]" };

	(void)unused;
	need_onednn();
	operator_is_refused("nn.dense", inputs, 2, "[1, 3]", ", \"post_ops\": [[\"cosh\"]]",
			    "post-op 0, cosh, is not supported");
	operator_is_refused("nn.dense", inputs, 2, "[1, 3]",
			    ", \"post_ops\": [[\"tanh\", \"sum\"]]",
			    "post-op 1, sum, is not supported");
	operator_is_refused("nn.dense", inputs, 3, "[1, 3]", ", \"post_ops\": [[\"sum\"]]",
			    "a sum of different shapes");
	operator_is_refused("nn.dense", inputs, 2, "[1, 3]", ", \"post_ops\": [[\"tanh\", 7]]",
			    "post_ops is no string");
	operator_is_refused("nn.dense", inputs, 2, "[1, 3]",
			    ", \"post_ops\": [[\"linear\"]], \"post_alpha\": [[\"much\"]]",
			    "\"much\" is no number");
}

/* The vectors have as many elements as the axis of the output, and oneDNN reads as many as that of the input. */
static void an_output_of_another_shape_is_refused(void **unused)
{
	const char *const norm[] = { "[1, 64, 2]", "[2]", "[2]", "[2]", "[2]" };
	const char *const one[] = { "[2, 3]" };

	(void)unused;
	need_onednn();
	operator_is_refused("nn.batch_norm", norm, 5, "[1, 2, 64]", "", "differ in shape");
	operator_is_refused("nn.softmax", one, 1, "[3, 2]", "", "differ in shape");
	operator_is_refused("nn.relu", one, 1, "[3, 2]", "", "differ in shape");
	operator_is_refused("reshape", one, 1, "[7]", "", "24 bytes, want 28");
}

static void an_output_that_no_operator_computes_is_refused(void **unused)
{
	struct byoc_graph g;

	(void)unused;
	need_onednn();
	read_graph(&g,
		   "{\"nodes\": [" INPUT(
			   "[2]") "{\"op\": \"kernel\", \"name\": \"nn.relu\", "
				  "\"inputs\": [[0, 0, 0]], \"attrs\": {\"dtype\": [[\"float32\", "
				  "\"float32\"]], \"shape\": [[[2], [2]]]}}], "
				  "\"arg_nodes\": [0], \"heads\": [[1, 1, 0]]}");
	assert_int_equal(plan_and_run(&g, NULL), -TENON_E_UNSUPPORTED);
	assert_error_has("output 0 is not computed");
	byoc_graph_fini(&g);
}

static void windows_that_do_not_fit_are_refused(void **unused)
{
	const char *const flat[] = { "[4]", "[4]" };
	const char *const image[] = { "[1, 1, 4, 4]", "[1, 1, 3, 3]" };

	(void)unused;
	need_onednn();
	operator_is_refused("nn.conv2d", flat, 2, "[4]", "", "1 dimensions, want 3 to 5");
	operator_is_refused("nn.max_pool2d", flat, 1, "[4]", "", "1 dimensions, want 3 to 5");
	operator_is_refused("nn.conv2d", image, 2, "[1, 1, 2, 2]",
			    ", \"strides\": [[\"0\", \"0\"]]", "a stride or dilation is 0");
	operator_is_refused("nn.conv2d", image, 2, "[1, 1, 2, 2]", ", \"padding\": [[\"-1\"]]",
			    "padding is negative");
	operator_is_refused("nn.conv2d", image, 2, "[1, 1, 2, 2]",
			    ", \"strides\": [[\"1\", \"1\", \"1\"]]", "strides has 3 values");
	operator_is_refused("nn.conv2d", image, 2, "[1, 1, 2, 2]",
			    ", \"data_layout\": [[\"NCHC\"]]", "layout \"NCHC\"");
	operator_is_refused("nn.conv2d", image, 2, "[1, 1, 3, 3]", "", "a convolution");
}

static int threads_of_this_process(void)
{
	DIR *d = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* OpenMP keeps the threads that it has started, so this comes before what starts some. */
static void small_constants_are_laid_out_without_other_threads(void **unused)
{
	float *weights = calloc(64 * 64 * 9, sizeof(*weights));
	struct dnnl_plan plan;
	struct byoc_graph g;
	int before;

	(void)unused;
	need_onednn();
	assert_non_null(weights);
	read_graph(&g, "{\"nodes\": [" INPUT(
			       "[1, 64, 56, 56]") "{\"op\": \"const\", \"name\": \"w\", "
						  "\"attrs\": {\"dtype\": [[\"float32\"]], "
						  "\"shape\": [[[64, 64, 3, 3]]]}}, "
						  "{\"op\": \"kernel\", \"name\": \"nn.conv2d\", "
						  "\"inputs\": [[0, 0, 0], [1, 0, 0]], \"attrs\": "
						  "{\"dtype\": [[\"float32\"]], "
						  "\"shape\": [[[1, 64, 56, 56]]], \"padding\": "
						  "[[\"1\", \"1\"]]}}], "
						  "\"arg_nodes\": [0, 1], \"heads\": [[2, 0, 0]]}");
	before = threads_of_this_process();
	assert_int_equal(tenon_parallel_configure(2, false), 0);
	assert_int_equal(dnnl_plan_make(&g, (void *[]){ weights }, &plan), 0);
	assert_int_equal(threads_of_this_process(), before);
	assert_true(plan.constants.expected > 0);
	dnnl_plan_fini(&plan);
	assert_int_equal(tenon_parallel_configure(0, false), 0);
	byoc_graph_fini(&g);
	free(weights);
}

/* OpenMP keeps the threads that it has started. */
static void onednn_has_no_more_threads_than_the_pool(void **unused)
{
	const char *const inputs[] = { "[1, 64, 56, 56]", "[64, 64, 3, 3]" };
	const size_t count = 64 * 56 * 56;
	float *x, *weights, *out;
	struct byoc_graph g;
	int before, set;

	(void)unused;
	need_onednn();
	x = calloc(count, sizeof(*x));
	out = calloc(count, sizeof(*out));
	weights = calloc(64 * 64 * 9, sizeof(*weights));
	assert_true(x && out && weights);
	before = threads_of_this_process();
	read_operator(&g, "nn.conv2d", inputs, 2, "[1, 64, 56, 56]",
		      ", \"padding\": [[\"1\", \"1\"]]");
	set = dnnl.threads ? dnnl.threads() : 0;
	assert_int_equal(tenon_parallel_configure(1, false), 0);
	assert_int_equal(plan_and_run(&g, (void *[]){ x, weights, out }), 0);
	assert_int_equal(threads_of_this_process(), before);
	assert_int_equal(dnnl.threads ? dnnl.threads() : 0, set);
	if (set > 1) {
		assert_int_equal(tenon_parallel_configure(2, false), 0);
		assert_int_equal(plan_and_run(&g, (void *[]){ x, weights, out }), 0);
		assert_int_equal(threads_of_this_process(), before + 1);
	}
	assert_int_equal(tenon_parallel_configure(0, false), 0);
	byoc_graph_fini(&g);
	free(x);
	free(out);
	free(weights);
}

/* ---- without oneDNN */

static void attributes_have_all_forms_that_tvm_writes(void **unused)
{
	static const char attrs[] =
		", \"strides\": [[\"2\", \"3\"]], \"padding\": [\"1\"], \"dilation\": 4, "
		"\"groups\": [[\"True\"]], \"axis\": \"-1\", \"epsilon\": [[\"0.5\"]], "
		"\"layout\": [[\"NHWC\"]], \"empty\": [[\"\"]], \"word\": [[\"two\"]]";
	const char *const inputs[] = { "[1]" };
	int64_t list[2], before[2], after[2];
	struct byoc_graph g;
	struct byoc_reader r = { .g = &g };
	int to[4];

	(void)unused;
	read_operator(&g, "dnnl.conv2d_bias", inputs, 1, "[1]", attrs);
	r.n = &g.nodes[1];
	byoc_list(&r, "strides", 2, 1, list);
	assert_int_equal(list[0] * 10 + list[1], 23);
	byoc_list(&r, "dilation", 2, 1, list);
	assert_int_equal(list[0] * 10 + list[1], 44);
	byoc_list(&r, "missing", 2, 7, list);
	assert_int_equal(list[0] * 10 + list[1], 77);
	byoc_padding(&r, 2, before, after);
	assert_true(before[0] == 1 && before[1] == 1 && after[0] == 1 && after[1] == 1);
	assert_int_equal(byoc_integer(&r, "groups", 0), 1);
	assert_int_equal(byoc_integer(&r, "empty", 9), 9);
	assert_int_equal(byoc_axis(&r, 0, 4), 3);
	assert_true(byoc_real(&r, "epsilon", 0) == 0.5F);
	byoc_data_axes(&r, "layout", NULL, 4, to);
	assert_true(to[0] == 0 && to[1] == 2 && to[2] == 3 && to[3] == 1);
	assert_true(byoc_named(&r, "_bias") && !byoc_named(&r, "_sum"));
	assert_true(byoc_has(&r, "word") && !byoc_has(&r, "empty"));
	assert_int_equal(r.err, 0);

	assert_int_equal(byoc_integer(&r, "word", 5), 5);
	assert_int_equal(r.err, -TENON_E_VALUE);
	/* the first failure stays, and what follows gives defaults */
	assert_int_equal(byoc_integer(&r, "groups", 0), 0);
	byoc_want(&r, 3);
	assert_int_equal(r.err, -TENON_E_VALUE);
	assert_error_has("\"two\" is no integer");
	byoc_graph_fini(&g);
}

#define BUFFERS 60

static void buffers_of_one_time_do_not_overlap(void **unused)
{
	struct byoc_buffer b[BUFFERS];
	struct random seed = { 1 };
	size_t total, sum;
	int round, i, k;

	(void)unused;
	for (round = 0; round < 200; round++) {
		sum = 0;
		for (i = 0; i < BUFFERS; i++) {
			b[i] = (struct byoc_buffer){ .bytes = random_below(&seed, 1000) };
			b[i].first = (uint32_t)(random_below(&seed, 40));
			b[i].last = b[i].first + (uint32_t)(random_below(&seed, 10));
			sum += b[i].bytes + BYOC_ALIGNMENT;
		}
		assert_int_equal(byoc_place_buffers(b, BUFFERS, &total), 0);
		assert_true(total < sum);
		for (i = 0; i < BUFFERS; i++) {
			assert_true(b[i].offset % BYOC_ALIGNMENT == 0 &&
				    b[i].offset + b[i].bytes <= total);
			for (k = 0; k < i; k++)
				assert_true(b[i].last < b[k].first || b[k].last < b[i].first ||
					    b[i].offset + b[i].bytes <= b[k].offset ||
					    b[k].offset + b[k].bytes <= b[i].offset);
		}
	}
}

static void buffers_that_no_memory_holds_are_refused(void **unused)
{
	struct byoc_buffer one = { .bytes = SIZE_MAX - 10 };
	struct byoc_buffer two[] = { { .bytes = SIZE_MAX / 4 }, { .bytes = SIZE_MAX / 4 } };
	size_t total;

	(void)unused;
	assert_int_equal(byoc_place_buffers(&one, 1, &total), -TENON_E_OVERFLOW);
	assert_int_equal(byoc_place_buffers(two, 2, &total), -TENON_E_OVERFLOW);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_have_all_forms_that_tvm_writes),
		cmocka_unit_test(buffers_of_one_time_do_not_overlap),
		cmocka_unit_test(buffers_that_no_memory_holds_are_refused),
		cmocka_unit_test(small_constants_are_laid_out_without_other_threads),
		cmocka_unit_test(onednn_has_no_more_threads_than_the_pool),
		cmocka_unit_test(an_operator_gives_its_values),
		cmocka_unit_test(post_ops_are_applied_in_their_order),
		cmocka_unit_test(a_post_op_that_is_not_known_is_refused),
		cmocka_unit_test(an_output_of_another_shape_is_refused),
		cmocka_unit_test(an_output_that_no_operator_computes_is_refused),
		cmocka_unit_test(windows_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
