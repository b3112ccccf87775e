/* SPDX-License-Identifier: MIT */
/*
 * Executables of real TVM with bytes changed or cut off. What is still accepted is run, with stand-ins for
 * compiled functions.
 */
#include "tests/unit/relax_assembler.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/relax_stand_in.h"

#define MEMORY_LIMIT (16 << 20)
#define BUDGET	     200

/* The bytes of the executable at the root of a stored library, without running any of it. */
static struct tenon_buffer stored(const char *file)
{
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct tenon_module *root;
	char path[512];

	snprintf(path, sizeof(path), "tests/interop/data/%s", file);
	if (tenon_module_inspect(path, &root) || tenon_module_save(root, &bytes))
		fail_msg("%s: %s", path, tenon_error_message());
	tenon_object_unref(root);
	return bytes;
}

/* A machine whose packed functions that are no builtins are stand-ins. */
static int stand_in(struct relax_executable *x)
{
	const struct relax_function *f;
	char name[128];
	uint32_t i;

	for (i = 0; i < x->function_count; i++) {
		f = &x->functions[i];
		if (f->name.size < 100 && f->kind == RELAX_FUNCTION_PACKED &&
		    (f->name.size < 3 || memcmp(f->name.data, "vm.", 3))) {
			snprintf(name, sizeof(name), "%.*s", (int)f->name.size, f->name.data);
			tenon_function_register_c(name, relax_stand_in, false);
		}
		if (f->name.size < 100 && f->kind == RELAX_FUNCTION_NATIVE) {
			snprintf(name, sizeof(name), "__vmtir__%.*s", (int)f->name.size,
				 f->name.data);
			tenon_function_register_c(name, relax_stand_in, false);
		}
	}
	return 0;
}

static struct tenon_value argument(void)
{
	int64_t shape[] = { 2, 8 };
	struct tenon_tensor *t;

	assert_int_equal(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
			 0);
	return tenon_arg_object(t);
}

/* Run every function with tensors, and look at it in every other way. */
static void use(struct tenon_module *m, const struct tenon_value *x)
{
	struct relax_vm *vm = machine_of_module(m), *outer;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_value args[4] = { *x, *x, *x, *x }, ret;
	uint32_t i;

	relax_print_text(vm->x, &text);
	relax_print_stats(vm->x, &text);
	tenon_buffer_fini(&text);
	vm->budget = BUDGET;
	relax_pool_limit(vm->pool, MEMORY_LIMIT);
	for (i = 0; !relax_init(vm) && i < vm->x->function_count; i++) {
		if (vm->x->functions[i].kind == RELAX_FUNCTION_PACKED ||
		    vm->x->functions[i].args > 4 || relax_enter(vm, &outer))
			continue;
		ret = tenon_arg_none();
		if (!relax_call(vm, i, args, vm->x->functions[i].args, &ret))
			tenon_value_release(&ret);
		relax_leave(vm, outer);
	}
	assert_int_equal(vm->stack.depth, 0);
	tenon_object_unref(vm);
	tenon_error_clear();
}

static void describe(struct tenon_module *m)
{
	struct tenon_model_options options = { .size = sizeof(options), .describe = true };
	struct tenon_model_value value;
	struct tenon_model *model;
	struct tenon_port port;
	size_t i;

	if (tenon_model_open(m, &options, &model)) {
		tenon_error_clear();
		return;
	}
	for (i = 0; i < tenon_model_input_count(model); i++)
		tenon_model_input(model, i, &port);
	for (i = 0; i < tenon_model_output_count(model); i++)
		tenon_model_output(model, i, &port);
	for (i = 0; i < tenon_model_value_count(model); i++)
		tenon_model_value_at(model, i, &value);
	tenon_model_close(model);
}

/* 1 when the bytes were accepted */
static int try(struct tenon_slice bytes, bool legacy, const struct tenon_value *x)
{
	struct tenon_module *m;

	if (load_image(bytes, legacy, &m)) {
		/* a refusal says something */
		assert_true(*tenon_error_message());
		tenon_error_clear();
		return 0;
	}
	use(m, x);
	describe(m);
	tenon_object_unref(m);
	return 1;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Each byte gets 37 other values, or a few of a large executable. An emulator or a sanitizer is slow: with one it gets fewer. */
static unsigned int step_between_values(unsigned int usual)
{
	if (is_set("EMULATOR"))
		return 199;
	return is_set("SAN") && usual < 51 ? 51 : usual;
}

static void edit(const char *file, bool legacy, unsigned int usual_step)
{
	const unsigned int step = step_between_values(usual_step);
	struct tenon_buffer b = stored(file);
	struct tenon_slice s = { b.data, b.size };
	struct tenon_value x = argument();
	struct tenon_module *m;
	size_t at, accepted = 0, tried = 0;
	unsigned int change;
	char *copy;

	if (load_image(s, legacy, &m))
		fail_msg("%s", tenon_error_message());
	stand_in(relax_executable_of(m));
	tenon_object_unref(m);
	/* of its exact size, so that a byte behind it is seen being read */
	copy = malloc(b.size);
	for (at = 0; at < b.size; at++) {
		for (change = 1; change < 256; change += step) {
			memcpy(copy, b.data, b.size);
			copy[at] = (char)(copy[at] ^ change);
			s.data = copy;
			accepted += (size_t)try(s, legacy, &x);
			tried++;
		}
	}
	free(copy);
	assert_true(accepted > 0);
	assert_true(accepted < tried);
	tenon_value_release(&x);
	tenon_buffer_fini(&b);
}

static void cut(const char *file, bool legacy)
{
	struct tenon_buffer b = stored(file);
	struct tenon_value x = argument();
	struct tenon_slice s;
	size_t at;
	char *copy;

	for (at = 0; at < b.size; at++) {
		copy = malloc(at ? at : 1);
		memcpy(copy, b.data, at);
		s.data = copy;
		s.size = at;
		assert_int_equal(try(s, legacy, &x), 0);
		free(copy);
	}
	tenon_value_release(&x);
	tenon_buffer_fini(&b);
}

static void every_edit_of_a_perceptron_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.27.0.post1/relax_mlp/vm.so", false, 7);
}

static void every_edit_of_an_older_perceptron_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.18/relax_mlp/vm.so", true, 127);
}

static void every_edit_of_a_closure_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.27.0.post1/model_closure/model.so", false, 37);
}

static void every_edit_of_a_branch_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.27.0.post1/model_branch/model.so", false, 37);
}

static void every_edit_of_tuples_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.25.0.post1/model_two_outputs/model.so", false, 37);
}

static void every_edit_of_a_dynamic_encoder_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.25.0.post1/model_encoder/model.so", false, 127);
}

static void every_edit_of_a_native_function_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.27.0.post1/model_mlp_compiled/model.so", false, 127);
}

static void every_edit_of_an_older_native_function_is_refused_or_runs(void **state)
{
	(void)state;
	edit("tvm-0.18/relax_mlp_compiled/vm.so", true, 127);
}

static void an_executable_cut_anywhere_is_refused(void **state)
{
	(void)state;
	cut("tvm-0.27.0.post1/relax_mlp/vm.so", false);
	cut("tvm-0.27.0.post1/model_closure/model.so", false);
	cut("tvm-0.27.0.post1/model_branch/model.so", false);
	cut("tvm-0.18/relax_mlp/vm.so", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_edit_of_a_perceptron_is_refused_or_runs),
		cmocka_unit_test(every_edit_of_an_older_perceptron_is_refused_or_runs),
		cmocka_unit_test(every_edit_of_a_closure_is_refused_or_runs),
		cmocka_unit_test(every_edit_of_a_branch_is_refused_or_runs),
		cmocka_unit_test(every_edit_of_tuples_is_refused_or_runs),
		cmocka_unit_test(every_edit_of_a_dynamic_encoder_is_refused_or_runs),
		cmocka_unit_test(every_edit_of_a_native_function_is_refused_or_runs),
		cmocka_unit_test(every_edit_of_an_older_native_function_is_refused_or_runs),
		cmocka_unit_test(an_executable_cut_anywhere_is_refused),
	};

	return cmocka_run_group_tests_name("vm bytes", tests, NULL, NULL);
}
