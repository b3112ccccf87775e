/* SPDX-License-Identifier: MIT */
/* Ahead-of-time models: pools, constants, workspaces, inputs and failures. */
#include "suite.h"

#include <stdlib.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>
#include "runtime/library/call.h"
#include "runtime/library/tvm_types.h"
#include "runtime/aot/aot_metadata.h"
#include "runtime/model/executor_module.h"

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
static bool modern;		/* the model's function is of today's convention */
static tenon_call_fn describes; /* in place of get_metadata() */

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

/* The same without constants. */
static int modern_main(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	union legacy_value all[3];
	int32_t i;

	(void)self;
	assert_int_equal(count, 3);
	for (i = 0; i < count; i++) {
		assert_int_equal(args[i].type, TENON_TYPE_DLTENSOR);
		all[i].pointer = args[i].as.tensor;
	}
	*ret = tenon_arg_none();
	return legacy_main(all, NULL, count, NULL, NULL, NULL);
}

static int no_metadata(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_pointer(NULL);
	return 0;
}

static int a_number(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_int(1);
	return 0;
}

static int fails(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	tenon_error(-TENON_E_CALL, "nothing is known");
	return TENON_E_CALL;
}

static int library_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	*out = NULL;
	if (tenon_slice_equal(name, tenon_slice_of("get_c_metadata")))
		return tenon_function_create(NULL, describes ? describes : get_metadata, NULL, out);
	if (modern && tenon_slice_equal(name, tenon_slice_of("tvmgen_net___tvm_main__")))
		return tenon_function_create(NULL, modern_main, NULL, out);
	if (tenon_slice_equal(name, tenon_slice_of("tvmgen_net___tvm_main__")))
		return tvm_legacy_function_create((void *)legacy_main, &m->object, out);
	return 0;
}

static int set_up(void **state)
{
	const DLDataType f32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	int i;

	(void)state;
	modern = false;
	describes = NULL;
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
	if (!err)
		tenon_model_close(model);
	else
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

static void a_library_that_does_not_describe_the_model_is_refused(void **state)
{
	(void)state;
	describes = no_metadata;
	refused(-TENON_E_FORMAT, "get_c_metadata returned nothing");
	describes = a_number;
	refused(-TENON_E_TYPE, "get_c_metadata");
	describes = fails;
	refused(-TENON_E_CALL, "nothing is known");
}

static void every_part_of_a_description_is_checked(void **state)
{
	static int64_t far = INT64_MAX / 2, half = INT64_MAX / 8;
	struct aot_constant_info pair[2];

	(void)state;
	inputs[0].name = NULL;
	refused(-TENON_E_FORMAT, "input 0: has no name");
	inputs[0].ndim = -1;
	refused(-TENON_E_FORMAT, "has -1 dimensions");
	inputs[0].shape = NULL;
	refused(-TENON_E_FORMAT, "has 1 dimensions");
	inputs[0].shape = &far;
	refused(-TENON_E_OVERFLOW, "input 0: (\"a_1\") has a shape whose size does not fit");
	meta.name = "";
	refused(-TENON_E_FORMAT, "no name");
	meta.input_count = 65537;
	refused(-TENON_E_FORMAT, "65537 inputs");
	meta.workspace_count = 1;
	refused(-TENON_E_FORMAT, "1 workspaces");
	meta.constant_count = -1;
	refused(-TENON_E_FORMAT, "-1 constants");
	meta.constants = constants;
	meta.constant_count = 65537;
	refused(-TENON_E_FORMAT, "65537 constants");
	meta.constant_count = 1;
	refused(-TENON_E_FORMAT, "1 constants");
#define CONSTANT(member, value, status, words)                                                     \
	do {                                                                                       \
		meta.constants = constants;                                                        \
		meta.constant_count = 1;                                                           \
		constants[0].member = value;                                                       \
		refused(status, words);                                                            \
	} while (0)
	CONSTANT(data, NULL, -TENON_E_FORMAT, "constant 0");
	CONSTANT(size, -1, -TENON_E_FORMAT, "constant 0: has -1 bytes");
	CONSTANT(offset, -1, -TENON_E_FORMAT, "for offset -1");
	CONSTANT(offset, INT64_MAX / 2, -TENON_E_OVERFLOW, "constant 0 at offset");
#undef CONSTANT
	/* tensors that fit alone and not together; constants in any order do */
	inputs[0].shape = inputs[1].shape = &half;
	refused(-TENON_E_OVERFLOW, "all tensors together do not fit");
	pair[0] = pair[1] = constants[0];
	pair[1].offset = 0;
	meta.constants = pair;
	meta.constant_count = 2;
	refused(0, "");
}

/* A bool is one of the two that TVM has had; elements of less than a byte take a byte in the model. */
static void small_elements_are_given_as_the_model_keeps_them(void **state)
{
	bool bits[4] = { true };
	unsigned char nibbles[4] = { 0 };
	DLTensor t = tenon_dltensor(bits, (int64_t *)(uintptr_t)&four, 1,
				    tenon_dtype(TENON_DTYPE_BOOL, 8, 1));
	struct tenon_value v = tenon_arg_tensor(&t);
	struct tenon_tensor *view;
	struct tenon_model *model;

	(void)state;
	inputs[0].dtype = tenon_dtype(TENON_DTYPE_UINT, 1, 1);
	inputs[1].dtype = tenon_dtype(TENON_DTYPE_INT, 4, 1);
	assert_int_equal(open_model(&model), 0);
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	assert_int_equal(tenon_model_set_input(model, 1, &v), -TENON_E_TYPE);
	assert_error_has("has dtype bool, the model was compiled for int4");
	t = tenon_dltensor(nibbles, (int64_t *)(uintptr_t)&four, 1, inputs[1].dtype);
	assert_int_equal(tenon_model_set_input(model, 1, &v), -TENON_E_UNSUPPORTED);
	assert_error_has("has 2 bytes, the model keeps 4");
	assert_int_equal(tenon_tensor_view(&t, NULL, &view), 0);
	assert_int_equal(tenon_model_bind_input(model, 1, view), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	tenon_object_unref(view);
	tenon_model_close(model);
}

static void a_function_of_todays_convention_is_called_too(void **state)
{
	struct tenon_model *model;

	(void)state;
	modern = true;
	assert_int_equal(open_model(&model), 0);
	set(model, "a_1", one);
	set(model, "b", ten);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 11, 22, 33, 44);
	assert_int_equal(tenon_model_run(model), 0);
	tenon_model_close(model);
}

/* Parameters of four floats for input "b" */
static struct tenon_params *params_of(const float *data, int64_t *shape)
{
	const DLDataType f32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	struct tenon_param p = { .name = tenon_slice_of("b"), .bytes = (size_t)*shape * 4 };
	struct tenon_params *params;

	p.tensor = tenon_dltensor((void *)(uintptr_t)data, shape, 1, f32);
	assert_int_equal(tenon_params_create(&p, 1, NULL, &params), 0);
	return params;
}

static void aligned_parameters_are_used_where_they_lie(void **state)
{
	static float data[5] __attribute__((aligned(128)));
	struct tenon_params *params;
	struct tenon_model *model;
	int64_t shape = 4;
	int i;

	(void)state;
	/* aligned, and behind it */
	for (i = 0; i < 2; i++) {
		memcpy(data + i, ten, sizeof(ten));
		params = params_of(data + i, &shape);
		assert_int_equal(open_model(&model), 0);
		assert_int_equal(tenon_model_set_params(model, params), 0);
		tenon_object_unref(params);
		set(model, "a_1", one);
		assert_int_equal(tenon_model_run(model), 0);
		assert_output(model, 11, 22, 33, 44);
		/* the others were copied */
		data[i] = 110;
		assert_int_equal(tenon_model_run(model), 0);
		assert_output(model, i ? 11 : 111, 22, 33, 44);
		set(model, "b", one);
		assert_int_equal(tenon_model_run(model), 0);
		assert_output(model, 2, 4, 6, 8);
		assert_true(data[i] == 110);
		tenon_model_close(model);
	}
}

static void parameters_that_do_not_fit_are_refused(void **state)
{
	struct tenon_params *params;
	struct tenon_model *model;
	int64_t two = 2;

	(void)state;
	params = params_of(ten, &two);
	assert_int_equal(open_model(&model), 0);
	assert_int_equal(tenon_model_set_params(model, params), -TENON_E_VALUE);
	assert_error_has("has extent 2 in dimension 0");
	tenon_model_close(model);
	tenon_object_unref(params);
}

static void host_code_may_write_to_an_input_that_is_a_parameter(void **state)
{
	/* in read-only memory, so that a write without a copy would crash */
	static const float fixed[4] __attribute__((aligned(128))) = { 10, 20, 30, 40 };
	struct tenon_module *factory = make_factory(), *executor;
	int64_t shape = 4;
	struct tenon_params *params = params_of(fixed, &shape);
	struct tenon_model *model;
	struct tenon_function *f;
	struct tenon_value ret;
	DLTensor *t;

	(void)state;
	assert_int_equal(tenon_module_get_function(factory, "default", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_device((DLDevice){ kDLCPU, 0 })), 0);
	tenon_object_unref(f);
	executor = (struct tenon_module *)ret.as.object;
	model = executor_module_model(executor);
	assert_int_equal(tenon_model_set_params(model, params), 0);
	tenon_object_unref(params);
	set(model, "a_1", one);
	assert_int_equal(tenon_module_get_function(executor, "get_input", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("b")), 0);
	assert_int_equal(tenon_value_tensor(&ret, &t), 0);
	((float *)t->data)[0] = 50;
	tenon_value_release(&ret);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 51, 22, 33, 44);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("nobody")), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(2)), -TENON_E_USAGE);
	assert_error_has("input 2 of a model that has 2");
	tenon_object_unref(f);
	tenon_object_unref(executor);
	tenon_object_unref(factory);
}

static void one_device_is_enough(void **state)
{
	static const DLDevice devices[2] = { { kDLCPU, 0 }, { kDLCPU, 0 } };
	struct tenon_model_options o = { .size = sizeof(o), .devices = devices, .device_count = 2 };
	struct tenon_module *factory = make_factory();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(tenon_model_open(factory, &o, &model), -TENON_E_USAGE);
	assert_error_has("2 devices, want one");
	o.describe = true;
	assert_int_equal(tenon_model_open(factory, &o, &model), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	tenon_object_unref(factory);
}

static void inputs_are_checked_and_bound(void **state)
{
	static const float aligned[4] __attribute__((aligned(128))) = { 5, 6, 7, 8 };
	struct tenon_tensor *tensor;
	struct tenon_model *model;
	int64_t shape = 5, stride = 2;
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
	t.ndim = 0;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	assert_error_has("has 0 dimensions, the model was compiled for 1");
	t.ndim = 1;
	t.strides = &stride;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	assert_error_has("has strides");
	t.strides = NULL;
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
		cmocka_unit_test_setup(a_library_that_does_not_describe_the_model_is_refused,
				       set_up),
		cmocka_unit_test_setup(every_part_of_a_description_is_checked, set_up),
		cmocka_unit_test_setup(small_elements_are_given_as_the_model_keeps_them, set_up),
		cmocka_unit_test_setup(a_function_of_todays_convention_is_called_too, set_up),
		cmocka_unit_test_setup(aligned_parameters_are_used_where_they_lie, set_up),
		cmocka_unit_test_setup(parameters_that_do_not_fit_are_refused, set_up),
		cmocka_unit_test_setup(host_code_may_write_to_an_input_that_is_a_parameter, set_up),
		cmocka_unit_test_setup(one_device_is_enough, set_up),
		cmocka_unit_test_setup(inputs_are_checked_and_bound, set_up),
		cmocka_unit_test_setup(host_code_of_tvm_finds_its_functions, set_up),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test_setup(inputs_come_from_a_device_and_the_model_stays_on_the_host,
				       set_up),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
