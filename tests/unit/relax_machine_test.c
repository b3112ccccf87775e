/* SPDX-License-Identifier: MIT */
/* The functions of a machine and of an executable, with what they refuse, and errors of what a program calls. */
#include "tests/unit/module_call.h"
#include "tests/unit/relax_assembler.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/module_kind.h>
#include <tenon/visit.h>

#include "runtime/relax/relax_builtin.h"

/* ---- programs */

enum how { PLAIN, FAILS, FAILS_ELSEWHERE, BORROWS };
static enum how how;

/* Gives a + b, or what the case wants of it. */
static int plus(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	static const struct tenon_slice text = { "of another language", 19 };

	(void)self;
	*ret = tenon_arg_none();
	switch (how) {
	case FAILS:
		return tenon_error(-TENON_E_DEVICE, "plus fails");
	case FAILS_ELSEWHERE:
		tenon_error_raise_text("KeyError", &text, 1);
		return TENON_E_CALL;
	case BORROWS:
		*ret = tenon_arg_string("lent");
		ret->type = TENON_TYPE_RAW_STRING;
		return 0;
	default:
		*ret = tenon_arg_int(args[0].as.integer + (count > 1 ? args[1].as.integer : 1));
	}
	return 0;
}

/* Before all cases */
static int add_plus(void **state)
{
	(void)state;
	return tenon_function_register_c("test.machine.plus", plus, false);
}

/* After all cases */
static int remove_plus(void **state)
{
	(void)state;
	return tenon_function_remove("test.machine.plus");
}

/* main(x) = inner(x) + 10, inner(x) = x + 1; pair(x, y) = (x, (y, 7)) */
static struct relax_vm *program(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f, inner, tuple;

	how = PLAIN;
	f = assemble_packed(&a, "test.machine.plus");
	tuple = assemble_packed(&a, "vm.builtin.make_tuple");
	inner = assemble_function(&a, "inner", 1, 2);
	ASSEMBLE_CALL(&a, 1, f, REG(0), IMM(1));
	assemble_ret(&a, 1);
	assemble_function(&a, "main", 1, 3);
	ASSEMBLE_CALL(&a, 1, inner, REG(0));
	ASSEMBLE_CALL(&a, 2, f, REG(1), IMM(10));
	assemble_ret(&a, 2);
	assemble_function(&a, "pair", 2, 4);
	ASSEMBLE_CALL(&a, 2, tuple, REG(1), IMM(7));
	ASSEMBLE_CALL(&a, 3, tuple, REG(0), REG(2));
	assemble_ret(&a, 3);
	a.functions[a.function_count - 1].param_count = 2;
	a.functions[a.function_count - 1].params[0] = "x";
	a.functions[a.function_count - 1].params[1] = "y";
	return machine_of(&a);
}

/* ---- states of functions */

static void a_function_is_saved_with_its_arguments(void **state)
{
	const struct tenon_value inner = tenon_arg_string("inner"), pair = tenon_arg_string("pair");
	const struct tenon_value name = tenon_arg_string("kept"), yes = tenon_arg_bool(true);
	struct relax_vm *vm = program();
	struct tenon_module *m = &vm->module;
	struct tenon_value ret;

	(void)state;
	assert_int_equal(CALL(m, "save_function", &ret, inner, name, yes, tenon_arg_int(5)), 0);
	assert_int_equal(CALL(m, "kept", &ret), 0);
	assert_int_equal(ret.as.integer, 6);
	/* another one, of a longer name and of as long a one */
	assert_int_equal(CALL(m, "save_function", &ret, inner, tenon_arg_string("kept2"), yes,
			      tenon_arg_int(6)),
			 0);
	assert_int_equal(CALL(m, "save_function", &ret, inner, tenon_arg_string("gone2"),
			      tenon_arg_bool(false), tenon_arg_int(7)),
			 0);
	assert_int_equal(CALL(m, "gone2", &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_equal(CALL(m, "kept2", &ret), 0);
	assert_int_equal(ret.as.integer, 7);
	/* the name again: it takes the place, and takes the rest of the arguments */
	assert_int_equal(CALL(m, "save_function", &ret, pair, name, yes, tenon_arg_int(8)), 0);
	assert_int_equal(CALL(m, "kept", &ret, tenon_arg_int(9)), 0);
	assert_int_equal(ret.type, TENON_TYPE_ARRAY);
	tenon_value_release(&ret);
	REFUSES(m, -TENON_E_TYPE, "save_function", "save_function", inner, name);
	REFUSES(m, -TENON_E_TYPE, "save_function: argument 0", "save_function", yes, name, yes);
	REFUSES(m, -TENON_E_TYPE, "save_function: argument 1", "save_function", inner, yes, yes);
	REFUSES(m, -TENON_E_TYPE, "save_function: argument 2", "save_function", inner, name, name);
	REFUSES(m, -TENON_E_NOT_FOUND, "Unknown function: test.machine.plus", "save_function",
		tenon_arg_string("test.machine.plus"), name, yes);
	tenon_object_unref(vm);
}

/* Elements of a borrowed tensor are copied, which needs them next to each other. */
static void a_tensor_with_gaps_is_kept_by_no_machine(void **state)
{
	int64_t shape[] = { 2, 2 }, gaps[] = { 4, 1 };
	float data[8] = { 0 };
	DLTensor t = tenon_dltensor(data, shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	const struct tenon_value inner = tenon_arg_string("inner"), v = tenon_arg_tensor(&t);
	struct relax_vm *vm = program();
	struct tenon_module *m = &vm->module;

	(void)state;
	t.strides = gaps;
	REFUSES(m, -TENON_E_VALUE, "argument 0: a borrowed tensor with gaps", "set_input", inner,
		v);
	REFUSES(m, -TENON_E_VALUE, "argument 0: a borrowed tensor with gaps", "save_function",
		inner, inner, tenon_arg_bool(true), v);
	REFUSES(m, -TENON_E_VALUE, "inner: argument 0: a borrowed tensor with gaps", "inner", v);
	tenon_object_unref(vm);
}

static void outputs_are_found_in_tuples(void **state)
{
	const struct tenon_value pair = tenon_arg_string("pair"), main = tenon_arg_string("main");
	const struct tenon_value zero = tenon_arg_int(0), one = tenon_arg_int(1);
	struct relax_vm *vm = program();
	struct tenon_module *m = &vm->module;
	struct tenon_value ret;

	(void)state;
	assert_int_equal(CALL(m, "set_input", &ret, pair, tenon_arg_int(3), tenon_arg_int(4)), 0);
	/* set and run again: what was there is let go */
	assert_int_equal(CALL(m, "set_input", &ret, pair, tenon_arg_int(5), tenon_arg_int(6)), 0);
	assert_int_equal(CALL(m, "invoke_stateful", &ret, pair), 0);
	assert_int_equal(CALL(m, "invoke_stateful", &ret, pair), 0);
	assert_int_equal(CALL(m, "get_output_arity", &ret, pair), 0);
	assert_int_equal(ret.as.integer, 2);
	assert_int_equal(CALL(m, "get_output_arity", &ret, pair, one), 0);
	assert_int_equal(ret.as.integer, 2);
	assert_int_equal(CALL(m, "get_output_arity", &ret, pair, zero), 0);
	assert_int_equal(ret.as.integer, -1);
	assert_int_equal(CALL(m, "get_output", &ret, pair, one, one), 0);
	assert_int_equal(ret.as.integer, 7);
	REFUSES(m, -TENON_E_VALUE, "cannot return a tuple", "get_output", pair);
	REFUSES(m, -TENON_E_VALUE, "cannot return a tuple", "get_output", pair, one);
	REFUSES(m, -TENON_E_VALUE, "Invalid index (2 >= 2)", "get_output", pair, tenon_arg_int(2));
	REFUSES(m, -TENON_E_VALUE, "Invalid index (-1 >= 2)", "get_output", pair, one,
		tenon_arg_int(-1));
	REFUSES(m, -TENON_E_VALUE, "not an Array. It is int", "get_output", pair, zero, zero);
	REFUSES(m, -TENON_E_TYPE, "get_output: argument 1", "get_output", pair, pair);
	REFUSES(m, -TENON_E_TYPE, "get_output_arity", "get_output_arity");
	REFUSES(m, -TENON_E_TYPE, "invoke_stateful", "invoke_stateful");

	assert_int_equal(CALL(m, "get_function_param_name", &ret, pair, one), 0);
	tenon_value_release(&ret);
	REFUSES(m, -TENON_E_VALUE, "Invalid index for pair (-1 out of 2)",
		"get_function_param_name", pair, tenon_arg_int(-1));
	REFUSES(m, -TENON_E_TYPE, "get_function_param_name: argument 1", "get_function_param_name",
		pair, pair);
	REFUSES(m, -TENON_E_TYPE, "get_function_param_name", "get_function_param_name", pair);
	assert_int_equal(CALL(m, "get_function_arity", &ret, main), 0);
	assert_int_equal(ret.as.integer, 1);
	how = FAILS;
	assert_int_equal(CALL(m, "set_input", &ret, main, one), 0);
	REFUSES(m, -TENON_E_DEVICE, "plus fails", "invoke_stateful", main);
	tenon_object_unref(vm);
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	(void)m;
	*out = NULL;
	return tenon_slice_equal(name, tenon_slice_of("get_params"))
		       ? tenon_function_create(NULL, plus, NULL, out)
		       : 0;
}

static void a_module_without_parameters_is_no_last_input(void **state)
{
	static const struct tenon_module_ops ops = { .get_function = get_function }, none = { 0 };
	struct tenon_module *m = calloc(1, sizeof(*m)), *other = calloc(1, sizeof(*other));
	const struct tenon_value inner = tenon_arg_string("inner");
	struct relax_vm *vm = program();

	(void)state;
	tenon_module_init(m, &ops, tenon_slice_of("test"), TENON_MODULE_RUNNABLE);
	tenon_module_init(other, &none, tenon_slice_of("test"), TENON_MODULE_RUNNABLE);
	how = FAILS;
	REFUSES(&vm->module, -TENON_E_DEVICE, "plus fails", "set_input_with_param_module", inner,
		tenon_arg_object(m));
	how = FAILS_ELSEWHERE;
	REFUSES(&vm->module, -TENON_E_CALL, "of another language", "set_input_with_param_module",
		inner, tenon_arg_object(m));
	REFUSES(&vm->module, -TENON_E_NOT_FOUND, "set_input_with_param_module",
		"set_input_with_param_module", inner, tenon_arg_object(other));
	tenon_object_unref(other);
	tenon_object_unref(m);
	tenon_object_unref(vm);
}

/* ---- errors of what is called */

static void errors_of_other_languages_are_passed_on(void **state)
{
	static const enum how ways[] = { FAILS, FAILS_ELSEWHERE, BORROWS };
	static const char *const words[] = { "plus fails", "of another language",
					     "the result is borrowed" };
	struct relax_vm *vm = program();
	struct tenon_value ret;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		how = ways[i];
		assert_int_equal(RUN(vm, &ret, tenon_arg_int(1)), i == 0   ? -TENON_E_DEVICE
								  : i == 1 ? -TENON_E_CALL
									   : -TENON_E_TYPE);
		assert_error_has(words[i]);
	}
	tenon_object_unref(vm);
}

static void a_count_of_arguments_is_told_with_the_names_of_parameters(void **state)
{
	struct relax_vm *vm = program();

	(void)state;
	REFUSES(&vm->module, -TENON_E_TYPE, "pair expects 2 arguments (x, y), but 1 arguments",
		"pair", tenon_arg_int(1));
	REFUSES(&vm->module, -TENON_E_TYPE, "main expects 1 arguments, but 0 arguments", "main");
	tenon_object_unref(vm);
}

static struct tenon_value function_of(tenon_call_fn fn)
{
	struct tenon_function *f;

	assert_int_equal(tenon_function_create(NULL, fn, NULL, &f), 0);
	return tenon_arg_object(f);
}

static void a_closure_is_invoked_by_the_machine_that_it_is_of(void **state)
{
	struct tenon_value f = function_of(plus), ret;
	struct relax_vm *vm = program(), *other;
	const struct tenon_value *theirs;
	struct tenon_module *m = &vm->module;

	(void)state;
	assert_int_equal(CALL(m, "invoke_closure", &ret, f, tenon_arg_int(2), tenon_arg_int(3)), 0);
	assert_int_equal(ret.as.integer, 5);
	how = FAILS_ELSEWHERE;
	REFUSES(m, -TENON_E_CALL, "of another language", "invoke_closure", f);
	how = PLAIN;
	REFUSES(m, -TENON_E_TYPE, "invoke_closure takes a closure", "invoke_closure");
	REFUSES(m, -TENON_E_TYPE, "a closure or function is called", "invoke_closure",
		tenon_arg_int(1));
	other = program();
	/* the closure of inner() */
	theirs = &other->values[other->x->constant_count + 2];
	REFUSES(m, -TENON_E_VALUE, "the closure belongs to another executable", "invoke_closure",
		*theirs, tenon_arg_int(1));
	assert_int_equal(CALL(&other->module, "invoke_closure", &ret, *theirs, tenon_arg_int(1)),
			 0);
	assert_int_equal(ret.as.integer, 2);
	tenon_object_unref(other);
	tenon_value_release(&f);
	tenon_object_unref(vm);
}

static int answers_text(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	return tenon_string_value(tenon_slice_of("an answer that is no number"), ret);
}

/* An instrument that fails as code of other languages does, or says what nobody asked for. */
static void instruments_may_fail_and_may_talk(void **state)
{
	struct tenon_value f = function_of(plus), talks = function_of(answers_text), ret;
	struct relax_vm *vm = program();

	(void)state;
	assert_int_equal(CALL(&vm->module, "set_instrument", &ret, talks), 0);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(1)), 0);
	assert_int_equal(ret.as.integer, 12);
	assert_int_equal(CALL(&vm->module, "set_instrument", &ret, f), 0);
	how = FAILS_ELSEWHERE;
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(1)), -TENON_E_CALL);
	assert_error_has("of another language");
	/* a name whose function fails, or makes no function */
	REFUSES(&vm->module, -TENON_E_CALL, "of another language", "set_instrument",
		tenon_arg_string("test.machine.plus"), tenon_arg_int(1));
	how = PLAIN;
	REFUSES(&vm->module, -TENON_E_TYPE, "set_instrument", "set_instrument",
		tenon_arg_string("test.machine.plus"), tenon_arg_int(1));
	tenon_value_release(&talks);
	tenon_value_release(&f);
	tenon_object_unref(vm);
}

/* ---- executables and machines */

static void devices_that_cannot_be_are_refused(void **state)
{
	static const int64_t wrong[][2] = {
		{ 0, 0 }, { INT64_C(1) << 31, 0 }, { 1, -1 }, { 1, INT64_C(1) << 31 }
	};
	const struct tenon_value one = tenon_arg_int(1), zero = tenon_arg_int(0);
	const struct tenon_value text = tenon_arg_string("x");
	struct tenon_value many[3 * 64];
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *x, *m;
	struct tenon_value ret;
	struct relax_vm *vm;
	size_t i;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	assert_int_equal(load_assembly(&a, &x), 0);
	vm = machine_of_module(x);
	m = &vm->module;
	REFUSES(m, -TENON_E_USAGE, "call vm_initialization", "main", one);
	REFUSES(m, -TENON_E_USAGE, "call vm_initialization", "invoke_closure", one);
	REFUSES(m, -TENON_E_USAGE, "call vm_initialization", "set_instrument", tenon_arg_none());
	REFUSES(m, -TENON_E_USAGE, "call vm_initialization", "set_input", tenon_arg_string("main"),
		one);
	REFUSES(m, -TENON_E_TYPE, "0 arguments given", "vm_initialization");
	REFUSES(m, -TENON_E_TYPE, "2 arguments given", "vm_initialization", one, zero);
	for (i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		many[i] = one;
	assert_int_equal(call(m, "vm_initialization", many, 3 * 64, &ret), -TENON_E_TYPE);
	assert_error_has("192 arguments given");
	REFUSES(m, -TENON_E_TYPE, "argument 0", "vm_initialization", text, zero, one);
	REFUSES(m, -TENON_E_TYPE, "argument 1", "vm_initialization", one, text, one);
	REFUSES(m, -TENON_E_TYPE, "argument 2", "vm_initialization", one, zero, text);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		REFUSES(m, -TENON_E_VALUE, "no device has the numbers", "vm_initialization",
			tenon_arg_int(wrong[i][0]), tenon_arg_int(wrong[i][1]), one);
	assert_int_equal(CALL(m, "vm_initialization", &ret, one, zero, one), 0);
	assert_int_equal(CALL(m, "main", &ret, one), 0);
	tenon_object_unref(vm);
	tenon_object_unref(x);
}

static int lists(void *context, struct tenon_slice name)
{
	int *left = context;

	(void)name;
	return !--*left;
}

static int field(void *context, const char *name, const struct tenon_value *value)
{
	int *left = context;

	(void)value;
	assert_non_null(name);
	return !--*left;
}

/* What lists names or numbers stops where it is told to. */
static void lists_end_when_they_are_told_to(void **state)
{
	struct relax_vm *vm = program();
	struct tenon_module *modules[] = { &vm->module, &vm->x->module };
	struct tenon_visitor v = { sizeof(v), field, NULL, NULL };
	int i, k, left, err;

	(void)state;
	for (i = 0; i < 2; i++)
		for (k = 1; k < 20; k++) {
			left = k;
			err = tenon_module_each_function(modules[i], lists, &left);
			assert_int_equal(err, !left);
		}
	v.context = &left;
	for (k = 1; k < 12; k++) {
		left = k;
		err = tenon_object_visit(&vm->x->module.object, &v);
		assert_int_equal(err, !left);
	}
	tenon_object_unref(vm);
}

static void an_executable_is_asked_for_its_source_and_names(void **state)
{
	struct relax_vm *vm = program();
	struct tenon_module *x = &vm->x->module;
	struct tenon_value ret;

	(void)state;
	assert_int_equal(CALL(x, "has_function", &ret, tenon_arg_string("inner")), 0);
	assert_true(ret.as.integer);
	assert_int_equal(CALL(x, "has_function", &ret, tenon_arg_string("none")), 0);
	assert_false(ret.as.integer);
	REFUSES(x, -TENON_E_TYPE, "has_function", "has_function");
	REFUSES(x, -TENON_E_TYPE, "has_function: argument 0", "has_function", tenon_arg_int(1));
	assert_int_equal(tenon_module_source(x, "", &ret), 0);
	tenon_value_release(&ret);
	assert_int_equal(tenon_module_source(x, "txt", &ret), 0);
	tenon_value_release(&ret);
	assert_int_equal(tenon_module_source(x, "cl", &ret), -TENON_E_UNSUPPORTED);
	assert_error_has("no source of format \"cl\"");
	assert_int_equal(CALL(x, "vm_load_executable", &ret), 0);
	assert_null(relax_of(x));
	assert_non_null(relax_of((struct tenon_module *)ret.as.object));
	tenon_value_release(&ret);
	tenon_object_unref(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_saved_with_its_arguments),
		cmocka_unit_test(a_tensor_with_gaps_is_kept_by_no_machine),
		cmocka_unit_test(outputs_are_found_in_tuples),
		cmocka_unit_test(a_module_without_parameters_is_no_last_input),
		cmocka_unit_test(errors_of_other_languages_are_passed_on),
		cmocka_unit_test(a_count_of_arguments_is_told_with_the_names_of_parameters),
		cmocka_unit_test(a_closure_is_invoked_by_the_machine_that_it_is_of),
		cmocka_unit_test(instruments_may_fail_and_may_talk),
		cmocka_unit_test(devices_that_cannot_be_are_refused),
		cmocka_unit_test(lists_end_when_they_are_told_to),
		cmocka_unit_test(an_executable_is_asked_for_its_source_and_names),
	};

	return cmocka_run_group_tests(tests, add_plus, remove_plus);
}
