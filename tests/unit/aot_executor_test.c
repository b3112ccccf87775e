/* SPDX-License-Identifier: MIT */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>
#include "runtime/library/call.h"
#include "runtime/library/tvm_types.h"
#include "runtime/aot/aot_metadata.h"

static const int64_t four = 4;
static int64_t hundred = 100, negative = -4;
static int64_t huge[2] = { INT64_MAX, INT64_MAX };

static struct aot_tensor_info inputs[2], outputs[1], workspaces[1];
static struct aot_constant_info constants[1];
static struct aot_metadata meta;

/* a saved tensor of four floats */
static struct {
	uint64_t magic, reserved;
	uint32_t device[2], ndim;
	uint8_t dtype[4];
	uint64_t extent, bytes;
	float data[4];
} saved;

static int seen_arguments;

/* out = a + b + constants; arguments: a, b, out, constants, workspace */
static int legacy_main(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		       int *ret_code, void *resource)
{
	const DLTensor *a = args[0].pointer, *b = args[1].pointer, *out = args[2].pointer;
	const float *k = NULL;
	size_t i;

	(void)codes;
	(void)ret;
	(void)ret_code;
	(void)resource;
	seen_arguments = count;
	if (count > 3) {
		const DLTensor *pool = args[3].pointer, *work = args[4].pointer;

		assert_int_equal(pool->dtype.bits, 8);
		assert_int_equal(pool->shape[0], 32 + 16);
		assert_int_equal(work->shape[0], 100);
		memset(work->data, 1, 100);
		k = (const float *)(const void *)((const char *)pool->data + 32);
	}
	for (i = 0; i < 4; i++)
		((float *)out->data)[i] =
			((float *)a->data)[i] + ((float *)b->data)[i] + (k ? k[i] : 0);
	return ((float *)a->data)[0] == 13 ? -1 : 0;
}

static int get_metadata(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	(void)self;
	(void)args;
	assert_int_equal(count, 0);
	*ret = tenon_arg_pointer(&meta);
	return 0;
}

static int library_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	*out = NULL;
	if (tenon_slice_equal(name, tenon_slice_of("get_c_metadata")))
		return tenon_function_create(NULL, get_metadata, NULL, out);
	if (tenon_slice_equal(name, tenon_slice_of("tvmgen_net___tvm_main__")))
		return tvm_legacy_function_create((void *)legacy_main, &m->object, out);
	return 0;
}

static int set_up(void **state)
{
	const DLDataType f32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	int i;

	(void)state;
	inputs[0] = (struct aot_tensor_info){ "a_1", &four, 1, f32 };
	inputs[1] = (struct aot_tensor_info){ "b", &four, 1, f32 };
	outputs[0] = (struct aot_tensor_info){ "output0", &four, 1, f32 };
	workspaces[0] =
		(struct aot_tensor_info){ "w", &hundred, 1, tenon_dtype(TENON_DTYPE_UINT, 8, 1) };
	saved.magic = UINT64_C(0xdd5e40f096b4a13f);
	saved.device[0] = kDLCPU;
	saved.ndim = 1;
	saved.dtype[0] = TENON_DTYPE_FLOAT;
	saved.dtype[1] = 32;
	saved.dtype[2] = 1;
	saved.extent = 4;
	saved.bytes = 16;
	for (i = 0; i < 4; i++)
		saved.data[i] = (float)(100 * i);
	constants[0] = (struct aot_constant_info){ "k", 32, sizeof(saved), &saved };
	meta = (struct aot_metadata){ 1, inputs, 2, outputs, 1, NULL, 0, NULL, 0, "tvmgen_net" };
	return 0;
}

/* a factory that imports the library, as it comes out of a file */
static struct tenon_module *make_factory(void)
{
	static const struct tenon_module_ops ops = { .get_function = library_get_function };
	struct tenon_module *lib = malloc(sizeof(*lib)), *factory;
	struct tenon_buffer bytes = TENON_BUFFER_INIT;

	tenon_module_init(lib, &ops, tenon_slice_of("library"), TENON_MODULE_RUNNABLE);
	tenon_buffer_u64(&bytes, 0);
	tenon_buffer_u64(&bytes, 0);
	tenon_buffer_string(&bytes, tenon_slice_of("default"));
	if (tenon_module_load_bytes("AotExecutorFactory",
				    (struct tenon_slice){ bytes.data, bytes.size }, &factory))
		fail_msg("%s", tenon_error_message());
	tenon_buffer_fini(&bytes);
	assert_int_equal(tenon_module_import(factory, lib), 0);
	tenon_object_unref(lib);
	return factory;
}

static int open_model(struct tenon_model **out)
{
	struct tenon_module *factory = make_factory();
	int err = tenon_model_open(factory, NULL, out);

	tenon_object_unref(factory);
	return err;
}

static void set(struct tenon_model *model, const char *name, const float *values)
{
	DLTensor t = tenon_dltensor((void *)(uintptr_t)values, (int64_t *)(uintptr_t)&four, 1,
				    tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value v = tenon_arg_tensor(&t);
	size_t i;

	assert_int_equal(tenon_model_find_input(model, tenon_slice_of(name), &i), 0);
	assert_int_equal(tenon_model_set_input(model, i, &v), 0);
}

static void assert_output(struct tenon_model *model, float a, float b, float c, float d)
{
	const float want[4] = { a, b, c, d };
	struct tenon_value v;
	DLTensor *t;

	assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_memory_equal(t->data, want, 16);
	tenon_value_release(&v);
}

static const float one[4] = { 1, 2, 3, 4 }, ten[4] = { 10, 20, 30, 40 };

static void a_model_without_pools_is_called_with_inputs_and_outputs(void **state)
{
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_model(&model), 0);
	assert_string_equal(tenon_model_kind(model), "aot");
	assert_int_equal(tenon_model_input_count(model), 2);
	set(model, "a_1", one);
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	assert_error("input 1 (\"b\") was never set");
	set(model, "b", ten);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(seen_arguments, 3);
	assert_output(model, 11, 22, 33, 44);
	tenon_model_close(model);
}

static void constants_and_workspaces_follow_where_there_are_workspaces(void **state)
{
	struct tenon_model_memory memory;
	struct tenon_model *model;

	(void)state;
	meta.workspaces = workspaces;
	meta.workspace_count = 1;
	meta.constants = constants;
	meta.constant_count = 1;
	assert_int_equal(open_model(&model), 0);
	set(model, "a_1", one);
	set(model, "b", ten);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(seen_arguments, 5);
	assert_output(model, 11, 122, 233, 344);
	tenon_model_memory(model, &memory);
	assert_int_equal(memory.params, 48);
	assert_int_equal(memory.workspace, 100);
	assert_int_equal(memory.activations, 48);
	tenon_model_close(model);
}

static void names_are_found_as_they_were_before_compiling(void **state)
{
	struct tenon_model *model;
	size_t index = 9;

	(void)state;
	assert_int_equal(open_model(&model), 0);
	assert_int_equal(tenon_model_find_input(model, tenon_slice_of("a:1"), &index), 0);
	assert_int_equal(index, 0);
	assert_int_equal(tenon_model_find_input(model, tenon_slice_of("a1"), &index),
			 -TENON_E_NOT_FOUND);
	assert_error_has("no input \"a1\". Nearest: \"a_1\"");
	tenon_model_close(model);
}

static void a_failing_model_is_named(void **state)
{
	static const float thirteen[4] = { 13, 0, 0, 0 };
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_model(&model), 0);
	set(model, "a_1", thirteen);
	set(model, "b", ten);
	tenon_error_clear();
	assert_int_equal(tenon_model_run(model), -TENON_E_CALL);
	assert_error("tvmgen_net: the function failed without saying why");
	tenon_model_close(model);
}

static void refused(int status, const char *words)
{
	struct tenon_model *model;
	int err = open_model(&model);

	if (err != status || !strstr(tenon_error_message(), words))
		fail_msg("%d: %s, want %d: %s", err, tenon_error_message(), status, words);
	assert_null(model);
	tenon_error_clear();
	set_up(NULL);
}

static void a_description_that_cannot_be_is_refused(void **state)
{
	(void)state;
	meta.version = 2;
	refused(-TENON_E_UNSUPPORTED, "version 2, known is 1");
	meta.name = NULL;
	refused(-TENON_E_FORMAT, "no name");
	meta.name = "tvmgen_other";
	refused(-TENON_E_NO_FUNCTION, "tvmgen_other___tvm_main__");
	meta.input_count = -1;
	refused(-TENON_E_FORMAT, "-1 inputs");
	meta.outputs = NULL;
	refused(-TENON_E_FORMAT, "1 outputs");
	inputs[1].ndim = 65;
	refused(-TENON_E_FORMAT, "input 1: (\"b\") has 65 dimensions");
	inputs[1].shape = &negative;
	refused(-TENON_E_FORMAT, "extent -4");
	inputs[1].shape = huge;
	inputs[1].ndim = 2;
	refused(-TENON_E_OVERFLOW, "input 1: (\"b\") has a shape whose size does not fit");
	inputs[0].dtype.bits = 0;
	refused(-TENON_E_VALUE, "no tensor has elements of float0");
	meta.constants = constants;
	meta.constant_count = 1;
	saved.bytes = 17;
	refused(-TENON_E_FORMAT, "constant 0");
	meta.constants = constants;
	meta.constant_count = 1;
	constants[0].size = 20;
	refused(-TENON_E_TRUNCATED, "constant 0");
	meta.constants = constants;
	meta.constant_count = 1;
	constants[0].offset = INT64_MAX;
	refused(-TENON_E_OVERFLOW, "constant 0");
}

static void inputs_are_checked_and_bound(void **state)
{
	static const float aligned[4] __attribute__((aligned(128))) = { 5, 6, 7, 8 };
	struct tenon_tensor *tensor;
	struct tenon_model *model;
	int64_t shape = 5;
	DLTensor t = tenon_dltensor((void *)(uintptr_t)aligned, &shape, 1,
				    tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value v = tenon_arg_tensor(&t);

	(void)state;
	assert_int_equal(open_model(&model), 0);
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	assert_error_has("has extent 5 in dimension 0, the model was compiled for 4");
	shape = 4;
	t.dtype.bits = 64;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_TYPE);
	assert_error_has("has dtype float64, the model was compiled for float32");
	t.dtype.bits = 32;
	assert_int_equal(tenon_tensor_view(&t, NULL, &tensor), 0);
	assert_int_equal(tenon_model_bind_input(model, 0, tensor), 0);
	assert_int_equal(strong_count(tensor), 2);
	set(model, "b", ten);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 15, 26, 37, 48);
	set(model, "a_1", one);
	assert_int_equal(strong_count(tensor), 1);
	tenon_object_unref(tensor);
	tenon_model_close(model);
}

static void host_code_of_tvm_finds_its_functions(void **state)
{
	struct tenon_module *factory = make_factory(), *executor;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tenon_module_get_function(factory, "default", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_device((DLDevice){ kDLCPU, 0 })), 0);
	tenon_object_unref(f);
	executor = (struct tenon_module *)ret.as.object;
	assert_slice(executor->kind, "AotExecutor");
	assert_int_equal(tenon_module_get_function(executor, "get_input_name", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(0)), 0);
	assert_int_equal(ret.type, TENON_TYPE_SMALL_STRING);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(executor, "set_input_zero_copy", &f),
			 -TENON_E_NOT_FOUND);
	tenon_error_clear();
	tenon_object_unref(executor);
	tenon_object_unref(factory);
}

#ifdef CONFIG_DEVICE_NULL
static void inputs_come_from_a_device_and_the_model_stays_on_the_host(void **state)
{
	static const float values[4] = { 1, 2, 3, 4 }, ones[4] = { 1, 1, 1, 1 };
	static const DLDevice null0 = { (DLDeviceType)TENON_DL_NULL, 0 };
	struct tenon_model_options o = { .size = sizeof(o), .devices = &null0, .device_count = 1 };
	DLTensor host = tenon_dltensor((void *)(uintptr_t)values, (int64_t *)(uintptr_t)&four, 1,
				       tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_module *factory = make_factory();
	struct tenon_tensor *there;
	struct tenon_model *model;
	struct tenon_value v;

	(void)state;
	assert_int_equal(tenon_tensor_create_on(null0, &four, 1, host.dtype, &there), 0);
	assert_int_equal(tenon_tensor_copy(&host, &there->dl), 0);
	assert_int_equal(tenon_model_open(factory, NULL, &model), 0);
	v = tenon_arg_object(there);
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	assert_int_equal(tenon_model_bind_input(model, 1, there), -TENON_E_DEVICE);
	assert_error_has("want cpu; copy it instead");
	set(model, "b", ones);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 2, 3, 4, 5);
	tenon_model_close(model);
	assert_int_equal(tenon_model_open(factory, &o, &model), -TENON_E_DEVICE);
	assert_error_has("run on cpu:0 alone");
	tenon_object_unref(there);
	tenon_object_unref(factory);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_model_without_pools_is_called_with_inputs_and_outputs,
				       set_up),
		cmocka_unit_test_setup(constants_and_workspaces_follow_where_there_are_workspaces,
				       set_up),
		cmocka_unit_test_setup(names_are_found_as_they_were_before_compiling, set_up),
		cmocka_unit_test_setup(a_failing_model_is_named, set_up),
		cmocka_unit_test_setup(a_description_that_cannot_be_is_refused, set_up),
		cmocka_unit_test_setup(inputs_are_checked_and_bound, set_up),
		cmocka_unit_test_setup(host_code_of_tvm_finds_its_functions, set_up),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test_setup(inputs_come_from_a_device_and_the_model_stays_on_the_host,
				       set_up),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
