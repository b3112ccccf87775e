/* SPDX-License-Identifier: MIT */
/* Instruments of a machine, and other functions that TVM's clients ask a machine for. */
#include <stdlib.h>

#include "tests/unit/relax_assembler.h"

#include "runtime/relax/relax_builtin.h"

static struct {
	int before, after, skipped, dtypes;
	char names[256];
	bool skip;
	int fail_at; /* number of the call that fails */
} seen;

static int instrument(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	struct tenon_slice name;
	int32_t i;

	(void)self;
	*ret = tenon_arg_none();
	assert_true(count >= 4);
	assert_int_equal(tenon_value_text(&args[1], &name), 0);
	assert_int_equal(args[2].type, TENON_TYPE_BOOL);
	for (i = 4; i < count; i++)
		seen.dtypes += args[i].type == TENON_TYPE_DTYPE;
	if (args[2].as.integer) {
		assert_int_equal(args[3].type, TENON_TYPE_NONE);
		seen.before++;
		strncat(seen.names, name.data, name.size);
		strcat(seen.names, " ");
	} else {
		seen.after++;
	}
	if (seen.before + seen.after == seen.fail_at)
		return tenon_error(-TENON_E_VALUE, "the instrument fails");
	if (seen.skip && tenon_slice_equal(name, tenon_slice_of("test.instrument.add")))
		*ret = tenon_arg_int(1);
	return 0;
}

static int make_instrument(void *self, const struct tenon_value *args, int32_t count,
			   struct tenon_value *ret)
{
	struct tenon_function *f;
	int err = tenon_function_create(NULL, instrument, NULL, &f);

	(void)self;
	assert_int_equal(count, 1);
	assert_int_equal(args[0].as.integer, 7);
	if (!err)
		*ret = tenon_arg_object(f);
	return err;
}

static int add(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	assert_true(count >= 2);
	*ret = tenon_arg_int(args[0].as.integer + args[1].as.integer);
	return 0;
}

/* main(x) = inner(x) + copy of 10, and inner(x) = x + 1; the call of add() has a dtype too */
static struct relax_vm *program(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f, copy, inner, dtype = constant_f32(&a);

	tenon_function_register_c("test.instrument.add", add, true);
	f = assemble_packed(&a, "test.instrument.add");
	copy = assemble_packed(&a, "vm.builtin.copy");
	inner = assemble_function(&a, "inner", 1, 2);
	ASSEMBLE_CALL(&a, 1, f, REG(0), IMM(1), CONST(dtype));
	assemble_ret(&a, 1);
	assemble_function(&a, "main", 1, 4);
	ASSEMBLE_CALL(&a, 1, inner, REG(0));
	ASSEMBLE_CALL(&a, 2, copy, IMM(10));
	ASSEMBLE_CALL(&a, 3, f, REG(1), REG(2));
	assemble_ret(&a, 3);
	memset(&seen, 0, sizeof(seen));
	return machine_of(&a);
}

/* Call a function of the module. */
static int ask(struct relax_vm *vm, const char *name, const struct tenon_value *args, int32_t count,
	       struct tenon_value *ret)
{
	struct tenon_function *f;
	int err;

	*ret = tenon_arg_none();
	if (tenon_module_get_function(&vm->module, name, &f))
		fail_msg("%s", tenon_error_message());
	err = tenon_function_call(f, args, count, ret);
	tenon_object_unref(f);
	return err;
}

#define ASK(vm, name, ret, ...)                                                                    \
	ask(vm, name, (const struct tenon_value[]){ tenon_arg_none(), ##__VA_ARGS__ } + 1,         \
	    (int32_t)(sizeof((const struct tenon_value[]){ tenon_arg_none(), ##__VA_ARGS__ }) /    \
			      sizeof(struct tenon_value) -                                         \
		      1),                                                                          \
	    ret)

static void set(struct relax_vm *vm)
{
	struct tenon_function *f;
	struct tenon_value ret;

	assert_int_equal(tenon_function_create(NULL, instrument, NULL, &f), 0);
	assert_int_equal(ASK(vm, "set_instrument", &ret, tenon_arg_object(f)), 0);
	tenon_object_unref(f);
}

static void every_call_is_seen_before_and_after(void **state)
{
	struct relax_vm *vm = program();
	struct tenon_value ret;

	(void)state;
	set(vm);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(5)), 0);
	assert_int_equal(ret.as.integer, 16);
	assert_string_equal(seen.names,
			    "inner test.instrument.add vm.builtin.copy test.instrument.add ");
	assert_int_equal(seen.before, 4);
	assert_int_equal(seen.after, 4);
	assert_int_equal(seen.dtypes, 0);
	assert_int_equal(ASK(vm, "set_instrument", &ret, tenon_arg_none()), 0);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(5)), 0);
	assert_int_equal(seen.before, 4);
	tenon_object_unref(vm);
}

static void a_call_can_be_skipped(void **state)
{
	struct relax_vm *vm = program();
	struct tenon_value ret;

	(void)state;
	set(vm);
	seen.skip = true;
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(5)), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_equal(seen.before, 4);
	assert_int_equal(seen.after, 2);
	tenon_object_unref(vm);
}

static void a_failing_instrument_ends_the_run(void **state)
{
	struct relax_vm *vm = program();
	struct tenon_value ret;
	int i;

	(void)state;
	set(vm);
	for (i = 1; i <= 8; i++) {
		memset(&seen, 0, sizeof(seen));
		seen.fail_at = i;
		assert_int_equal(RUN(vm, &ret, tenon_arg_int(5)), -TENON_E_VALUE);
		assert_error_has("the instrument fails");
	}
	tenon_object_unref(vm);
}

static void a_global_function_can_make_the_instrument(void **state)
{
	struct relax_vm *vm = program();
	struct tenon_value ret;

	(void)state;
	tenon_function_register_c("test.instrument.make", make_instrument, true);
	assert_int_equal(ASK(vm, "set_instrument", &ret, tenon_arg_string("test.instrument.make"),
			     tenon_arg_int(7)),
			 0);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(5)), 0);
	assert_int_equal(seen.before, 4);
	assert_int_not_equal(ASK(vm, "set_instrument", &ret, tenon_arg_string("test.no_such")), 0);
	assert_error_has("test.no_such");
	assert_int_not_equal(ASK(vm, "set_instrument", &ret, tenon_arg_int(1)), 0);
	assert_int_not_equal(ASK(vm, "set_instrument", &ret), 0);
	tenon_error_clear();
	tenon_object_unref(vm);
}

/* TVM's clients and tests tell errors apart by their kind. */
static void errors_are_of_the_kinds_that_tvm_raises(void **state)
{
	struct relax_vm *vm = program();
	const struct tenon_value main = tenon_arg_string("main"), nope = tenon_arg_string("nope");
	struct tenon_value ret;

	(void)state;
#define KIND(kind, text, name, ...)                                                                \
	do {                                                                                       \
		assert_int_not_equal(ASK(vm, name, &ret, ##__VA_ARGS__), 0);                       \
		assert_string_equal(tenon_error_kind(), kind);                                     \
		assert_error_has(text);                                                            \
	} while (0)
	KIND("InternalError", "expects 1 arguments, but 0 arguments were provided", "main");
	KIND("ValueError", "No inputs set for stateful call of main", "invoke_stateful", main);
	KIND("ValueError", "No output saved for call of \"main\"", "get_output", main);
	KIND("ValueError", "No output saved for call of \"main\"", "get_output_arity", main);
	KIND("InternalError", "number of provided parameters", "set_input", main);
	KIND("ValueError", "Unknown function: nope", "set_input", nope);
	KIND("ValueError", "Unknown function: nope", "invoke_stateful", nope);
	KIND("ValueError", "Unknown function: nope", "get_function_arity", nope);
	KIND("ValueError", "Unknown function: nope", "save_function", nope, main, tenon_arg_int(1));
	KIND("ValueError", "Invalid index for main (7 out of 0)", "get_function_param_name", main,
	     tenon_arg_int(7));
	assert_int_equal(ASK(vm, "set_input", &ret, main, tenon_arg_int(1)), 0);
	assert_int_equal(ASK(vm, "invoke_stateful", &ret, main), 0);
	KIND("ValueError", "Attempted to index into an object that is not an Array", "get_output",
	     main, tenon_arg_int(0));
#undef KIND
	tenon_object_unref(vm);
}

static int give_params(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)self;
	(void)args;
	assert_int_equal(count, 0);
	*ret = tenon_arg_int(30);
	return 0;
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	(void)m;
	return tenon_slice_equal(name, tenon_slice_of("get_params"))
		       ? tenon_function_create(NULL, give_params, NULL, out)
		       : 0;
}

static void the_last_input_may_be_what_a_module_gives(void **state)
{
	static const struct tenon_module_ops ops = { .get_function = get_function };
	struct tenon_module *m = calloc(1, sizeof(*m));
	const struct tenon_value main = tenon_arg_string("main");
	struct relax_vm *vm = program();
	struct tenon_value ret;

	(void)state;
	tenon_module_init(m, &ops, tenon_slice_of("test"), TENON_MODULE_RUNNABLE);
	assert_int_equal(ASK(vm, "set_input_with_param_module", &ret, main, tenon_arg_object(m)),
			 0);
	assert_int_equal(ASK(vm, "invoke_stateful", &ret, main), 0);
	assert_int_equal(ASK(vm, "get_output", &ret, main), 0);
	assert_int_equal(ret.as.integer, 41);
	assert_int_not_equal(ASK(vm, "set_input_with_param_module", &ret, main, tenon_arg_int(1)),
			     0);
	tenon_error_clear();
	tenon_object_unref(m);
	tenon_object_unref(vm);
}

static void a_machine_has_the_imports_of_its_executable(void **state)
{
	static const struct tenon_module_ops ops = { .get_function = get_function };
	struct tenon_module *m = calloc(1, sizeof(*m)), *x;
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_function *f;
	struct relax_vm *vm;

	(void)state;
	tenon_module_init(m, &ops, tenon_slice_of("test"), TENON_MODULE_RUNNABLE);
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	assert_int_equal(load_assembly(&a, &x), 0);
	assert_int_equal(tenon_module_import(x, m), 0);
	vm = machine_of_module(x);
	assert_int_equal(tenon_module_import_count(&vm->module), 1);
	assert_int_equal(tenon_module_get_function(&vm->module, "get_params", &f), 0);
	tenon_object_unref(f);
	tenon_object_unref(vm);
	tenon_object_unref(x);
	tenon_object_unref(m);
}

static struct tenon_value builtin(const char *name, const struct tenon_value *args, int32_t count,
				  int *err)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	assert_int_equal(tenon_function_find(name, &f), 0);
	assert_non_null(f);
	*err = tenon_function_call(f, args, count, &ret);
	tenon_object_unref(f);
	return ret;
}

static void functions_of_python_are_called_by_name(void **state)
{
	struct tenon_value args[2], pair[2], numbers[] = { tenon_arg_int(40), tenon_arg_int(2) };
	struct tenon_value name = tenon_arg_string("plus"), ret;
	struct tenon_array *inner, *outer;
	struct tenon_function *f;
	int err;

	(void)state;
	tenon_function_create(NULL, add, NULL, &f);
	args[0] = name;
	args[1] = tenon_arg_object(f);
	builtin("vm.builtin.register_py_func", args, 2, &err);
	assert_int_equal(err, 0);
	/* again: it takes the place */
	builtin("vm.builtin.register_py_func", args, 2, &err);
	assert_int_equal(err, 0);
	assert_int_equal(strong_count(f), 2);
	ret = builtin("vm.builtin.get_py_func", args, 1, &err);
	assert_ptr_equal(ret.as.object, f);
	tenon_value_release(&ret);
	tenon_array_create(numbers, 2, &inner);
	pair[0] = name;
	pair[1] = tenon_arg_object(inner);
	tenon_array_create(pair, 2, &outer);
	args[0] = tenon_arg_object(outer);
	ret = builtin("vm.builtin.call_py_func", args, 1, &err);
	assert_int_equal(err, 0);
	assert_int_equal(ret.as.integer, 42);
	builtin("vm.builtin.clear_py_func_registry", NULL, 0, &err);
	assert_int_equal(err, 0);
	assert_int_equal(strong_count(f), 1);
	builtin("vm.builtin.call_py_func", args, 1, &err);
	assert_int_not_equal(err, 0);
	assert_string_equal(tenon_error_kind(), "InternalError");
	assert_error_has("Python function 'plus' not found");
	tenon_object_unref(outer);
	tenon_object_unref(inner);
	tenon_object_unref(f);
}

static void an_executable_is_printed_as_a_program_for_tvms_builder(void **state)
{
	struct relax_vm *vm = program();
	struct tenon_function *f;
	struct tenon_value ret;
	struct tenon_slice text;

	(void)state;
	assert_int_equal(tenon_module_get_function(&vm->x->module, "as_python", &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	assert_int_equal(tenon_value_text(&ret, &text), 0);
	assert_slice(text, "ib = rx.Builder()\n"
			   "with ib.function(\"inner\", num_inputs=1):\n"
			   "    ib.emit_call(\"test.instrument.add\", args=[ib.r(0), ib.imm(1), "
			   "ib.c(0)], dst=ib.r(1))\n"
			   "    ib.emit_ret(ib.r(1))\n"
			   "with ib.function(\"main\", num_inputs=1):\n"
			   "    ib.emit_call(\"inner\", args=[ib.r(0)], dst=ib.r(1))\n"
			   "    ib.emit_call(\"vm.builtin.copy\", args=[ib.imm(10)], dst=ib.r(2))\n"
			   "    ib.emit_call(\"test.instrument.add\", args=[ib.r(1), ib.r(2)], "
			   "dst=ib.r(3))\n"
			   "    ib.emit_ret(ib.r(3))\n");
	tenon_value_release(&ret);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(&vm->x->module, "as_text", &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	assert_int_equal(tenon_value_text(&ret, &text), 0);
	assert_non_null(memmem(text.data, text.size,
			       "  call  inner            in: %0           dst: %1\n", 50));
	tenon_value_release(&ret);
	tenon_object_unref(f);
	tenon_object_unref(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_seen_before_and_after),
		cmocka_unit_test(a_call_can_be_skipped),
		cmocka_unit_test(a_failing_instrument_ends_the_run),
		cmocka_unit_test(a_global_function_can_make_the_instrument),
		cmocka_unit_test(errors_are_of_the_kinds_that_tvm_raises),
		cmocka_unit_test(the_last_input_may_be_what_a_module_gives),
		cmocka_unit_test(a_machine_has_the_imports_of_its_executable),
		cmocka_unit_test(functions_of_python_are_called_by_name),
		cmocka_unit_test(an_executable_is_printed_as_a_program_for_tvms_builder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
