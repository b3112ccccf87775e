/* SPDX-License-Identifier: MIT */
/* The graph executor: order, inputs, outputs, failures and shared memory. */
#include "suite.h"

#include <tenon/backend/buffer.h>

#include "graph_library.h"

static const float x_values[4] __attribute__((aligned(128))) = { 1, 2, 3, 4 };
static const float w_values[4] __attribute__((aligned(128))) = { 0.5f, 0.25f, 8, -4 };
static const float sum[4] = { 2, 2.5f, 19, -4 };
static const float twice_sum[4] = { 4, 5, 38, -8 };

static DLTensor four_floats(const float *data)
{
	static int64_t four = 4;

	return tenon_dltensor((void *)(uintptr_t)data, &four, 1,
			      tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
}

/* one operator of one input */
#define SINGLE(name, func, storages, shapes)                                                       \
	G_GRAPH(G_IN("x") ", " G_OP(name, func, "1", "[0, 0]"), "0", "[1, 0]", F32 ", " F32,       \
		storages, shapes, "0, 1, 2")

static struct tenon_model *open_chain(void)
{
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	if (open_text(lib, CHAIN, NULL, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(lib);
	return model;
}

static struct tenon_model *open_set_chain(void)
{
	struct tenon_model *model = open_chain();

	set_floats(model, "x", x_values);
	set_floats(model, "w", w_values);
	return model;
}

/* ---- running */

static void a_graph_calls_functions_of_both_conventions_in_order(void **state)
{
	struct tenon_model *model = open_set_chain();

	(void)state;
	operator_calls = 0;
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(operator_calls, 3);
	assert_output(model, 0, sum, 4);
	assert_output(model, 1, twice_sum, 4);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 1, twice_sum, 4);
	tenon_model_close(model);
}

static void a_run_before_inputs_are_set_names_the_input(void **state)
{
	struct tenon_model *model = open_chain();

	(void)state;
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	assert_error_has("input 0 (\"x\") was never set, nor were others");
	set_floats(model, "x", x_values);
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	assert_error_has("input 1 (\"w\") was never set");
	set_floats(model, "w", w_values);
	assert_int_equal(tenon_model_run(model), 0);
	tenon_model_close(model);
}

static void an_output_before_the_first_run_is_refused(void **state)
{
	struct tenon_model *model = open_set_chain();
	struct tenon_value v;

	(void)state;
	assert_int_equal(tenon_model_output_value(model, 0, &v), -TENON_E_USAGE);
	assert_error_has("before the first run");
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 2, &v), -TENON_E_USAGE);
	assert_error_has("output 2 of a model that has 2");
	tenon_model_close(model);
}

static void inputs_of_another_dtype_or_shape_are_refused(void **state)
{
	struct tenon_model *model = open_chain();
	int64_t shape[2] = { 4, 1 }, strides[2] = { 1, 4 };
	DLTensor t = tenon_dltensor((void *)(uintptr_t)x_values, shape, 1,
				    tenon_dtype(TENON_DTYPE_INT, 32, 1));
	struct tenon_value v = tenon_arg_tensor(&t), number = tenon_arg_int(3);

	(void)state;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_TYPE);
	assert_error_has("input 0 (\"x\"): has dtype int32, the graph was compiled for float32");
	t.dtype = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	t.ndim = 2;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	assert_error_has("has shape [4, 1], the graph was compiled for [4]");
	t.ndim = 1;
	shape[0] = 5;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	assert_error_has("has shape [5]");
	shape[0] = 4;
	strides[0] = 2;
	t.strides = strides;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	assert_error_has("has strides");
	t.strides = NULL;
	t.device.device_type = (DLDeviceType)99;
	assert_int_equal(tenon_model_set_input(model, 0, &v), NO_SUCH_DEVICE);
	t.device.device_type = kDLCPU;
	t.data = NULL;
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	assert_error_has("has no data");
	assert_int_equal(tenon_model_set_input(model, 0, &number), -TENON_E_TYPE);
	assert_int_equal(tenon_model_set_input(model, 2, &v), -TENON_E_USAGE);
	assert_false(tenon_model_input_is_set(model, 0));
	tenon_model_close(model);
}

static void the_operator_that_failed_is_named(void **state)
{
	static const char text[] = SINGLE("relu", "fails", "0, 1", "[4], [4]");
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_text(lib, text, NULL, &model), 0);
	set_floats(model, "x", x_values);
	assert_int_equal(tenon_model_run(model), -TENON_E_CALL);
	assert_error("node 1 (\"relu\"), function fails: the operator is out of order");
	tenon_model_close(model);
	tenon_object_unref(lib);
}

static void a_missing_function_is_named_with_its_caller(void **state)
{
	static const char text[] = SINGLE("relu", "twise", "0, 1", "[4], [4]");
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_text(lib, text, NULL, &model), -TENON_E_NO_FUNCTION);
	assert_null(model);
	assert_non_null(strstr(tenon_error_message(), "node 1 (\"relu\")"));
	assert_non_null(strstr(tenon_error_message(), "\"twise\""));
	assert_error_has("\"twice\"");
	tenon_object_unref(lib);
}

/* ---- __nop, __copy, flatten */

static void a_nop_shares_the_data_of_its_input(void **state)
{
	static const char text[] = G_GRAPH(
		G_IN("x") ", " G_OP("reshape_nop", "__nop", "1", "[0, 0]") ", " G_OP(
			"reshape_nop", "__nop", "1",
			"[1, 0]") ", " G_OP("d", "twice", "1", "[2, 0]") ", " G_OP("r", "__nop",
										   "1", "[3, 0]"),
		"0", "[4, 0], [2, 0]", F32 ", " F32 ", " F32 ", " F32 ", " F32, "0, 0, 0, 1, 1",
		"[4], [2, 2], [1, 4], [4], [2, 2]", "0, 1, 2, 3, 4, 5");
	static const float doubled[4] = { 2, 4, 6, 8 };
	struct tenon_module *lib = make_library();
	struct tenon_tensor *tensor;
	struct tenon_model *model;
	struct tenon_port port;
	DLTensor t;

	(void)state;
	assert_int_equal(open_text(lib, text, NULL, &model), 0);
	set_floats(model, "x", x_values);
	operator_calls = 0;
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(operator_calls, 1);
	assert_output(model, 0, doubled, 4);
	assert_output(model, 1, x_values, 4);
	assert_int_equal(tenon_model_output(model, 0, &port), 0);
	assert_int_equal(port.ndim, 2);

	/* an input that is bound moves with all that share it */
	t = four_floats(w_values);
	assert_int_equal(tenon_tensor_view(&t, NULL, &tensor), 0);
	assert_int_equal(tenon_model_bind_input(model, 0, tensor), 0);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 1, w_values, 4);
	assert_output(model, 0, (const float[]){ 1, 0.5f, 16, -8 }, 4);
	tenon_object_unref(tensor);
	tenon_model_close(model);
	tenon_object_unref(lib);
}

static void a_nop_that_does_not_share_is_refused(void **state)
{
	static const char text[] = SINGLE("r", "__nop", "0, 1", "[4], [2, 2]");
	static const char larger[] = SINGLE("r", "__nop", "0, 0", "[4], [5]");
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_text(lib, text, NULL, &model), -TENON_E_FORMAT);
	assert_error_has(
		"node 1 (\"r\"): a __nop whose output lies in storage 1 and its input in 0");
	assert_int_equal(open_text(lib, larger, NULL, &model), -TENON_E_VALUE);
	assert_error_has("makes 20 bytes out of 16");
	tenon_object_unref(lib);
}

static void a_copy_copies(void **state)
{
	static const char text[] = SINGLE("c", "__copy", "0, 1", "[4], [4]");
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_text(lib, text, NULL, &model), 0);
	set_floats(model, "x", x_values);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 0, x_values, 4);
	tenon_model_close(model);
	tenon_object_unref(lib);
}

static void flattened_arguments_have_one_dimension(void **state)
{
	static const char text[] = "{\"nodes\": [" G_IN(
		"x") ", {\"op\": \"tvm_op\", \"name\": \"n\", \"attrs\": "
		     "{\"num_outputs\": \"1\", \"num_inputs\": \"1\", \"flatten_data\": \"1\", "
		     "\"func_name\": "
		     "\"ndim\"}, \"inputs\": [[0, 0]]}], \"arg_nodes\": [0], \"heads\": [[1, 0]], "
		     "\"attrs\": "
		     "{\"dltype\": [\"list_str\", [" F32 ", " F32
		     "]], \"storage_id\": [\"list_int\", [0, 1]], "
		     "\"shape\": [\"list_shape\", [[2, 2], [2]]]}, \"node_row_ptr\": [0, 1, 2]}";
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_text(lib, text, NULL, &model), 0);
	set_floats(model, "x", x_values);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 0, (const float[]){ 1, 4 }, 2);
	tenon_model_close(model);
	tenon_object_unref(lib);
}

/* ---- parameters */

static struct tenon_params *params_of_w(const float *data)
{
	struct tenon_param p = { .name = tenon_slice_of("w"), .bytes = 16 };
	struct tenon_params *params;
	char path[300];

	p.tensor = four_floats(data);
	snprintf(path, sizeof(path), "%s/w.params", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_int_equal(tenon_params_write(path, &p, 1, 128), 0);
	assert_int_equal(tenon_params_open(path, &params), 0);
	remove(path);
	return params;
}

static void aligned_parameters_are_used_in_place_and_never_written_to(void **state)
{
	struct tenon_params *params = params_of_w(w_values);
	struct tenon_module *lib = make_library();
	struct tenon_model_memory memory;
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_text(lib, CHAIN, params, &model), 0);
	assert_int_equal(strong_count(params), 2);
	assert_true(tenon_model_input_is_set(model, 1));
	set_floats(model, "x", x_values);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 0, sum, 4);
	tenon_model_memory(model, &memory);
	assert_int_equal(memory.params, 16);
	assert_int_equal(memory.activations, 48);

	/* the mapping is read-only: setting the input takes the model's own storage */
	set_floats(model, "w", x_values);
	assert_int_equal(strong_count(params), 1);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 0, (const float[]){ 3, 6, 9, 12 }, 4);
	assert_memory_equal(tenon_params_at(params, 0)->tensor.data, w_values, 16);
	tenon_model_close(model);
	tenon_object_unref(params);
	tenon_object_unref(lib);
}

static void linked_parameters_are_found_in_the_library(void **state)
{
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	linked_storage = 1;
	assert_int_equal(open_text(lib, CHAIN, NULL, &model), 0);
	linked_storage = -1;
	set_floats(model, "x", x_values);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 0, (const float[]){ 21, 42, 63, 84 }, 4);
	set_floats(model, "w", w_values);
	assert_int_equal(tenon_model_run(model), 0);
	assert_output(model, 0, sum, 4);
	assert_int_equal(linked_weights[0], 10);
	tenon_model_close(model);
	tenon_object_unref(lib);
}

/* ---- TVM's functions */

static struct tenon_module *create_module(struct tenon_module *lib, const char *text)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *create;

	assert_int_equal(tenon_function_find("tvm.graph_executor.create", &create), 0);
	assert_non_null(create);
	if (tenon_call(create, &ret, tenon_arg_string(text), tenon_arg_object(lib),
		       tenon_arg_int(1), tenon_arg_int(0)))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(create);
	assert_int_equal(ret.type, TENON_TYPE_MODULE);
	return (struct tenon_module *)ret.as.object;
}

#define CALL(m, name, ret, ...)                                                                    \
	do {                                                                                       \
		struct tenon_function *f_;                                                         \
		assert_int_equal(tenon_module_get_function(m, name, &f_), 0);                      \
		*(ret) = tenon_arg_none();                                                         \
		if (tenon_call(f_, ret, ##__VA_ARGS__))                                            \
			fail_msg("%s", tenon_error_message());                                     \
		tenon_object_unref(f_);                                                            \
	} while (0)

static int call_status(struct tenon_module *m, const char *name, struct tenon_value a,
		       struct tenon_value b)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	int err;

	assert_int_equal(tenon_module_get_function(m, name, &f), 0);
	err = tenon_call(f, &ret, a, b);
	tenon_object_unref(f);
	return err;
}

static void host_code_of_tvm_finds_its_functions(void **state)
{
	struct tenon_module *lib = make_library(), *m = create_module(lib, CHAIN);
	DLTensor x = four_floats(x_values), w = four_floats(w_values), *t;
	float copied[4];
	DLTensor copy = four_floats(copied);
	struct tenon_value ret, out;

	(void)state;
	tenon_object_unref(lib);
	CALL(m, "set_input", &ret, tenon_arg_string("x"), tenon_arg_tensor(&x));
	CALL(m, "set_input", &ret, tenon_arg_int(1), tenon_arg_tensor(&w));
	CALL(m, "set_input", &ret, tenon_arg_string("nobody"), tenon_arg_tensor(&w));
	CALL(m, "run", &ret);
	CALL(m, "get_num_inputs", &ret);
	assert_int_equal(ret.as.integer, 2);
	CALL(m, "get_num_outputs", &ret);
	assert_int_equal(ret.as.integer, 2);
	CALL(m, "get_input_index", &ret, tenon_arg_string("w"));
	assert_int_equal(ret.as.integer, 1);
	CALL(m, "get_input_index", &ret, tenon_arg_string("v"));
	assert_int_equal(ret.as.integer, -1);
	CALL(m, "get_output", &out, tenon_arg_int(0));
	assert_int_equal(tenon_value_tensor(&out, &t), 0);
	assert_memory_equal(t->data, sum, 16);
	tenon_value_release(&out);
	CALL(m, "get_output", &ret, tenon_arg_int(1), tenon_arg_tensor(&copy));
	assert_memory_equal(copied, twice_sum, 16);
	CALL(m, "get_output", &out, tenon_arg_string("second"));
	assert_int_equal(tenon_value_tensor(&out, &t), 0);
	assert_memory_equal(t->data, sum, 16);
	tenon_value_release(&out);
	CALL(m, "get_input", &out, tenon_arg_string("x"));
	assert_int_equal(tenon_value_tensor(&out, &t), 0);
	assert_memory_equal(t->data, x_values, 16);
	tenon_object_unref(m);
	/* a tensor outlives the executor */
	assert_memory_equal(t->data, x_values, 16);
	tenon_value_release(&out);
}

static void every_bool_of_an_output_is_copied(void **state)
{
	static const char text[] =
		G_GRAPH(G_IN("x"), "0", "[0, 0]", "\"bool\"", "0", "[40]", "0, 1");
	struct tenon_module *lib = make_library(), *m = create_module(lib, text);
	int64_t forty = 40;
	bool given[40], copied[40] = { false };
	DLTensor x = tenon_dltensor(given, &forty, 1, tenon_dtype(TENON_DTYPE_BOOL, 8, 1));
	DLTensor copy = tenon_dltensor(copied, &forty, 1, x.dtype);
	struct tenon_value ret;

	(void)state;
	memset(given, 1, sizeof(given));
	CALL(m, "set_input", &ret, tenon_arg_string("x"), tenon_arg_tensor(&x));
	CALL(m, "run", &ret);
	CALL(m, "get_output", &ret, tenon_arg_int(0), tenon_arg_tensor(&copy));
	assert_memory_equal(copied, given, sizeof(copied));
	tenon_object_unref(lib);
	tenon_object_unref(m);
}

/* what the port says is what a caller makes the tensor of */
static struct tenon_tensor *tensor_of_input(struct tenon_model *model)
{
	struct tenon_tensor *t;
	struct tenon_port port;

	assert_int_equal(tenon_model_input(model, 0, &port), 0);
	assert_int_equal(tenon_tensor_create(port.shape, port.ndim, port.dtype, &t), 0);
	return t;
}

static int set_own_tensor(const char *text)
{
	struct tenon_module *lib = make_library();
	struct tenon_tensor *t;
	struct tenon_model *model;
	struct tenon_value value;
	size_t bytes;
	int err;

	assert_int_equal(open_text(lib, text, NULL, &model), 0);
	t = tensor_of_input(model);
	assert_int_equal(tenon_tensor_bytes(&t->dl, &bytes), 0);
	memset(t->dl.data, 1, bytes);
	value = tenon_arg_object(t);
	err = tenon_model_set_input(model, 0, &value);
	if (err)
		assert_int_equal(tenon_model_bind_input(model, 0, t), err);
	tenon_object_unref(t);
	tenon_model_close(model);
	tenon_object_unref(lib);
	return err;
}

static void no_input_is_read_behind_its_end(void **state)
{
	(void)state;
	assert_int_equal(
		set_own_tensor(G_GRAPH(G_IN("x"), "0", "[0, 0]", "\"bool\"", "0", "[40]", "0, 1")),
		0);
	assert_int_equal(
		set_own_tensor(G_GRAPH(G_IN("x"), "0", "[0, 0]", "\"int4\"", "0", "[40]", "0, 1")),
		-TENON_E_UNSUPPORTED);
	assert_error_has("has 20 bytes, the graph keeps 40");
}

static void an_output_is_copied_to_as_many_bytes_only(void **state)
{
	static const char text[] =
		G_GRAPH(G_IN("x"), "0", "[0, 0]", "\"float32x4\"", "0", "[1]", "0, 1");
	struct tenon_module *lib = make_library(), *m = create_module(lib, text);
	DLTensor x = four_floats(x_values), one = x;
	struct tenon_value ret;
	int64_t extent = 1;
	float to[4] = { 0 };

	(void)state;
	x.shape = one.shape = &extent;
	x.dtype.lanes = 4;
	one.data = to;
	CALL(m, "set_input", &ret, tenon_arg_string("x"), tenon_arg_tensor(&x));
	CALL(m, "run", &ret);
	assert_int_equal(call_status(m, "get_output", tenon_arg_int(0), tenon_arg_tensor(&one)),
			 -TENON_E_TYPE);
	assert_error_has("another dtype than the output");
	one.dtype.lanes = 4;
	CALL(m, "get_output", &ret, tenon_arg_int(0), tenon_arg_tensor(&one));
	assert_memory_equal(to, x_values, sizeof(to));
	tenon_object_unref(lib);
	tenon_object_unref(m);
}

static void inputs_and_outputs_are_used_without_a_copy_on_demand(void **state)
{
	static float in[4] __attribute__((aligned(128))), to[4] __attribute__((aligned(128)));
	struct tenon_module *lib = make_library(), *m = create_module(lib, CHAIN);
	DLTensor x = four_floats(in), w = four_floats(w_values), y = four_floats(to);
	DLTensor odd = four_floats(in + 1);
	struct tenon_value ret;

	(void)state;
	CALL(m, "set_input", &ret, tenon_arg_string("w"), tenon_arg_tensor(&w));
	CALL(m, "set_input_zero_copy", &ret, tenon_arg_string("x"), tenon_arg_tensor(&x));
	CALL(m, "set_output_zero_copy", &ret, tenon_arg_string("second:0"), tenon_arg_tensor(&y));
	memcpy(in, x_values, 16);
	CALL(m, "run", &ret);
	assert_memory_equal(to, sum, 16);
	in[0] = 100;
	CALL(m, "run", &ret);
	assert_true(to[0] == 101);
	assert_int_equal(
		call_status(m, "set_input_zero_copy", tenon_arg_int(0), tenon_arg_tensor(&odd)),
		-TENON_E_VALUE);
	assert_error_has("want an address that is a multiple of 128");
	assert_int_equal(call_status(m, "set_input", tenon_arg_int(2), tenon_arg_tensor(&x)),
			 -TENON_E_USAGE);
	assert_error_has("input 2 of a model that has 2");
	tenon_object_unref(m);
	tenon_object_unref(lib);
}

static void one_call_sets_runs_and_gives_all_outputs(void **state)
{
	struct tenon_module *lib = make_library(), *m = create_module(lib, CHAIN);
	DLTensor x = four_floats(x_values), w = four_floats(w_values), *t;
	const struct tenon_array *list;
	struct tenon_value ret;

	(void)state;
	CALL(m, "run_from_inputs", &ret, tenon_arg_int(1), tenon_arg_int(0), tenon_arg_string("x"),
	     tenon_arg_tensor(&x), tenon_arg_string("w"), tenon_arg_tensor(&w));
	assert_int_equal(ret.type, TENON_TYPE_ARRAY);
	list = (const void *)ret.as.object;
	assert_int_equal(list->size, 2);
	assert_int_equal(tenon_value_tensor(&list->data[1], &t), 0);
	assert_memory_equal(t->data, twice_sum, 16);
	tenon_value_release(&ret);
	tenon_object_unref(m);
	tenon_object_unref(lib);
}

static void info_tells_shapes_and_dtypes_by_name(void **state)
{
	struct tenon_module *lib = make_library(), *m = create_module(lib, CHAIN);
	struct tenon_value ret, key = tenon_arg_string("shape"), w = tenon_arg_string("w");
	const struct tenon_value *found;
	const struct tenon_shape *shape;
	struct tenon_slice text;

	(void)state;
	CALL(m, "get_input_info", &ret);
	found = tenon_map_find((const void *)ret.as.object, &key);
	assert_non_null(found);
	found = tenon_map_find((const void *)found->as.object, &w);
	assert_non_null(found);
	shape = (const void *)found->as.object;
	assert_int_equal(shape->size, 1);
	assert_int_equal(shape->data[0], 4);
	key = tenon_arg_string("dtype");
	found = tenon_map_find((const void *)ret.as.object, &key);
	found = tenon_map_find((const void *)found->as.object, &w);
	assert_int_equal(tenon_value_text(found, &text), 0);
	assert_slice(text, "float32");
	tenon_value_release(&ret);
	CALL(m, "get_output_info", &ret);
	assert_int_equal(ret.type, TENON_TYPE_MAP);
	tenon_value_release(&ret);
	tenon_object_unref(m);
	tenon_object_unref(lib);
}

static struct tenon_slice file_bytes(const char *path)
{
	static char bytes[4096];
	FILE *f = fopen(path, "rb");
	struct tenon_slice s = { bytes, 0 };

	assert_non_null(f);
	s.size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return s;
}

static void parameters_are_loaded_and_shared(void **state)
{
	struct tenon_module *lib = make_library(), *m = create_module(lib, CHAIN);
	struct tenon_module *other = create_module(lib, CHAIN);
	DLTensor x = four_floats(x_values), *t;
	struct tenon_param p = { .name = tenon_slice_of("w"), .bytes = 16 };
	struct tenon_buffer saved = TENON_BUFFER_INIT;
	struct tenon_value ret;
	struct tenon_slice bytes;
	char path[300];

	(void)state;
	p.tensor = four_floats(w_values);
	snprintf(path, sizeof(path), "%s/load.params",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_int_equal(tenon_params_write(path, &p, 1, 0), 0);
	bytes = file_bytes(path);
	remove(path);
	/* the same bytes in memory, behind what the buffer has */
	assert_int_equal(tenon_buffer_append(&saved, "x", 1), 0);
	assert_int_equal(tenon_params_save(&p, 1, &saved), 0);
	assert_int_equal(saved.size, 1 + bytes.size);
	assert_memory_equal(saved.data + 1, bytes.data, bytes.size);
	tenon_buffer_fini(&saved);
	CALL(m, "load_params", &ret, tenon_arg_bytes(&bytes));
	CALL(other, "share_params", &ret, tenon_arg_object(m), tenon_arg_bytes(&bytes));
	tenon_object_unref(m);
	CALL(other, "set_input", &ret, tenon_arg_string("x"), tenon_arg_tensor(&x));
	CALL(other, "run", &ret);
	CALL(other, "get_output", &ret, tenon_arg_int(0));
	assert_int_equal(tenon_value_tensor(&ret, &t), 0);
	assert_memory_equal(t->data, sum, 16);
	tenon_value_release(&ret);
	assert_int_equal(
		call_status(other, "share_params", tenon_arg_object(lib), tenon_arg_bytes(&bytes)),
		-TENON_E_TYPE);
	assert_error_has("is no GraphExecutor");
	tenon_object_unref(other);
	tenon_object_unref(lib);
}

static void options_with_a_graph_open_it_with_the_functions_of_any_module(void **state)
{
	struct tenon_model_options o = { .size = sizeof(o), .graph = tenon_slice_of(CHAIN) };
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(tenon_model_open(lib, &o, &model), 0);
	assert_int_equal(tenon_model_input_count(model), 2);
	tenon_model_close(model);
	o.graph = tenon_slice_of("");
	assert_int_not_equal(tenon_model_open(lib, &o, &model), 0);
	o.graph = (struct tenon_slice){ NULL, 7 };
	assert_int_equal(tenon_model_open(lib, &o, &model), -TENON_E_VALUE);
	o.graph.size = 0;
	assert_int_equal(tenon_model_open(lib, &o, &model), -TENON_E_UNSUPPORTED);
	assert_error_has("is no model");
	tenon_object_unref(lib);
}

static void devices_are_checked(void **state)
{
	static const DLDevice devices[2] = { { (DLDeviceType)99, 0 }, { kDLCPU, 0 } };
	struct tenon_model_options o = { .size = sizeof(o), .devices = devices, .device_count = 2 };
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(tenon_model_open_graph(lib, tenon_slice_of(CHAIN), NULL, &o, &model),
			 NO_SUCH_DEVICE);
	/* one that no storage is on is not opened */
	o.devices++;
	o.device_count = 1;
	assert_int_equal(tenon_model_open_graph(lib, tenon_slice_of(CHAIN), NULL, &o, &model), 0);
	tenon_model_close(model);
	tenon_object_unref(lib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_calls_functions_of_both_conventions_in_order),
		cmocka_unit_test(a_run_before_inputs_are_set_names_the_input),
		cmocka_unit_test(an_output_before_the_first_run_is_refused),
		cmocka_unit_test(inputs_of_another_dtype_or_shape_are_refused),
		cmocka_unit_test(the_operator_that_failed_is_named),
		cmocka_unit_test(a_missing_function_is_named_with_its_caller),
		cmocka_unit_test(a_nop_shares_the_data_of_its_input),
		cmocka_unit_test(a_nop_that_does_not_share_is_refused),
		cmocka_unit_test(a_copy_copies),
		cmocka_unit_test(flattened_arguments_have_one_dimension),
		cmocka_unit_test(aligned_parameters_are_used_in_place_and_never_written_to),
		cmocka_unit_test(linked_parameters_are_found_in_the_library),
		cmocka_unit_test(host_code_of_tvm_finds_its_functions),
		cmocka_unit_test(every_bool_of_an_output_is_copied),
		cmocka_unit_test(no_input_is_read_behind_its_end),
		cmocka_unit_test(an_output_is_copied_to_as_many_bytes_only),
		cmocka_unit_test(inputs_and_outputs_are_used_without_a_copy_on_demand),
		cmocka_unit_test(one_call_sets_runs_and_gives_all_outputs),
		cmocka_unit_test(info_tells_shapes_and_dtypes_by_name),
		cmocka_unit_test(parameters_are_loaded_and_shared),
		cmocka_unit_test(devices_are_checked),
		cmocka_unit_test(options_with_a_graph_open_it_with_the_functions_of_any_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
