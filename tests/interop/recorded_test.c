/* SPDX-License-Identifier: MIT */
/* A model of TVM's whose launches are to be captured: here a recording of the device repeats them. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/model.h>
#include <tenon/queue.h>

#include "tools/tensor/array_file.h"

#define EACH 3 /* runs of an input in a row */

static const char *file(const char *kind, const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	static char path[600];

	snprintf(path, sizeof(path), "%s/tests/interop/data/tvm-0.27.0.post1/model_graph_%s/%s",
		 source ? source : ".", kind, name);
	return path;
}

static void need(const char *uri)
{
	struct tenon_device *d;

	if (!tenon_device_open(uri, &d)) {
		tenon_object_unref(d);
		return;
	}
	tenon_error_clear();
	print_message("skip: no device %s\n", uri);
	skip();
}

static void run(struct tenon_model *model, const char *kind, int input)
{
	struct tenon_tensor *x, *want, *got;
	char name[32];
	struct tenon_value v;
	DLTensor *t;
	int64_t i;

	snprintf(name, sizeof(name), "r%d_x.npy", input);
	assert_int_equal(array_file_tensor(file(kind, name), &x), 0);
	snprintf(name, sizeof(name), "r%d_out0.npy", input);
	assert_int_equal(array_file_tensor(file(kind, name), &want), 0);
	v = tenon_arg_object(x);
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	if (tenon_model_run(model))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_int_equal(tenon_tensor_create(t->shape, t->ndim, t->dtype, &got), 0);
	assert_int_equal(tenon_tensor_copy(t, &got->dl), 0);
	for (i = 0; i < t->shape[0] * t->shape[1]; i++) {
		float a = ((const float *)got->dl.data)[i];
		float b = ((const float *)want->dl.data)[i];

		if (!(a - b < 1e-4f && b - a < 1e-4f))
			fail_msg("input %d: element %d is %g, want %g", input, (int)i, (double)a,
				 (double)b);
	}
	tenon_value_release(&v);
	tenon_object_unref(got);
	tenon_object_unref(want);
	tenon_object_unref(x);
}

/* how often a recording ran; the linker passes calls of the library on to this */
static unsigned int executed;

int __real_tenon_queue_execute(struct tenon_queue *queue, struct tenon_commands *commands,
			       struct tenon_memory *const *bindings, size_t count,
			       const struct tenon_sync *sync);
int __wrap_tenon_queue_execute(struct tenon_queue *queue, struct tenon_commands *commands,
			       struct tenon_memory *const *bindings, size_t count,
			       const struct tenon_sync *sync);

int __wrap_tenon_queue_execute(struct tenon_queue *queue, struct tenon_commands *commands,
			       struct tenon_memory *const *bindings, size_t count,
			       const struct tenon_sync *sync)
{
	executed++;
	return __real_tenon_queue_execute(queue, commands, bindings, count, sync);
}

static void runs_with_recordings(const char *kind, DLDeviceType type)
{
	const DLDevice device = { type, 0 };
	struct tenon_model_options o = {
		.size = sizeof(o), .devices = &device, .device_count = 1, .function = "forward"
	};
	struct tenon_module *root;
	struct tenon_model *model = NULL;
	int i;

	if (tenon_module_load(file(kind, "model.so"), &root) || tenon_model_open(root, &o, &model))
		fail_msg("%s", tenon_error_message());
	executed = 0;
	/* what was recorded with one input gives the result of the other */
	for (i = 0; i < 4 * EACH; i++)
		run(model, kind, i / EACH % 2);
	assert_true(executed >= 4 * EACH - 1);
	tenon_model_close(model);
	tenon_object_unref(root);
}

static void a_model_with_graphs_repeats_recordings_on_opencl(void **state)
{
	(void)state;
	need("opencl:0");
	runs_with_recordings("opencl", kDLOpenCL);
}

static void a_model_with_graphs_repeats_recordings_on_cuda(void **state)
{
	(void)state;
	need("cuda:0");
	runs_with_recordings("cuda", kDLCUDA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_with_graphs_repeats_recordings_on_opencl),
		cmocka_unit_test(a_model_with_graphs_repeats_recordings_on_cuda),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
