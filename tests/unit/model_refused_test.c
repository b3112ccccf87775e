/* SPDX-License-Identifier: MIT */
/* What models refuse: inputs, outputs and parameters that do not fit, devices that do not exist, and runs of what is only described. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <tenon/regions.h>

#define FOLDER "tests/interop/data/tvm-0.18/graph_mlp/"

static struct tenon_module *root;

static int load_it(void **state)
{
	(void)state;
#ifdef __x86_64__
	return tenon_module_load(FOLDER "graph.so", &root);
#else
	return 0;
#endif
}

static int drop_it(void **state)
{
	(void)state;
	tenon_object_unref(root);
	return 0;
}

static struct tenon_model *open_model(bool describe)
{
	const struct tenon_model_options o = { .size = sizeof(o), .describe = describe };
	struct tenon_model *model;

#ifndef __x86_64__
	skip();
#endif
	if (tenon_model_open(root, &o, &model))
		fail_msg("%s", tenon_error_message());
	return model;
}

/* A call failed with a status, and a message that has these words. */
static void fails(int err, int status, const char *words)
{
	assert_error_has(words);
	assert_int_equal(err, status);
	tenon_error_clear();
}

/* A call failed, and said why. */
static void refuses(int err, const char *words)
{
	assert_true(err < 0);
	assert_true(*tenon_error_message());
	fails(err, err, words);
}

static struct tenon_tensor *tensor(const int64_t *shape, int32_t ndim, int bits)
{
	struct tenon_tensor *t = NULL;

	assert_int_equal(
		tenon_tensor_create(shape, ndim, tenon_dtype(TENON_DTYPE_FLOAT, bits, 1), &t), 0);
	return t;
}

static void a_model_that_is_only_described_is_not_run(void **state)
{
	struct tenon_model *model = open_model(true);
	const struct tenon_profiler profiler = { .size = sizeof(profiler) };
	struct tenon_value value = tenon_arg_none();
	struct tenon_port port;
	struct tenon_tensor *t;

	(void)state;
	assert_int_equal(tenon_model_input(model, 0, &port), 0);
	t = tensor(port.shape, port.ndim, 32);
	assert_int_not_equal(tenon_model_set_input(model, 0, &value), 0);
	value = tenon_arg_object(t);
	fails(tenon_model_set_input(model, 0, &value), -TENON_E_USAGE, "looked at only");
	fails(tenon_model_bind_input(model, 0, t), -TENON_E_USAGE, "looked at only");
	fails(tenon_model_run(model), -TENON_E_USAGE, "looked at only");
	fails(tenon_model_run_profiled(model, &profiler), -TENON_E_USAGE, "looked at only");
	tenon_object_unref(t);
	tenon_model_close(model);
}

static void inputs_that_do_not_exist_or_fit_are_refused(void **state)
{
	struct tenon_model *model = open_model(false);
	const int64_t odd[] = { 3, 5, 7 };
	struct tenon_tensor *t = tensor(odd, 3, 32);
	struct tenon_value value = tenon_arg_object(t), output;
	struct tenon_model_value v;
	struct tenon_port port;
	size_t n = tenon_model_input_count(model), index;

	(void)state;
	refuses(tenon_model_input(model, n, &port), "input");
	refuses(tenon_model_output(model, 9, &port), "output");
	refuses(tenon_model_output_value(model, 9, &output), "output");
	assert_false(tenon_model_input_is_set(model, n));
	refuses(tenon_model_set_input(model, n, &value), "input");
	refuses(tenon_model_bind_input(model, n, t), "input");
	refuses(tenon_model_bind_input(model, 0, t), "input");
	refuses(tenon_model_set_input(model, 0, &value), "input");
	refuses(tenon_model_value_at(model, 100000, &v), "value");
	fails(tenon_model_find_input(model, tenon_slice_of("q"), &index), -TENON_E_NOT_FOUND, "q");
	fails(tenon_model_find_output(model, tenon_slice_of("q"), &index), -TENON_E_NOT_FOUND, "q");
	fails(tenon_model_find_input(model, (struct tenon_slice){ "", 0 }, &index),
	      -TENON_E_NOT_FOUND, "");
	tenon_object_unref(t);
	tenon_model_close(model);
}

/* ---- parameters */

#define LISTED 20

static void parameters_that_do_not_fit_are_listed(void **state)
{
	struct tenon_model *model = open_model(true);
	static char names[LISTED][8];
	static const int64_t odd[5] = { 3, 5, 7, 9, 11 };
	int64_t shapes[3][5];
	struct tenon_param list[LISTED + 3];
	struct tenon_params *params;
	struct tenon_port port;
	size_t count = 0, i;

	(void)state;
	memset(list, 0, sizeof(list));
	/* of another rank, of another type, of another extent */
	for (i = 0; i < 3 && i < tenon_model_input_count(model); i++) {
		assert_int_equal(tenon_model_input(model, i, &port), 0);
		assert_in_range(port.ndim, 1, 4);
		memcpy(shapes[i], odd, sizeof(odd));
		if (i)
			memcpy(shapes[i], port.shape, (size_t)port.ndim * sizeof(*port.shape));
		shapes[i][0] += i == 2;
		list[count].name = port.name;
		list[count++].tensor =
			tenon_dltensor(NULL, shapes[i], i ? port.ndim : 5,
				       i == 1 ? tenon_dtype(TENON_DTYPE_FLOAT, 64, 1) : port.dtype);
	}
	for (i = 0; i < LISTED; i++) {
		snprintf(names[i], sizeof(names[i]), "n%zu", i);
		list[count].name = tenon_slice_of(names[i]);
		list[count++].tensor = tenon_dltensor(NULL, (int64_t *)(uintptr_t)odd, 5,
						      tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	}
	assert_int_equal(tenon_params_create(list, count, NULL, &params), 0);
	fails(tenon_model_check_params(model, params, true), -TENON_E_VALUE, "3 of 23 parameters");
	/* too many to name all */
	fails(tenon_model_check_params(model, params, false), -TENON_E_VALUE, " more");
	tenon_object_unref(params);
	tenon_model_close(model);
}

/* ---- streams */

struct rounds {
	int filled, taken, ends;
};

static int fill(void *context, struct tenon_model *model, uint64_t round)
{
	struct rounds *r = context;

	(void)model;
	r->filled++;
	return (int)round < 2 ? 0 : r->ends;
}

static int take(void *context, struct tenon_model *model, uint64_t round)
{
	struct rounds *r = context;

	(void)model;
	(void)round;
	return ++r->taken == 2 ? -TENON_E_VALUE : 0;
}

static void a_stream_ends_when_one_side_says_so(void **state)
{
	struct tenon_model *model = open_model(false);
	struct rounds r = { 0, 0, 1 };
	struct tenon_stream stream = { .size = sizeof(stream), .fill = fill, .context = &r };
	struct tenon_model_memory memory;
	struct tenon_value value;
	struct tenon_port port;
	struct tenon_tensor *t;
	uint64_t rounds;
	size_t i, bytes;

	(void)state;
	for (i = 0; i < tenon_model_input_count(model); i++) {
		if (tenon_model_input_is_set(model, i))
			continue;
		assert_int_equal(tenon_model_input(model, i, &port), 0);
		t = tensor(port.shape, port.ndim, 32);
		assert_int_equal(tenon_tensor_bytes(&t->dl, &bytes), 0);
		memset(t->dl.data, 0, bytes);
		value = tenon_arg_object(t);
		assert_int_equal(tenon_model_set_input(model, i, &value), 0);
		tenon_object_unref(t);
	}
	assert_int_equal(tenon_model_stream(model, &stream, &rounds), 0);
	assert_int_equal(rounds, 2);
	assert_int_equal(tenon_model_stream(model, &stream, NULL), 0);
	r = (struct rounds){ 0, 0, -TENON_E_VALUE };
	tenon_error(-TENON_E_VALUE, "no more");
	fails(tenon_model_stream(model, &stream, NULL), -TENON_E_VALUE, "round 2: no more");
	r = (struct rounds){ 0, 0, 1 };
	stream.take = take;
	tenon_error(-TENON_E_VALUE, "enough");
	fails(tenon_model_stream(model, &stream, &rounds), -TENON_E_VALUE, "round 1: enough");
	assert_int_equal(rounds, 1);
	tenon_model_memory(model, &memory);
	tenon_model_close(model);
}

/* ---- memory of the caller */

static void regions_are_for_models_that_run_on_the_host(void **state)
{
	DLDevice devices[] = { { kDLCPU, 0 }, { (DLDeviceType)99, 0 } };
	struct tenon_model_options o = { .size = sizeof(o), .describe = true };
	const struct tenon_regions regions = { .size = sizeof(regions) };
	struct tenon_need need = { .size = sizeof(need) };
	struct tenon_device *device;
	struct tenon_model *model;

	(void)state;
	tenon_model_close(open_model(true));
	fails(tenon_model_open_in(root, &o, &regions, &model), -TENON_E_USAGE, "only described");
	assert_null(model);
	fails(tenon_model_need(root, &o, &need), -TENON_E_USAGE, "only described");
	o.describe = false;
	o.devices = devices;
	o.device_count = 2;
	refuses(tenon_model_need(root, &o, &need), "");
	assert_int_equal(tenon_device_open("null:0", &device), 0);
	devices[1] = tenon_device_id(device);
	fails(tenon_model_need(root, &o, &need), -TENON_E_UNSUPPORTED, "models run on cpu:0");
	fails(tenon_model_open_in(root, &o, &regions, &model), -TENON_E_UNSUPPORTED,
	      "device null:0");
	tenon_object_unref(device);
	o.device_count = 1;
	fails(tenon_model_open_in(root, &o, &regions, &model), -TENON_E_NOMEM, "is too small");
}

/* ---- functions of executors */

static int call(const char *name, struct tenon_module *m, const struct tenon_value *args,
		int32_t count)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	int err = tenon_module_get_function(m, name, &f);

	assert_int_equal(err, 0);
	err = tenon_function_call(f, args, count, &ret);
	if (!err)
		tenon_value_release(&ret);
	tenon_object_unref(f);
	return err;
}

static void an_output_is_copied_to_a_tensor_of_its_shape(void **state)
{
	struct tenon_value device = tenon_arg_device((DLDevice){ kDLCPU, 0 }), made, args[2];
	int64_t wrong[] = { 1, 2, 3 };
	struct tenon_function *f;
	struct tenon_module *m;
	struct tenon_port port;
	struct tenon_model *model = open_model(true);
	struct tenon_tensor *t;

	(void)state;
	assert_int_equal(tenon_model_output(model, 0, &port), 0);
	assert_int_equal(tenon_module_get_function(root, "default", &f), 0);
	assert_int_equal(tenon_function_call(f, &device, 1, &made), 0);
	m = (struct tenon_module *)made.as.object;
	args[0] = tenon_arg_int(0);
	args[1] = tenon_arg_int(7);
	assert_int_not_equal(call("get_output", m, args, 2), 0);
	t = tensor(wrong, 3, 32);
	args[1] = tenon_arg_object(t);
	refuses(call("get_output", m, args, 2), "another shape");
	tenon_object_unref(t);
	assert_int_equal(port.ndim, 2);
	memcpy(wrong, port.shape, 2 * sizeof(*wrong));
	t = tensor(wrong, 2, 64);
	args[1] = tenon_arg_object(t);
	refuses(call("get_output", m, args, 2), "another dtype");
	tenon_object_unref(t);
	wrong[1]++;
	t = tensor(wrong, 2, 32);
	args[1] = tenon_arg_object(t);
	refuses(call("get_output", m, args, 2), "another shape");
	tenon_object_unref(t);
	args[0] = tenon_arg_int(-1);
	refuses(call("get_output", m, args, 2), "");
	args[0] = tenon_arg_string("no such output");
	assert_int_not_equal(call("get_output", m, args, 1), 0);
	tenon_error_clear();
	tenon_value_release(&made);
	tenon_object_unref(f);
	tenon_model_close(model);
}

/* A global function that takes a graph, a library and pairs of numbers for devices. */
static void pairs_of_numbers_name_devices(void **state)
{
	static const int64_t odd[][2] = {
		{ -1, 0 }, { INT64_C(1) << 32, 0 }, { 1, -1 }, { 1, INT64_C(1) << 32 }
	};
	static char graph[16384];
	struct tenon_value args[40], ret = tenon_arg_none();
	struct tenon_module *library;
	struct tenon_function *f;
	FILE *file;
	size_t i;

	(void)state;
	tenon_model_close(open_model(true));
	assert_int_equal(tenon_module_load(FOLDER "lib.so", &library), 0);
	file = fopen(FOLDER "graph.json", "rb");
	assert_non_null(file);
	assert_in_range(fread(graph, 1, sizeof(graph) - 1, file), 1, sizeof(graph) - 1);
	fclose(file);
	assert_int_equal(tenon_function_find("tvm.graph_executor.create", &f), 0);
	assert_non_null(f);
	args[0] = tenon_arg_string(graph);
	args[1] = tenon_arg_object(library);
	for (i = 2; i < 40; i++)
		args[i] = tenon_arg_int(i % 2 ? 0 : kDLCPU);
	assert_int_equal(tenon_function_call(f, args, 4, &ret), 0);
	tenon_value_release(&ret);
	fails(tenon_function_call(f, args, 5, &ret), -TENON_E_TYPE, "without an id");
	fails(tenon_function_call(f, args, 40, &ret), -TENON_E_VALUE, "at most");
	for (i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		args[2] = tenon_arg_int(odd[i][0]);
		args[3] = tenon_arg_int(odd[i][1]);
		fails(tenon_function_call(f, args, 4, &ret), -TENON_E_VALUE, "these numbers");
	}
	args[2] = tenon_arg_string("cpu");
	fails(tenon_function_call(f, args, 4, &ret), -TENON_E_TYPE, "");
	args[2] = tenon_arg_int(1);
	args[3] = tenon_arg_string("cpu");
	fails(tenon_function_call(f, args, 4, &ret), -TENON_E_TYPE, "");
	tenon_object_unref(f);
	tenon_object_unref(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_that_is_only_described_is_not_run),
		cmocka_unit_test(inputs_that_do_not_exist_or_fit_are_refused),
		cmocka_unit_test(parameters_that_do_not_fit_are_listed),
		cmocka_unit_test(a_stream_ends_when_one_side_says_so),
		cmocka_unit_test(regions_are_for_models_that_run_on_the_host),
		cmocka_unit_test(an_output_is_copied_to_a_tensor_of_its_shape),
		cmocka_unit_test(pairs_of_numbers_name_devices),
	};

	return cmocka_run_group_tests(tests, load_it, drop_it);
}
