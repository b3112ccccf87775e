/* SPDX-License-Identifier: MIT */
/*
 * Whole models for the Relax virtual machine, that real TVM built: by the common face of models, and by the
 * functions of TVM's own machine. The outputs are those of TVM's runtime, bit for bit.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static const char *const versions[] = { "tvm-0.25.0.post1", "tvm-0.27.0.post1" };

static const char *stored(const char *folder, int run, const char *what)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/r%d_%s.npy", folder, run, what);
	return path;
}

static bool is_stored(const char *file)
{
	return !access(fixture_path(file), R_OK);
}

static struct tenon_model *open_file(const char *folder, const char *name, const char *function)
{
	struct tenon_model_options options = { .size = sizeof(options), .function = function };
	struct tenon_model *model = NULL;
	struct tenon_module *root;
	char file[512];

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	root = fixture_load(file);
	fixture_ok(tenon_model_open(root, &options, &model), file);
	tenon_object_unref(root);
	return model;
}

static struct tenon_model *open_model(const char *folder, const char *function)
{
	return open_file(folder, "model.so", function);
}

static void set_inputs(struct tenon_model *model, const char *folder, int run)
{
	struct tenon_tensor *t;
	struct tenon_value v;
	struct tenon_port port;
	char name[64];
	size_t i;

	for (i = 0; i < tenon_model_input_count(model); i++) {
		fixture_ok(tenon_model_input(model, i, &port), "input");
		snprintf(name, sizeof(name), "%.*s", (int)port.name.size, port.name.data);
		t = fixture_tensor(stored(folder, run, name));
		v = tenon_arg_tensor(&t->dl);
		fixture_ok(tenon_model_set_input(model, i, &v), name);
		tenon_object_unref(t);
	}
}

static void compare_outputs(struct tenon_model *model, const char *folder, int run)
{
	struct tenon_tensor *want;
	struct tenon_value have;
	char name[64];
	size_t i;

	for (i = 0; i < tenon_model_output_count(model); i++) {
		snprintf(name, sizeof(name), "out%zu", i);
		want = fixture_tensor(stored(folder, run, name));
		fixture_ok(tenon_model_output_value(model, i, &have), name);
		assert_int_equal(have.type, TENON_TYPE_TENSOR);
		fixture_equal((struct tenon_tensor *)have.as.object, want);
		tenon_value_release(&have);
		tenon_object_unref(want);
	}
	snprintf(name, sizeof(name), "out%zu", i);
	assert_false(is_stored(stored(folder, run, name)));
}

/* All runs of a stored model, twice, so that what one leaves behind is met by the next. */
static void runs_as_tvm_does(const char *name, const char *function)
{
	char folder[256];
	size_t v;
	int i, round;

	for (v = 0; v < sizeof(versions) / sizeof(*versions); v++) {
		struct tenon_model *model;

		snprintf(folder, sizeof(folder), "%s/%s", versions[v], name);
		model = open_model(folder, function);
		assert_string_equal(tenon_model_kind(model), "relax");
		for (round = 0; round < 2; round++) {
			for (i = 0; is_stored(stored(folder, i, "out0")); i++) {
				set_inputs(model, folder, i);
				fixture_ok(tenon_model_run(model), folder);
				compare_outputs(model, folder, i);
			}
			assert_true(i > 0);
		}
		tenon_model_close(model);
	}
}

static void a_perceptron_gives_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_mlp", "forward");
}

static void a_perceptron_whose_instructions_are_compiled_gives_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_mlp_compiled", "forward");
}

#ifdef CONFIG_TVM_LEGACY
/* TVM 0.18 stored its models with a batch of one and one of five. */
static void older_perceptron(const char *folder)
{
	struct tenon_model *model = open_file(folder, "vm.so", NULL);
	struct tenon_tensor *x, *want;
	struct tenon_value v;
	char file[256];
	int round;

	for (round = 0; round < 4; round++) {
		snprintf(file, sizeof(file), "%s/n%d_in_x.npy", folder, round % 2 ? 5 : 1);
		x = fixture_tensor(file);
		snprintf(file, sizeof(file), "%s/n%d_out0.npy", folder, round % 2 ? 5 : 1);
		want = fixture_tensor(file);
		v = tenon_arg_tensor(&x->dl);
		fixture_ok(tenon_model_set_input(model, 0, &v), file);
		fixture_ok(tenon_model_run(model), file);
		fixture_ok(tenon_model_output_value(model, 0, &v), file);
		fixture_equal((struct tenon_tensor *)v.as.object, want);
		tenon_value_release(&v);
		tenon_object_unref(x);
		tenon_object_unref(want);
	}
	tenon_model_close(model);
}

static void a_perceptron_of_the_older_convention_gives_what_tvm_gives(void **state)
{
	(void)state;
	older_perceptron("tvm-0.18/relax_mlp");
}

static void a_compiled_perceptron_of_the_older_convention_gives_what_tvm_gives(void **state)
{
	(void)state;
	older_perceptron("tvm-0.18/relax_mlp_compiled");
}

#endif

static void a_residual_network_gives_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_resnet_tiny", "forward");
}

static void a_transformer_block_of_changing_length_gives_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_encoder", "forward");
}

static void two_outputs_of_a_tuple_and_a_tensor_are_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_two_outputs", "main");
}

static void tensors_of_int8_are_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_int8", "main");
}

static void tensors_of_float16_are_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_float16", "forward");
}

static void both_sides_of_a_branch_are_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_branch", "main");
}

static void a_closure_gives_what_tvm_gives(void **state)
{
	(void)state;
	runs_as_tvm_does("model_closure", "main");
}

static void inputs_are_described_before_anything_runs(void **state)
{
	struct tenon_model *model = open_model("tvm-0.27.0.post1/model_encoder", "forward");
	struct tenon_port port;

	(void)state;
	assert_int_equal(tenon_model_input_count(model), 1);
	fixture_ok(tenon_model_input(model, 0, &port), "input");
	assert_int_equal(port.name.size, 1);
	assert_memory_equal(port.name.data, "x", 1);
	assert_int_equal(port.ndim, 2);
	assert_int_equal(port.shape[0], -1);
	assert_int_equal(port.shape[1], 8);
	assert_true(tenon_dtype_equal(port.dtype, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)));
	tenon_model_close(model);
}

static void the_items_of_a_tuple_are_inputs_of_their_own(void **state)
{
	struct tenon_model *model = open_model("tvm-0.25.0.post1/model_two_outputs", "main");
	struct tenon_port port;
	static const char *const names[] = { "pair.0", "pair.1", "z" };
	size_t i;

	(void)state;
	assert_int_equal(tenon_model_input_count(model), 3);
	for (i = 0; i < 3; i++) {
		fixture_ok(tenon_model_input(model, i, &port), "input");
		assert_int_equal(port.name.size, strlen(names[i]));
		assert_memory_equal(port.name.data, names[i], strlen(names[i]));
		assert_int_equal(port.ndim, 2);
		assert_int_equal(port.shape[1], 6);
	}
	tenon_model_close(model);
}

static void an_input_that_does_not_fit_is_refused_in_words(void **state)
{
	struct tenon_model *model = open_model("tvm-0.27.0.post1/model_encoder", "forward");
	int64_t shape[] = { 4, 9 };
	struct tenon_tensor *t;
	struct tenon_value v;

	(void)state;
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	fixture_says("input \"x\" was never set");
	fixture_ok(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t), "t");
	v = tenon_arg_tensor(&t->dl);
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_VALUE);
	fixture_says("shape [?, 8] expected, found [4, 9]");
	tenon_object_unref(t);
	shape[1] = 8;
	fixture_ok(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_INT, 32, 1), &t), "t");
	v = tenon_arg_tensor(&t->dl);
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_TYPE);
	fixture_says("dtype float32 expected, found int32");
	tenon_object_unref(t);
	tenon_model_close(model);
}

static struct tenon_function *function_of(struct tenon_module *m, const char *name)
{
	struct tenon_function *f = NULL;

	fixture_ok(tenon_module_get_function(m, name, &f), name);
	return f;
}

/* The machine of a stored model, initialised as TVM's Python does. */
static struct tenon_module *machine_of(const char *file)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_module *root, *machine;
	struct tenon_function *f;

	root = fixture_load(file);
	f = function_of(root, "vm_load_executable");
	fixture_ok(tenon_call(f, &ret), "vm_load_executable");
	tenon_object_unref(f);
	machine = (struct tenon_module *)ret.as.object;
	f = function_of(machine, "vm_initialization");
	ret = tenon_arg_none();
	fixture_ok(tenon_call(f, &ret, tenon_arg_int(1), tenon_arg_int(0), tenon_arg_int(2)),
		   "vm_initialization");
	tenon_object_unref(f);
	tenon_object_unref(root);
	return machine;
}

static void the_machine_has_the_functions_of_tvms(void **state)
{
	struct tenon_tensor *x = fixture_tensor("tvm-0.27.0.post1/model_mlp/r0_x.npy");
	struct tenon_tensor *want = fixture_tensor("tvm-0.27.0.post1/model_mlp/r0_out0.npy");
	struct tenon_module *vm = machine_of("tvm-0.27.0.post1/model_mlp/model.so");
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_slice name;

	(void)state;
	f = function_of(vm, "forward");
	fixture_ok(tenon_call(f, &ret, tenon_arg_object(x)), "forward");
	fixture_equal((struct tenon_tensor *)ret.as.object, want);
	tenon_value_release(&ret);
	/* a tensor that is only lent is copied */
	fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&x->dl)), "forward");
	fixture_equal((struct tenon_tensor *)ret.as.object, want);
	tenon_value_release(&ret);
	tenon_object_unref(f);

	f = function_of(vm, "invoke_stateful");
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("forward")), -TENON_E_USAGE);
	fixture_says("No inputs set for stateful call of forward");
	tenon_object_unref(f);
	f = function_of(vm, "set_input");
	fixture_ok(tenon_call(f, &ret, tenon_arg_string("forward"), tenon_arg_tensor(&x->dl)),
		   "set_input");
	tenon_object_unref(f);
	f = function_of(vm, "invoke_stateful");
	fixture_ok(tenon_call(f, &ret, tenon_arg_string("forward")), "invoke_stateful");
	tenon_object_unref(f);
	f = function_of(vm, "get_output_arity");
	fixture_ok(tenon_call(f, &ret, tenon_arg_string("forward")), "get_output_arity");
	assert_int_equal(ret.as.integer, -1);
	tenon_object_unref(f);
	f = function_of(vm, "get_output");
	fixture_ok(tenon_call(f, &ret, tenon_arg_string("forward")), "get_output");
	fixture_equal((struct tenon_tensor *)ret.as.object, want);
	tenon_value_release(&ret);
	tenon_object_unref(f);

	f = function_of(vm, "get_function_arity");
	fixture_ok(tenon_call(f, &ret, tenon_arg_string("forward")), "get_function_arity");
	assert_int_equal(ret.as.integer, 1);
	tenon_object_unref(f);
	f = function_of(vm, "get_function_param_name");
	fixture_ok(tenon_call(f, &ret, tenon_arg_string("forward"), tenon_arg_int(0)), "param");
	fixture_ok(tenon_value_text(&ret, &name), "name");
	assert_int_equal(name.size, 1);
	assert_int_equal(name.data[0], 'x');
	tenon_value_release(&ret);
	tenon_object_unref(f);

	f = function_of(vm, "save_function");
	fixture_ok(tenon_call(f, &ret, tenon_arg_string("forward"), tenon_arg_string("saved"),
			      tenon_arg_bool(true), tenon_arg_object(x)),
		   "save_function");
	tenon_object_unref(f);
	f = function_of(vm, "saved");
	fixture_ok(tenon_call(f, &ret), "saved");
	fixture_equal((struct tenon_tensor *)ret.as.object, want);
	tenon_value_release(&ret);
	/* the function holds the machine, and the result what it lies in */
	tenon_object_unref(vm);
	fixture_ok(tenon_call(f, &ret), "saved");
	tenon_object_unref(f);
	fixture_equal((struct tenon_tensor *)ret.as.object, want);
	tenon_value_release(&ret);
	tenon_object_unref(x);
	tenon_object_unref(want);
}

static void a_shape_the_program_did_not_expect_is_refused_as_tvm_does(void **state)
{
	struct tenon_module *vm = machine_of("tvm-0.27.0.post1/model_mlp/model.so");
	struct tenon_function *f = function_of(vm, "forward");
	struct tenon_value ret = tenon_arg_none();
	int64_t shape[] = { 3, 17 };
	struct tenon_tensor *x;

	(void)state;
	fixture_ok(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &x), "x");
	assert_int_equal(tenon_call(f, &ret, tenon_arg_object(x)), -TENON_E_VALUE);
	fixture_says(
		"ErrorContext(fn=forward, loc=param[0], param=x, annotation=R.Tensor((3, 16), "
		"dtype=\"float32\")) match_cast error,  shape[1] mismatch to specified constant: "
		"expected 16, found 17");
	tenon_object_unref(x);
	tenon_object_unref(f);
	tenon_object_unref(vm);
}

static void a_classifier_of_full_size_gives_what_tvm_gives(void **state)
{
	static const char folder[] = "tvm-0.27.0.post1/model_resnet18";
	const char *build = getenv("TENON_BUILD");
	struct tenon_model *model;
	char root[512];

	(void)state;
	snprintf(root, sizeof(root), "%s/interop-models/%s/model.so", build ? build : "", folder);
	if (access(root, R_OK)) {
		print_message("scripts/interop-generate --large builds the classifier\n");
		skip();
		return;
	}
	*strrchr(root, '/') = '\0';
	model = open_model(root, "forward");
	set_inputs(model, root, 0);
	fixture_ok(tenon_model_run(model), root);
	compare_outputs(model, root, 0);
	tenon_model_close(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_perceptron_gives_what_tvm_gives),
		cmocka_unit_test(a_perceptron_whose_instructions_are_compiled_gives_what_tvm_gives),
#ifdef CONFIG_TVM_LEGACY
		cmocka_unit_test(a_perceptron_of_the_older_convention_gives_what_tvm_gives),
		cmocka_unit_test(
			a_compiled_perceptron_of_the_older_convention_gives_what_tvm_gives),
#endif
		cmocka_unit_test(a_residual_network_gives_what_tvm_gives),
		cmocka_unit_test(a_transformer_block_of_changing_length_gives_what_tvm_gives),
		cmocka_unit_test(two_outputs_of_a_tuple_and_a_tensor_are_what_tvm_gives),
		cmocka_unit_test(tensors_of_int8_are_what_tvm_gives),
		cmocka_unit_test(tensors_of_float16_are_what_tvm_gives),
		cmocka_unit_test(both_sides_of_a_branch_are_what_tvm_gives),
		cmocka_unit_test(a_closure_gives_what_tvm_gives),
		cmocka_unit_test(inputs_are_described_before_anything_runs),
		cmocka_unit_test(the_items_of_a_tuple_are_inputs_of_their_own),
		cmocka_unit_test(an_input_that_does_not_fit_is_refused_in_words),
		cmocka_unit_test(the_machine_has_the_functions_of_tvms),
		cmocka_unit_test(a_shape_the_program_did_not_expect_is_refused_as_tvm_does),
		cmocka_unit_test(a_classifier_of_full_size_gives_what_tvm_gives),
	};

	return cmocka_run_group_tests_name("models", tests, NULL, NULL);
}
