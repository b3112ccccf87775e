/* SPDX-License-Identifier: MIT */
/*
 * Graphs of a oneDNN that fails: of both versions, each is loaded, initialised and called once for each call of oneDNN, and once for
 * each allocation, with that one failing. It ends with an error, can be done again right after, and nothing is lost.
 */
#include "tests/unit/dnnl_graph.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/dnnl/fake_dnnl.h"
#include "tests/nomem/failing_malloc.h"

#define CONSTANTS_MOST 4

struct row {
	const char *json;
	size_t constants;
	int64_t shapes[CONSTANTS_MOST][4];
};

#define X	    INPUT("[1, 1, 2, 2]")
#define SAME	    "[1, 1, 2, 2]"
#define X_IS(shape) X ", " KERNEL("reshape", "[0, 0, 0]", shape, "") ", "

static const struct row rows[] = {
	{ GRAPH(X ", " CONSTANT("[1, 1, 1, 1]") ", " CONSTANT("[1]") ", " KERNEL(
			"dnnl.conv2d_bias_sum_relu", "[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 0]",
			SAME, "\"data_layout\": [[\"NCHW\"]], "),
		"0, 1, 2", "3"),
	  2,
	  { { 1, 1, 1, 1 }, { 1 } } },
	{ GRAPH(X
		", " CONSTANT("[1, 1, 1, 1]") ", " KERNEL("abs", "[0, 0, 0]", SAME, "") ", " KERNEL(
			"nn.conv2d", "[0, 0, 0], [1, 0, 0], [2, 0, 0]", SAME,
			"\"post_ops\": [[\"sum\", \"nn.leaky_relu\", \"hard_sigmoid\", \"clip\"]], "
			"\"post_alpha\": [[\"0\", "
			"\"0.5\"]], \"out_layout\": [[\"NHWC\"]], "),
		"0, 1", "3"),
	  1,
	  { { 1, 1, 1, 1 } } },
	{ GRAPH(X ", " CONSTANT("[1, 1, 1, 1]") ", " KERNEL("nn.conv2d_transpose",
							    "[0, 0, 0], [1, 0, 0]", SAME,
							    "\"kernel_layout\": [[\"OIHW\"]], "),
		"0, 1", "2"),
	  1,
	  { { 1, 1, 1, 1 } } },
	{ GRAPH(X ", " CONSTANT("[2, 2]") ", " CONSTANT("[2]") ", " KERNEL(
			"reshape", "[0, 0, 0]", "[2, 2]",
			"") ", " KERNEL("dnnl.dense_bias_gelu", "[3, 0, 0], [1, 0, 0], [2, 0, 0]",
					"[2, 2]", "") ", " KERNEL("reshape", "[4, 0, 0]", SAME, ""),
		"0, 1, 2", "5"),
	  2,
	  { { 2, 2 }, { 2 } } },
	{ GRAPH(X_IS("[1, 2, 2]") KERNEL("nn.batch_matmul", "[1, 0, 0], [1, 0, 0]", "[1, 2, 2]",
					 "\"transpose_a\": [[\"True\"]], "),
		"0", "2"),
	  0,
	  { { 0 } } },
	{ GRAPH(X
		", " KERNEL("nn.avg_pool2d", "[0, 0, 0]", SAME,
			    "\"count_include_pad\": [[\"1\"]], \"pool_size\": [[\"1\", \"1\"]], "),
		"0", "1"),
	  0,
	  { { 0 } } },
	{ GRAPH(X ", " KERNEL("nn.global_max_pool2d", "[0, 0, 0]", "[1, 1, 1, 1]", ""), "0", "1"),
	  0,
	  { { 0 } } },
	{ GRAPH(X ", " KERNEL("nn.softmax", "[0, 0, 0]", SAME, "\"axis\": [[\"1\"]], "), "0", "1"),
	  0,
	  { { 0 } } },
	{ GRAPH(X ", " CONSTANT("[2]") ", " CONSTANT("[2]") ", " CONSTANT("[2]") ", " CONSTANT(
			"[2]") ", " KERNEL("nn.batch_norm",
					   "[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0]",
					   SAME, "\"axis\": [[\"2\"]], "),
		"0, 1, 2, 3, 4", "5"),
	  4,
	  { { 2 }, { 2 }, { 2 }, { 2 } } },
	{ GRAPH(X ", " CONSTANT("[2]") ", " CONSTANT("[2]") ", " KERNEL(
			"nn.layer_norm", "[0, 0, 0], [1, 0, 0], [2, 0, 0]", SAME, ""),
		"0, 1, 2", "3"),
	  2,
	  { { 2 }, { 2 } } },
	{ GRAPH(X ", " KERNEL("concatenate", "[0, 0, 0], [0, 0, 0]", "[2, 1, 2, 2]", ""), "0", "1"),
	  0,
	  { { 0 } } },
	{ GRAPH(X ", " CONSTANT("[2]") ", " KERNEL(
			"add", "[0, 0, 0], [1, 0, 0]", SAME,
			"") ", " KERNEL("subtract", "[1, 0, 0], [2, 0, 0]", SAME,
					"") ", " KERNEL("multiply", "[2, 0, 0], [3, 0, 0]", SAME,
							""),
		"0, 1", "4"),
	  1,
	  { { 2 } } },
	{ GRAPH(X ", " KERNEL("hard_sigmoid", "[0, 0, 0]", SAME,
			      "\"alpha\": [[\"0.5\"]], ") ", " KERNEL("clip", "[1, 0, 0]", SAME,
								      "\"a_min\": [[\"0\"]], "
								      "\"a_max\": [[\"6\"]], "),
		"0", "2"),
	  0,
	  { { 0 } } },
	{ GRAPH(TENSOR("input", "uint8", SAME) ", " TENSOR(
			"const", "int8",
			"[1, 1, 1, 1]") ", " CONSTANT("[1]") ", " KERNEL("dnnl.conv2d_bias_relu",
									 "[0, 0, 0], [1, 0, 0], "
									 "[2, 0, 0]",
									 SAME,
									 "\"scales\": [[\"2\"]], "
									 "\"zero_point\": [[\"5\"]"
									 "], "),
		"0, 1, 2", "3"),
	  2,
	  { { 1, 1, 1, 1 }, { 1 } } },
};

/* Whether the input is uint8, and the first constant int8. */
static bool of_bytes(const struct row *row)
{
	return strstr(row->json, "uint8") != NULL;
}

static DLDataType type_of(bool byte, bool sign)
{
	return byte ? tenon_dtype(sign ? TENON_DTYPE_INT : TENON_DTYPE_UINT, 8, 1)
		    : tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
}

static struct fake_dnnl *fake;

/* Load a graph, initialise and call it. Return: 0, or the error of the first of these that fails */
static int use_graph(const struct row *row, struct tenon_value *constants)
{
	const int64_t shape[] = { 1, 1, 2, 2 };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *init = NULL, *f = NULL, *names = NULL;
	struct tenon_module *m = NULL;
	struct tenon_tensor *in = NULL, *out = NULL;
	struct tenon_buffer saved = TENON_BUFFER_INIT;
	bool twice = strstr(row->json, "concatenate") != NULL,
	     once = strstr(row->json, "global") != NULL;
	int64_t to[] = { twice ? 2 : 1, 1, once ? 1 : 2, once ? 1 : 2 };
	int err;

	err = load_graph(row->json, row->constants, &m);
	if (!err)
		err = tenon_module_get_function(m, "__init_f", &init);
	if (!err)
		err = tenon_call(init, &ret, *constants);
	if (!err)
		err = tenon_module_get_function(m, "f", &f);
	if (!err)
		err = tenon_tensor_create(shape, 4, type_of(of_bytes(row), false), &in);
	if (!err)
		err = tenon_tensor_create(to, 4, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &out);
	if (!err)
		err = tenon_call(f, &ret, tenon_arg_object(in), tenon_arg_object(out));
	if (!err)
		err = tenon_module_get_function(m, "get_const_vars", &names);
	if (!err)
		err = tenon_call(names, &ret);
	tenon_value_release(&ret);
	ret = tenon_arg_none();
	if (!err)
		err = tenon_module_source(m, "json", &ret);
	tenon_value_release(&ret);
	if (!err)
		err = tenon_module_save(m, &saved);
	tenon_buffer_fini(&saved);
	tenon_object_unref(in);
	tenon_object_unref(out);
	tenon_object_unref(names);
	tenon_object_unref(init);
	tenon_object_unref(f);
	tenon_object_unref(m);
	return err;
}

static struct tenon_value make_constants(const struct row *row)
{
	struct tenon_value tensors[CONSTANTS_MOST];
	struct tenon_array *array;
	struct tenon_tensor *t;
	size_t i;
	int ndim;

	for (i = 0; i < row->constants; i++) {
		for (ndim = 0; ndim < 4 && row->shapes[i][ndim];)
			ndim++;
		assert_int_equal(tenon_tensor_create(row->shapes[i], ndim,
						     type_of(of_bytes(row) && !i, true), &t),
				 0);
		tensors[i] = tenon_arg_object(t);
	}
	assert_int_equal(tenon_array_create(tensors, row->constants, &array), 0);
	for (i = 0; i < row->constants; i++)
		tenon_value_release(&tensors[i]);
	return tenon_arg_object(array);
}

/* Once with a call of oneDNN failing, or an allocation. Return: how many of them there were; *@err what came of it */
static long with_call(const struct row *row, struct tenon_value *constants, long n, int *err)
{
	fake->calls = 0;
	fake->fails_at = n;
	*err = use_graph(row, constants);
	fake->fails_at = 0;
	return fake->calls;
}

static long with_allocation(const struct row *row, struct tenon_value *constants, long n, int *err)
{
	failing_malloc_start(n);
	*err = use_graph(row, constants);
	return failing_malloc_stop();
}

/* Fail each, once. Return: how many went wrong */
static int fail_each(size_t r, long (*once)(const struct row *, struct tenon_value *, long, int *),
		     const char *what)
{
	struct tenon_value constants = make_constants(&rows[r]);
	long n, count, live, objects;
	int err, wrong = 0;
	bool reached;

	count = once(&rows[r], &constants, 0, &err);
	if (err) {
		print_error("graph %zu: %s\n", r, tenon_error_message());
		return 1;
	}
	for (n = 1; n <= count; n++) {
		live = failing_malloc_live();
		objects = fake->live;
		reached = once(&rows[r], &constants, n, &err) >= n;
		if (reached && (!err || !*tenon_error_message())) {
			print_error("graph %zu, %s %ld: no error\n", r, what, n);
			wrong++;
		}
		tenon_error_clear();
		if (fake->live != objects || failing_malloc_live() > live) {
			print_error("graph %zu, %s %ld: lost %ld objects, %ld allocations\n", r,
				    what, n, fake->live - objects, failing_malloc_live() - live);
			wrong++;
		}
		once(&rows[r], &constants, 0, &err);
		if (err) {
			print_error("graph %zu, %s %ld: fails afterwards: %s\n", r, what, n,
				    tenon_error_message());
			wrong++;
		}
	}
	tenon_value_release(&constants);
	return wrong;
}

/* In a child: a process opens one oneDNN. Exit status: 0 if all went well */
static void fails_well(int major, int equal)
{
	int status, wrong = 0;
	pid_t child;
	size_t r;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		fake->major = major;
		fake->equal = equal;
		for (r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
			for (fake->status = 1; fake->status < 8; fake->status += 3)
				wrong += fail_each(r, with_call, "call");
			if (failing_malloc_works() && failing_malloc_step() == 1)
				wrong += fail_each(r, with_allocation, "allocation");
		}
		exit(wrong != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void version_2_may_fail_at_each_call(void **state)
{
	(void)state;
	fails_well(2, 0);
	fails_well(2, 1);
}

static void version_3_may_fail_at_each_call(void **state)
{
	(void)state;
	fails_well(3, 0);
	fails_well(3, 1);
}

static void an_older_version_is_refused(void **state)
{
	struct tenon_value constants = make_constants(&rows[0]);

	(void)state;
	fake->major = 2;
	fake->minor = 5;
	assert_int_equal(use_graph(&rows[0], &constants), -TENON_E_DEVICE);
	assert_error_has("oneDNN 2.5 is too old");
	fake->major = 1;
	fake->minor = 9;
	assert_int_equal(use_graph(&rows[0], &constants), -TENON_E_DEVICE);
	assert_error_has("oneDNN 1.9 is too old");
	fake->minor = 6;
	tenon_value_release(&constants);
}

static void bytes_that_are_not_added_exactly_are_refused(void **state)
{
	const struct row *row = &rows[sizeof(rows) / sizeof(rows[0]) - 1];
	struct tenon_value constants = make_constants(row);

	(void)state;
	fake->major = 2;
	fake->inexact = 1;
	assert_int_equal(use_graph(row, &constants), -TENON_E_UNSUPPORTED);
	assert_error_has("does not add products of 8 bits exactly on this processor");
	fake->inexact = 0;
	assert_int_equal(use_graph(row, &constants), 0);
	tenon_value_release(&constants);
}

static int open_fake(void **state)
{
	const char *build = getenv("TENON_BUILD");
	static char path[4096];
	void *library;

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/dnnl/fake_dnnl.so", build ? build : "build");
	setenv("TENON_DNNL_LIBRARY", path, 1);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	fake = dlsym(library, "fake_dnnl");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_older_version_is_refused),
		cmocka_unit_test(version_2_may_fail_at_each_call),
		cmocka_unit_test(version_3_may_fail_at_each_call),
		cmocka_unit_test(bytes_that_are_not_added_exactly_are_refused),
	};

	return cmocka_run_group_tests(tests, open_fake, NULL);
}
