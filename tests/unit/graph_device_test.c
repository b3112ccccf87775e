/* SPDX-License-Identifier: MIT */
/*
 * Graphs over several devices: values are copied where devices change, and a device that is missing is named. The null
 * device is the second one: its memory is its own, and the host sees it.
 */
#include "suite.h"

#include <pthread.h>
#include <stdlib.h>

#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/module_kind.h>
#include <tenon/object.h>
#include "graph_library.h"

/* clang-format off */
#define NULL0 { (DLDeviceType)TENON_DL_NULL, 0 }
/* clang-format on */

static const float x_values[4] __attribute__((aligned(128))) = { 1, 2, 3, 4 };
static const float w_values[4] __attribute__((aligned(128))) = { 10, 20, 30, 40 };
static const float on_null[4] = { 11, 22, 33, 44 };
static const float on_cpu[4] = { 12, 24, 36, 48 };

static const DLDevice both[2] = { { kDLCPU, 0 }, NULL0 };

/* ---- a library whose operator looks where its arguments lie, as compiled code does */

static int32_t wanted_type[2]; /* of the next calls: what the compiler knew the device as */
static int calls;

static float *see(const DLTensor *t, int32_t type)
{
	assert_int_equal(t->device.device_type, type);
	assert_int_equal(t->byte_offset, 0);
	return type == kDLCPU ? t->data : ((struct tenon_memory *)t->data)->host;
}

static int placed_add(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		      int *ret_code, void *resource)
{
	const DLTensor *a = args[0].pointer, *b = args[1].pointer, *out = args[2].pointer;
	int32_t type = wanted_type[calls++ % 2];
	size_t i;

	(void)codes;
	(void)ret;
	(void)ret_code;
	(void)resource;
	assert_int_equal(count, 3);
	for (i = 0; i < elements_of(out); i++)
		see(out, type)[i] = see(a, type)[i] + see(b, type)[i];
	return 0;
}

static int placed_function(struct tenon_module *m, struct tenon_slice name,
			   struct tenon_function **out)
{
	*out = NULL;
	if (tenon_slice_equal(tenon_slice_of("placed_add"), name))
		return tvm_legacy_function_create((void *)placed_add, &m->object, out);
	if (linked_storage >= 0 && tenon_slice_equal(tenon_slice_of("_lookup_linked_param"), name))
		return tenon_function_create(NULL, lookup_linked, NULL, out);
	return 0;
}

static struct tenon_module *make_placed_library(void)
{
	static const struct tenon_module_ops ops = { .get_function = placed_function,
						     .each_function = library_each_function };
	struct tenon_module *m = malloc(sizeof(*m));

	assert_non_null(m);
	tenon_module_init(m, &ops, tenon_slice_of("library"), TENON_MODULE_RUNNABLE);
	m->flags |= TENON_MODULE_OPEN_NAMES;
	wanted_type[0] = TENON_DL_NULL;
	wanted_type[1] = kDLCPU;
	calls = 0;
	return m;
}

/* x on the CPU; x + w on the other device; x + that on the CPU */
/* clang-format off */
#define TWO_DEVICES(cpu, other)                                                                     \
	"{\"nodes\": [" G_IN("x") ", " G_IN("w") ", " G_OP("there", "__copy", "1", "[0, 0, 0]")     \
	", " G_OP("sum", "placed_add", "2", "[2, 0, 0], [1, 0, 0]") ", "                            \
	G_OP("back", "__copy", "1", "[3, 0, 0]") ", "                                               \
	G_OP("last", "placed_add", "2", "[4, 0, 0], [0, 0, 0]") "], "                               \
	"\"arg_nodes\": [0, 1], \"heads\": [[5, 0, 0], [3, 0, 0]], \"attrs\": {"                    \
	"\"dltype\": [\"list_str\", [" F32 ", " F32 ", " F32 ", " F32 ", " F32 ", " F32 "]], "      \
	"\"device_index\": [\"list_int\", [" cpu ", " other ", " other ", " other ", " cpu ", " cpu \
	"]], \"storage_id\": [\"list_int\", [0, 1, 2, 3, 4, 5]], "                                  \
	"\"shape\": [\"list_shape\", [[4], [4], [4], [4], [4], [4]]]}, "                            \
	"\"node_row_ptr\": [0, 1, 2, 3, 4, 5, 6]}"
/* clang-format on */

static const char on_two[] = TWO_DEVICES("1", "100");

static int open_on(const char *text, const DLDevice *devices, size_t count,
		   struct tenon_params *params, struct tenon_model **out)
{
	struct tenon_model_options o = { .size = sizeof(o),
					 .devices = devices,
					 .device_count = count };
	struct tenon_module *lib = make_placed_library();
	int err = tenon_model_open_graph(lib, tenon_slice_of(text), params, &o, out);

	tenon_object_unref(lib);
	return err;
}

static struct tenon_model *open_two(void)
{
	struct tenon_model *model;

	if (open_on(on_two, both, 2, NULL, &model))
		fail_msg("%s", tenon_error_message());
	return model;
}

/* An output that lies on the null device, copied. */
static void assert_device_output(struct tenon_model *model, size_t index, const float *want)
{
	struct tenon_value v;
	float got[4];
	int64_t four = 4;
	DLTensor *t, host = tenon_dltensor(got, &four, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));

	assert_int_equal(tenon_model_output_value(model, index, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_int_equal(t->device.device_type, TENON_DL_NULL);
	assert_int_equal(tenon_tensor_copy(t, &host), 0);
	assert_memory_equal(got, want, sizeof(got));
	tenon_value_release(&v);
}

static void assert_runs(struct tenon_model *model)
{
	if (tenon_model_run(model))
		fail_msg("%s", tenon_error_message());
	assert_output(model, 0, on_cpu, 4);
	assert_device_output(model, 1, on_null);
}

static struct tenon_tensor *tensor_on_null(const float *values)
{
	int64_t four = 4;
	DLTensor host = tenon_dltensor((void *)(uintptr_t)values, &four, 1,
				       tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_tensor *t;

	assert_int_equal(tenon_tensor_create_on((DLDevice)NULL0, &four, 1, host.dtype, &t), 0);
	assert_int_equal(tenon_tensor_copy(&host, &t->dl), 0);
	return t;
}

/* ---- running */

static void copies_join_what_runs_on_two_devices(void **state)
{
	struct tenon_model *model = open_two();

	(void)state;
	set_floats(model, "x", x_values);
	set_floats(model, "w", w_values);
	assert_runs(model);
	assert_int_equal(calls, 2);
	assert_runs(model);
	tenon_model_close(model);
}

static void *run_there(void *model)
{
	assert_runs(model);
	return NULL;
}

static void a_graph_goes_from_thread_to_thread(void **state)
{
	struct tenon_model *model = open_two();
	pthread_t thread;
	int i;

	(void)state;
	set_floats(model, "x", x_values);
	set_floats(model, "w", w_values);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_create(&thread, NULL, run_there, model), 0);
		pthread_join(thread, NULL);
		assert_runs(model);
	}
	tenon_model_close(model);
}

static void count_op(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		     uint64_t end)
{
	(void)op;
	assert_true(begin <= end);
	assert_int_equal(index, (*(size_t *)context)++);
}

static void a_profile_tells_of_copies_too(void **state)
{
	struct tenon_model *model = open_two();
	size_t ops = 0;
	struct tenon_profiler p = { .size = sizeof(p), .op = count_op, .context = &ops };

	(void)state;
	set_floats(model, "x", x_values);
	set_floats(model, "w", w_values);
	assert_int_equal(tenon_model_run_profiled(model, &p), 0);
	assert_int_equal(ops, 4);
	assert_output(model, 0, on_cpu, 4);
	tenon_model_close(model);
}

static void a_device_that_the_graph_needs_and_nobody_named_is_told(void **state)
{
	struct tenon_model_options look = { .size = sizeof(look), .describe = true };
	struct tenon_module *lib = make_placed_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_on(on_two, both, 1, NULL, &model), -TENON_E_DEVICE);
	assert_error_has("(device type 100), the model was opened for cpu:0: name a device");
	assert_int_equal(open_on(on_two, NULL, 0, NULL, &model), -TENON_E_DEVICE);
	assert_error_has("opened for cpu:0");
	/* looking at it takes no device */
	assert_int_equal(tenon_model_open_graph(lib, tenon_slice_of(on_two), NULL, &look, &model),
			 0);
	tenon_model_close(model);
	tenon_object_unref(lib);
}

static void the_host_is_always_there(void **state)
{
	static const DLDevice only[1] = { NULL0 };
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_on(on_two, only, 1, NULL, &model), 0);
	set_floats(model, "x", x_values);
	set_floats(model, "w", w_values);
	assert_runs(model);
	tenon_model_close(model);
}

static void a_graph_without_device_indices_lies_on_the_first_device(void **state)
{
	static const char text[] =
		G_GRAPH(G_IN("x") ", " G_OP("same", "__copy", "1", "[0, 0, 0]"), "0", "[1, 0, 0]",
			F32 ", " F32, "0, 1", "[4], [4]", "0, 1, 2");
	static const DLDevice null_first[2] = { NULL0, { kDLCPU, 0 } };
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_on(text, null_first, 2, NULL, &model), 0);
	set_floats(model, "x", x_values);
	assert_int_equal(tenon_model_run(model), 0);
	assert_device_output(model, 0, x_values);
	tenon_model_close(model);
}

/* ---- numbers of devices: a backend that is a null device by the name of sdaccel, which is 6 or 33 */

extern const struct tenon_backend null_backend;
static struct tenon_backend sdaccel;

static int open_sdaccel(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	int err = null_backend.open(choice, out);

	if (!err)
		(*out)->backend = &sdaccel;
	return err;
}

static void a_graph_of_either_numbering_finds_its_device(void **state)
{
	static const char *const texts[2] = { TWO_DEVICES("1", "6"), TWO_DEVICES("1", "33") };
	static const DLDevice devices[2] = { { kDLCPU, 0 }, { (DLDeviceType)33, 0 } };
	static const int32_t numbers[2] = { 6, 33 };
	struct tenon_model *model;
	struct tenon_value v;
	DLTensor *t;
	int i;

	(void)state;
	sdaccel = null_backend;
	sdaccel.name = "fake-sdaccel";
	sdaccel.device_type = 33;
	sdaccel.open = open_sdaccel;
	assert_int_equal(tenon_backend_register(&sdaccel), 0);
	for (i = 0; i < 2; i++) {
		if (open_on(texts[i], devices, 2, NULL, &model))
			fail_msg("%s", tenon_error_message());
		/* compiled code checks for the number its compiler had */
		wanted_type[0] = numbers[i];
		set_floats(model, "x", x_values);
		set_floats(model, "w", w_values);
		assert_int_equal(tenon_model_run(model), 0);
		assert_output(model, 0, on_cpu, 4);
		/* who takes an output knows the device by today's */
		assert_int_equal(tenon_model_output_value(model, 1, &v), 0);
		assert_int_equal(tenon_value_tensor(&v, &t), 0);
		assert_int_equal(t->device.device_type, 33);
		tenon_value_release(&v);
		tenon_model_close(model);
	}
}

/* ---- inputs, outputs, parameters */

static void inputs_come_from_either_side(void **state)
{
	struct tenon_model *model = open_two();
	struct tenon_tensor *x = tensor_on_null(x_values), *w = tensor_on_null(w_values);
	struct tenon_value v = tenon_arg_object(x);

	(void)state;
	/* copied to the host, and taken as it is on the device */
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	assert_int_equal(tenon_model_bind_input(model, 1, w), 0);
	tenon_object_unref(x);
	tenon_object_unref(w);
	assert_runs(model);
	tenon_model_close(model);
}

static void an_input_is_bound_only_where_it_is_wanted(void **state)
{
	struct tenon_model *model = open_two();
	struct tenon_tensor *w = tensor_on_null(w_values), *part;
	int64_t four = 4;
	DLTensor dl;

	(void)state;
	assert_int_equal(tenon_model_bind_input(model, 0, w), -TENON_E_DEVICE);
	assert_error_has("input 0 (\"x\"): lies on ");
	dl = w->dl;
	dl.shape = &four;
	dl.byte_offset = 4;
	assert_int_equal(tenon_tensor_view(&dl, &w->object, &part), 0);
	assert_int_equal(tenon_model_bind_input(model, 1, part), -TENON_E_VALUE);
	assert_error_has("begins 4 bytes into its memory");
	tenon_object_unref(part);
	dl = tenon_dltensor((void *)(uintptr_t)w_values, &four, 1,
			    tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	assert_int_equal(tenon_tensor_view(&dl, NULL, &part), 0);
	assert_int_equal(tenon_model_bind_input(model, 1, part), -TENON_E_DEVICE);
	assert_error_has("lies on cpu:0, want ");
	tenon_object_unref(part);
	tenon_object_unref(w);
	tenon_model_close(model);
}

static struct tenon_params *params_of_w(void)
{
	struct tenon_param p = { .name = tenon_slice_of("w"), .bytes = 16 };
	struct tenon_params *params;
	int64_t four = 4;
	char path[300];

	p.tensor = tenon_dltensor((void *)(uintptr_t)w_values, &four, 1,
				  tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	snprintf(path, sizeof(path), "%s/placed.params",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_int_equal(tenon_params_write(path, &p, 1, 128), 0);
	assert_int_equal(tenon_params_open(path, &params), 0);
	remove(path);
	return params;
}

static void parameters_are_put_on_their_device_and_let_go(void **state)
{
	struct tenon_params *params = params_of_w();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_on(on_two, both, 2, params, &model), 0);
	assert_int_equal(strong_count(params), 1);
	tenon_object_unref(params);
	assert_true(tenon_model_input_is_set(model, 1));
	set_floats(model, "x", x_values);
	assert_runs(model);
	tenon_model_close(model);
}

static void linked_parameters_are_put_on_their_device(void **state)
{
	struct tenon_model *model;

	(void)state;
	linked_storage = 1;
	assert_int_equal(open_on(on_two, both, 2, NULL, &model), 0);
	linked_storage = -1;
	set_floats(model, "x", x_values);
	assert_runs(model);
	tenon_model_close(model);
}

static void an_output_outlives_its_model_and_its_device_memory_with_it(void **state)
{
	struct tenon_model *model = open_two();
	struct tenon_value v;
	DLTensor *t;

	(void)state;
	set_floats(model, "x", x_values);
	set_floats(model, "w", w_values);
	assert_runs(model);
	assert_int_equal(tenon_model_output_value(model, 1, &v), 0);
	tenon_model_close(model);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_memory_equal(((struct tenon_memory *)t->data)->host, on_null, 16);
	tenon_value_release(&v);
}

/* ---- as host code of TVM does it */

static int call(struct tenon_module *m, const char *name, struct tenon_value *ret,
		struct tenon_value a, struct tenon_value b)
{
	struct tenon_function *f;
	int err;

	*ret = tenon_arg_none();
	assert_int_equal(tenon_module_get_function(m, name, &f), 0);
	err = b.type == TENON_TYPE_NONE ? tenon_call(f, ret, a) : tenon_call(f, ret, a, b);
	tenon_object_unref(f);
	return err;
}

static struct tenon_module *create_module(void)
{
	struct tenon_module *lib = make_placed_library();
	struct tenon_function *create;
	struct tenon_value ret;

	assert_int_equal(tenon_function_find("tvm.graph_executor.create", &create), 0);
	assert_non_null(create);
	assert_int_equal(tenon_call(create, &ret, tenon_arg_string(on_two), tenon_arg_object(lib),
				    tenon_arg_int(kDLCPU), tenon_arg_int(0),
				    tenon_arg_int(TENON_DL_NULL), tenon_arg_int(0)),
			 0);
	tenon_object_unref(create);
	tenon_object_unref(lib);
	return (struct tenon_module *)ret.as.object;
}

static void functions_of_tvm_take_and_give_tensors_of_any_device(void **state)
{
	struct tenon_value none = tenon_arg_none(), ret, x, w;
	struct tenon_module *m = create_module();
	struct tenon_tensor *there = tensor_on_null(w_values), *to = tensor_on_null(x_values);
	float got[4];
	int64_t four = 4;
	DLTensor host = tenon_dltensor((void *)(uintptr_t)x_values, &four, 1,
				       tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));

	(void)state;
	x = tenon_arg_tensor(&host);
	w = tenon_arg_object(there);
	assert_int_equal(call(m, "set_input", &ret, tenon_arg_string("x"), x), 0);
	assert_int_equal(call(m, "set_input_zero_copy", &ret, tenon_arg_string("w"), w), 0);
	assert_int_equal(
		call(m, "set_output_zero_copy", &ret, tenon_arg_int(1), tenon_arg_object(to)), 0);
	{
		struct tenon_function *run;

		assert_int_equal(tenon_module_get_function(m, "run", &run), 0);
		assert_int_equal(tenon_call(run, &ret), 0);
		tenon_object_unref(run);
	}
	host.data = got;
	assert_int_equal(call(m, "get_output", &ret, tenon_arg_int(1), tenon_arg_tensor(&host)), 0);
	assert_memory_equal(got, on_null, sizeof(got));
	assert_memory_equal(((struct tenon_memory *)to->dl.data)->host, on_null, sizeof(got));
	assert_int_equal(call(m, "get_output", &ret, tenon_arg_int(0), none), 0);
	tenon_value_release(&ret);
	tenon_object_unref(there);
	tenon_object_unref(to);
	tenon_object_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_join_what_runs_on_two_devices),
		cmocka_unit_test(a_graph_goes_from_thread_to_thread),
		cmocka_unit_test(a_profile_tells_of_copies_too),
		cmocka_unit_test(a_device_that_the_graph_needs_and_nobody_named_is_told),
		cmocka_unit_test(the_host_is_always_there),
		cmocka_unit_test(a_graph_without_device_indices_lies_on_the_first_device),
		cmocka_unit_test(a_graph_of_either_numbering_finds_its_device),
		cmocka_unit_test(inputs_come_from_either_side),
		cmocka_unit_test(an_input_is_bound_only_where_it_is_wanted),
		cmocka_unit_test(parameters_are_put_on_their_device_and_let_go),
		cmocka_unit_test(linked_parameters_are_put_on_their_device),
		cmocka_unit_test(an_output_outlives_its_model_and_its_device_memory_with_it),
		cmocka_unit_test(functions_of_tvm_take_and_give_tensors_of_any_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
