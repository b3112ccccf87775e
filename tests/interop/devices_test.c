/* SPDX-License-Identifier: MIT */
/*
 * A graph on the host and on OpenCL at once. TVM's functions and parameters are those of the perceptron that it
 * compiled for OpenCL; the graph around them is made here, with copies to and fro.
 */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/model/factory.h"
#include "tools/tensor/array_file.h"

#define NAME(name) "{\"op\": \"null\", \"name\": \"" name "\", \"inputs\": []}"
#define OP(name, function, count, inputs)                                                          \
	"{\"op\": \"tvm_op\", \"name\": \"" name "\", \"attrs\": {\"func_name\": \"" function      \
	"\", "                                                                                     \
	"\"num_inputs\": \"" count "\", \"num_outputs\": \"1\", \"flatten_data\": \"0\"}, "        \
	"\"inputs\": [" inputs "]}"
#define DENSE_RELU "tvmgen_default_fused_nn_dense_add_nn_relu"
#define DENSE	   "tvmgen_default_fused_nn_dense"
#define SOFTMAX	   "tvmgen_default_fused_nn_softmax"

/* x and the result on the host; between the layers once to the host and back */
/* clang-format off */
static const char graph[] =
	"{\"nodes\": [" NAME("x") ", " NAME("p0") ", " NAME("p1") ", " NAME("p2") ", "
	OP("x_there", "__copy", "1", "[0, 0, 0]") ", "
	OP("layer", DENSE_RELU, "3", "[4, 0, 0], [1, 0, 0], [2, 0, 0]") ", "
	OP("layer_here", "__copy", "1", "[5, 0, 0]") ", "
	OP("layer_there", "__copy", "1", "[6, 0, 0]") ", "
	OP("scores", DENSE, "2", "[7, 0, 0], [3, 0, 0]") ", "
	OP("softmax", SOFTMAX, "1", "[8, 0, 0]") ", "
	OP("result", "__copy", "1", "[9, 0, 0]") "], "
	"\"arg_nodes\": [0, 1, 2, 3], \"heads\": [[10, 0, 0], [9, 0, 0]], \"attrs\": {"
	"\"dltype\": [\"list_str\", [\"float32\", \"float32\", \"float32\", \"float32\", \"float32\", "
	"\"float32\", \"float32\", \"float32\", \"float32\", \"float32\", \"float32\"]], "
	"\"device_index\": [\"list_int\", [1, 4, 4, 4, 4, 4, 1, 4, 4, 4, 1]], "
	"\"storage_id\": [\"list_int\", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]], "
	"\"shape\": [\"list_shape\", [[1, 32], [64, 32], [1, 64], [10, 64], [1, 32], [1, 64], [1, 64], "
	"[1, 64], [1, 10], [1, 10], [1, 10]]]}, "
	"\"node_row_ptr\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}";
/* clang-format on */

static const char *file(const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	static char path[2][600];
	static int next;
	char *p = path[next++ % 2];

	snprintf(p, sizeof(path[0]), "%s/tests/interop/data/tvm-0.18/graph_mlp_opencl/%s",
		 source ? source : ".", name);
	return p;
}

static void need_opencl(void)
{
	const struct tenon_backend *b = tenon_backend_find(tenon_slice_of("opencl"));
	uint32_t count = 0;

	if (b && !tenon_backend_count(b, &count) && count)
		return;
	tenon_error_clear();
	print_message("skip: no OpenCL device\n");
	skip();
}

static void near(const DLTensor *t, const DLTensor *want)
{
	size_t i;

	assert_int_equal(t->device.device_type, kDLCPU);
	for (i = 0; i < 10; i++) {
		float a = ((const float *)t->data)[i], b = ((const float *)want->data)[i];

		if (!(a - b < 1e-4f && b - a < 1e-4f))
			fail_msg("element %zu is %g, want %g", i, (double)a, (double)b);
	}
}

static void take(struct tenon_model *model, size_t index, const DLTensor *want)
{
	struct tenon_tensor *host;
	struct tenon_value v;
	DLTensor *t;

	assert_int_equal(tenon_model_output_value(model, index, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_int_equal(t->device.device_type, index ? kDLOpenCL : kDLCPU);
	assert_int_equal(tenon_tensor_create(t->shape, t->ndim, t->dtype, &host), 0);
	assert_int_equal(tenon_tensor_copy(t, &host->dl), 0);
	near(&host->dl, want);
	tenon_object_unref(host);
	tenon_value_release(&v);
}

static void a_graph_runs_on_the_host_and_on_opencl(void **state)
{
	static const DLDevice devices[2] = { { kDLOpenCL, 0 }, { kDLCPU, 0 } };
	struct tenon_model_options o = { .size = sizeof(o), .devices = devices, .device_count = 2 };
	struct tenon_tensor *x, *want;
	struct tenon_module *root;
	struct tenon_model *model;
	struct tenon_value v;
	struct factory *f;
	int i;

	(void)state;
	need_opencl();
	if (tenon_module_load(file("graph.so"), &root))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(factory_of(root, NULL, &f), 0);
	if (tenon_model_open_graph(root->imports[0], tenon_slice_of(graph), f->params, &o, &model))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(array_file_tensor(file("in_x.npy"), &x), 0);
	assert_int_equal(array_file_tensor(file("out0.npy"), &want), 0);
	v = tenon_arg_object(x);
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	for (i = 0; i < 3; i++) {
		if (tenon_model_run(model))
			fail_msg("%s", tenon_error_message());
		take(model, 0, &want->dl);
		take(model, 1, &want->dl);
	}
	tenon_object_unref(x);
	tenon_object_unref(want);
	tenon_model_close(model);
	tenon_object_unref(f);
	tenon_object_unref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_runs_on_the_host_and_on_opencl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
