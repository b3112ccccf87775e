/* SPDX-License-Identifier: MIT */
/* Functions of a graph executor as host code of TVM calls them: keys, values and parameters that do not fit. */
#include "module_call.h"

#include <tenon/backend/buffer.h>

#include "graph_library.h"

static const float x_values[4] __attribute__((aligned(128))) = { 1, 2, 3, 4 };
static const float w_values[4] __attribute__((aligned(128))) = { 0.5f, 0.25f, 8, -4 };

static DLTensor four_floats(const float *data)
{
	static int64_t four = 4;

	return tenon_dltensor((void *)(uintptr_t)data, &four, 1,
			      tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
}

static int create(const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_function *f;
	int err;

	*ret = tenon_arg_none();
	assert_int_equal(tenon_function_find("tvm.graph_executor.create", &f), 0);
	assert_non_null(f);
	err = tenon_function_call(f, args, count, ret);
	tenon_object_unref(f);
	return err;
}

static struct tenon_module *executor_of(const char *text)
{
	struct tenon_module *lib = make_library();
	const struct tenon_value args[] = { tenon_arg_string(text), tenon_arg_object(lib),
					    tenon_arg_int(1), tenon_arg_int(0) };
	struct tenon_value ret;

	if (create(args, 4, &ret))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(lib);
	return (struct tenon_module *)ret.as.object;
}

static void keys_and_values_that_do_not_fit_are_refused(void **state)
{
	static float to[4] __attribute__((aligned(128)));
	struct tenon_module *m = executor_of(CHAIN);
	DLTensor x = four_floats(x_values), y = four_floats(to);
	const struct tenon_value v = tenon_arg_tensor(&x), out = tenon_arg_tensor(&y);
	const struct tenon_value real = tenon_arg_float(1), number = tenon_arg_int(1);
	const struct tenon_value nobody = tenon_arg_string("nobody"), nine = tenon_arg_int(9);
	struct tenon_value ret;

	(void)state;
	REFUSES(m, -TENON_E_TYPE, "set_input_zero_copy", "set_input_zero_copy", real, v);
	REFUSES(m, -TENON_E_TYPE, "set_input_zero_copy", "set_input_zero_copy", number, number);
	REFUSES(m, -TENON_E_USAGE, "input 9", "set_input_zero_copy", nine, v);
	/* TVM ignores an input that the compiler has optimised away */
	assert_int_equal(CALL(m, "set_input_zero_copy", &ret, nobody, v), 0);
	REFUSES(m, -TENON_E_TYPE, "set_output_zero_copy", "set_output_zero_copy", real, out);
	REFUSES(m, -TENON_E_TYPE, "set_output_zero_copy", "set_output_zero_copy", number, number);
	REFUSES(m, -TENON_E_USAGE, "output 9", "set_output_zero_copy", nine, out);
	REFUSES(m, -TENON_E_NOT_FOUND, "the graph has no output of this name",
		"set_output_zero_copy", nobody, out);
	y.dtype.code = TENON_DTYPE_INT;
	REFUSES(m, -TENON_E_TYPE, "output 1: has dtype int32", "set_output_zero_copy", number, out);
	REFUSES(m, -TENON_E_TYPE, "get_input", "get_input", real);
	REFUSES(m, -TENON_E_USAGE, "input 9", "get_input", nine);
	assert_int_equal(CALL(m, "get_input", &ret, nobody), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	tenon_object_unref(m);
}

static void an_output_that_is_an_input_is_not_bound(void **state)
{
	static const char passed[] = G_GRAPH(G_IN("x"), "0", "[0, 0]", F32, "0", "[4]", "0, 1");
	static const char part[] = G_GRAPH(
		G_IN("x") ", " G_OP("d", "twice", "1", "[0, 0]") ", " G_OP("n", "__nop", "1",
									   "[1, 0]"),
		"0", "[2, 0]", F32 ", " F32 ", " F32, "0, 1, 1", "[8], [8], [4]", "0, 1, 2, 3");
	static float to[4] __attribute__((aligned(128)));
	DLTensor y = four_floats(to);
	struct tenon_module *m = executor_of(passed);

	(void)state;
	REFUSES(m, -TENON_E_UNSUPPORTED, "is an input passed on", "set_output_zero_copy",
		tenon_arg_int(0), tenon_arg_tensor(&y));
	tenon_object_unref(m);
	m = executor_of(part);
	REFUSES(m, -TENON_E_VALUE, "is a part of 32 bytes", "set_output_zero_copy",
		tenon_arg_int(0), tenon_arg_tensor(&y));
	tenon_object_unref(m);
}

static void a_tensor_that_was_handed_out_is_set_in_its_place(void **state)
{
	struct tenon_module *m = executor_of(CHAIN);
	DLTensor w = four_floats(w_values), *t;
	struct tenon_value mine, ret;

	(void)state;
	assert_int_equal(CALL(m, "get_input", &mine, tenon_arg_string("x")), 0);
	assert_int_equal(tenon_value_tensor(&mine, &t), 0);
	memcpy(t->data, x_values, sizeof(x_values));
	assert_int_equal(CALL(m, "set_input", &ret, tenon_arg_string("x"), mine), 0);
	assert_int_equal(CALL(m, "set_input", &ret, tenon_arg_string("w"), tenon_arg_tensor(&w)),
			 0);
	assert_int_equal(CALL(m, "run", &ret), 0);
	assert_int_equal(CALL(m, "get_output", &ret, tenon_arg_int(0)), 0);
	assert_int_equal(tenon_value_tensor(&ret, &t), 0);
	assert_true(floats_of(t)[2] == 19);
	tenon_value_release(&ret);
	tenon_value_release(&mine);
	tenon_object_unref(m);
}

static void one_call_of_inputs_is_checked(void **state)
{
	struct tenon_module *m = executor_of(CHAIN);
	DLTensor x = four_floats(x_values);
	const struct tenon_value zero = tenon_arg_int(0), name = tenon_arg_string("x");

	(void)state;
	REFUSES(m, -TENON_E_TYPE, "an input without a value", "run_from_inputs", zero, zero, name);
	REFUSES(m, -TENON_E_TYPE, "run_from_inputs", "run_from_inputs", zero, zero, name, zero);
	REFUSES(m, -TENON_E_USAGE, "input 1 (\"w\") was never set", "run_from_inputs", zero, zero,
		name, tenon_arg_tensor(&x));
	tenon_object_unref(m);
}

/* The bytes of a file with four floats of these names; to be freed with the buffer. */
static struct tenon_slice saved(const char *const *names, size_t count, struct tenon_buffer *out)
{
	struct tenon_param p[2] = { { .bytes = 16 }, { .bytes = 16 } };
	size_t i;

	for (i = 0; i < count; i++) {
		p[i].name = tenon_slice_of(names[i]);
		p[i].tensor = four_floats(w_values);
	}
	assert_int_equal(tenon_params_save(p, count, out), 0);
	return (struct tenon_slice){ out->data, out->size };
}

static void parameters_are_shared_with_who_has_them(void **state)
{
	static const char *const w[] = { "w" }, *const others[] = { "none", "x" };
	static const char other_shape[] =
		G_GRAPH(G_IN("w"), "0", "[0, 0]", F32, "0", "[5]", "0, 1");
	struct tenon_module *m = executor_of(CHAIN), *other = executor_of(CHAIN);
	struct tenon_module *wide = executor_of(other_shape), *lib = make_library();
	struct tenon_buffer one = TENON_BUFFER_INIT, two = TENON_BUFFER_INIT;
	struct tenon_slice bytes = saved(w, 1, &one), pair = saved(others, 2, &two);
	struct tenon_slice junk = { "junk", 4 };
	const struct tenon_value theirs = tenon_arg_object(other);
	DLTensor x = four_floats(x_values), *t;
	struct tenon_value ret;

	(void)state;
	REFUSES(m, -TENON_E_TYPE, "share_params", "share_params", tenon_arg_int(1),
		tenon_arg_bytes(&bytes));
	REFUSES(m, -TENON_E_TYPE, "is no GraphExecutor", "share_params", tenon_arg_object(lib),
		tenon_arg_bytes(&bytes));
	REFUSES(m, -TENON_E_TYPE, "share_params", "share_params", theirs, tenon_arg_int(1));
	REFUSES(m, -TENON_E_TRUNCATED, "parameters", "share_params", theirs,
		tenon_arg_bytes(&junk));
	REFUSES(m, -TENON_E_NOT_FOUND, "the other executor has no \"w\"", "share_params", theirs,
		tenon_arg_bytes(&bytes));
	/* the graph has no input "none": that parameter is skipped, and the refusal names "x" */
	REFUSES(m, -TENON_E_NOT_FOUND, "the other executor has no \"x\"", "share_params", theirs,
		tenon_arg_bytes(&pair));
	assert_int_equal(CALL(other, "load_params", &ret, tenon_arg_bytes(&bytes)), 0);
	REFUSES(wide, -TENON_E_VALUE, "\"w\": has shape [4]", "share_params", theirs,
		tenon_arg_bytes(&bytes));
	assert_int_equal(CALL(m, "share_params", &ret, theirs, tenon_arg_bytes(&bytes)), 0);
	tenon_object_unref(other);
	assert_int_equal(CALL(m, "set_input", &ret, tenon_arg_string("x"), tenon_arg_tensor(&x)),
			 0);
	assert_int_equal(CALL(m, "run", &ret), 0);
	assert_int_equal(CALL(m, "get_output", &ret, tenon_arg_int(0)), 0);
	assert_int_equal(tenon_value_tensor(&ret, &t), 0);
	assert_true(floats_of(t)[2] == 19);
	tenon_value_release(&ret);
	REFUSES(wide, -TENON_E_VALUE, "has shape [4]", "load_params", tenon_arg_bytes(&bytes));
	tenon_buffer_fini(&one);
	tenon_buffer_fini(&two);
	tenon_object_unref(lib);
	tenon_object_unref(wide);
	tenon_object_unref(m);
}

static int look_up(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

static void an_executor_is_made_of_a_graph_a_module_and_devices(void **state)
{
	struct tenon_module *lib = make_library();
	struct tenon_value args[5] = { tenon_arg_string(CHAIN), tenon_arg_object(lib),
				       tenon_arg_int(1), tenon_arg_int(0) },
			   ret;
	struct tenon_function *f;

	(void)state;
	assert_int_equal(create(args, 3, &ret), -TENON_E_TYPE);
	assert_error_has("3 arguments given");
	args[0] = tenon_arg_int(1);
	assert_int_equal(create(args, 4, &ret), -TENON_E_TYPE);
	assert_error_has("tvm.graph_executor.create");
	args[0] = tenon_arg_string("{}");
	assert_int_equal(create(args, 4, &ret), -TENON_E_FORMAT);
	assert_error_has("tvm.graph_executor.create");
	args[0] = tenon_arg_string(CHAIN);
	args[1] = tenon_arg_int(1);
	assert_int_equal(create(args, 4, &ret), -TENON_E_TYPE);
	args[1] = tenon_arg_object(lib);
	args[2] = tenon_arg_string("cpu");
	assert_int_not_equal(create(args, 4, &ret), 0);
	tenon_error_clear();
	/* older host code hands over a function that looks up parameters */
	assert_int_equal(tenon_function_create(NULL, look_up, NULL, &f), 0);
	args[2] = tenon_arg_object(f);
	args[3] = tenon_arg_int(1);
	args[4] = tenon_arg_int(0);
	assert_int_equal(create(args, 5, &ret), 0);
	tenon_value_release(&ret);
	tenon_object_unref(f);
	tenon_object_unref(lib);
}

/* What looks up parameters in the library answers with a number. */
static int answers_a_number(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_int(7);
	return 0;
}

static int fails(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return tenon_error(-TENON_E_DEVICE, "no parameter is found");
}

static tenon_call_fn answer;

static int odd_get_function(struct tenon_module *m, struct tenon_slice name,
			    struct tenon_function **out)
{
	if (tenon_slice_equal(tenon_slice_of("_lookup_linked_param"), name))
		return tenon_function_create(NULL, answer, NULL, out);
	return library_get_function(m, name, out);
}

static void a_library_that_cannot_look_up_parameters_is_refused(void **state)
{
	static const struct tenon_module_ops ops = { .get_function = odd_get_function };
	struct tenon_module *m = malloc(sizeof(*m));
	struct tenon_model *model;

	(void)state;
	assert_non_null(m);
	tenon_module_init(m, &ops, tenon_slice_of("library"), TENON_MODULE_RUNNABLE);
	answer = answers_a_number;
	assert_int_equal(open_text(m, CHAIN, NULL, &model), -TENON_E_TYPE);
	assert_error_has("_lookup_linked_param of storage 0");
	answer = fails;
	assert_int_equal(open_text(m, CHAIN, NULL, &model), -TENON_E_DEVICE);
	assert_error_has("_lookup_linked_param of storage 0: no parameter is found");
	tenon_object_unref(m);
}

/* Check that a function of today's convention sees tensors of bool where the graph has the bool of older TVM. */
static int wants_bools(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	DLTensor *t;
	int32_t i;

	(void)self;
	for (i = 0; i < count; i++) {
		assert_int_equal(tenon_value_tensor(&args[i], &t), 0);
		assert_int_equal(t->dtype.code, TENON_DTYPE_BOOL);
	}
	*ret = tenon_arg_none();
	return 0;
}

static void bools_are_told_to_functions_as_they_are_today(void **state)
{
	static const char text[] =
		G_GRAPH(G_IN("x") ", " G_OP("y", "test.bools", "1", "[0, 0]"), "0", "[1, 0]",
			"\"bool\", \"bool\"", "0, 1", "[4], [4]", "0, 1, 2");
	struct tenon_module *lib = make_library();
	bool bits[4] = { true };
	int64_t four = 4;
	DLTensor x = tenon_dltensor(bits, &four, 1, tenon_dtype(TENON_DTYPE_BOOL, 8, 1));
	struct tenon_value v = tenon_arg_tensor(&x);
	struct tenon_model *model;

	(void)state;
	assert_int_equal(tenon_function_register_c("test.bools", wants_bools, true), 0);
	assert_int_equal(open_text(lib, text, NULL, &model), 0);
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	assert_int_equal(tenon_model_run(model), 0);
	tenon_model_close(model);
	tenon_function_remove("test.bools");
	tenon_object_unref(lib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_values_that_do_not_fit_are_refused),
		cmocka_unit_test(an_output_that_is_an_input_is_not_bound),
		cmocka_unit_test(a_tensor_that_was_handed_out_is_set_in_its_place),
		cmocka_unit_test(one_call_of_inputs_is_checked),
		cmocka_unit_test(parameters_are_shared_with_who_has_them),
		cmocka_unit_test(an_executor_is_made_of_a_graph_a_module_and_devices),
		cmocka_unit_test(a_library_that_cannot_look_up_parameters_is_refused),
		cmocka_unit_test(bools_are_told_to_functions_as_they_are_today),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
