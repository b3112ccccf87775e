/* SPDX-License-Identifier: MIT */
/* Relax builtins that make closures and call functions, with their errors. */
#include "tests/unit/one_builtin.h"

static int subtract(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	(void)self;
	if (count != 3)
		return tenon_error(-TENON_E_TYPE, "three arguments are wanted, %d given", count);
	*ret = tenon_arg_int(args[0].as.integer * 100 - args[1].as.integer * 10 -
			     args[2].as.integer);
	return 0;
}

/* inner(a, b, c) = 100 a - 10 b - c; main(x) = ((inner bound to 3) bound to 2)(x) */
static void closures_bind_their_last_arguments(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t make, invoke, f, inner;
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	tenon_function_register_c("test.subtract", subtract, true);
	make = assemble_packed(&a, "vm.builtin.make_closure");
	invoke = assemble_packed(&a, "vm.builtin.invoke_closure");
	f = assemble_packed(&a, "test.subtract");
	inner = assemble_function(&a, "inner", 3, 4);
	ASSEMBLE_CALL(&a, 3, f, REG(0), REG(1), REG(2));
	assemble_ret(&a, 3);
	assemble_function(&a, "main", 1, 3);
	ASSEMBLE_CALL(&a, 1, make, FUNC(inner), IMM(3));
	ASSEMBLE_CALL(&a, 1, make, REG(1), IMM(2));
	ASSEMBLE_CALL(&a, 2, invoke, REG(MACHINE_REG), REG(1), REG(0));
	assemble_ret(&a, 2);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(7)), 0);
	assert_int_equal(ret.as.integer, 677);
	/* a function that is no closure is called as it is */
	tenon_object_unref(vm);
}

static void a_function_object_can_be_invoked_too(void **state)
{
	struct one o = begin("vm.builtin.invoke_closure"), p = begin("vm.builtin.invoke_closure");
	uint32_t f = assemble_packed(&o.a, "test.subtract");

	(void)state;
	CALL(&o, 1, REG(MACHINE_REG), FUNC(f), REG(0), IMM(0), IMM(1));
	assert_int_equal(given(end(&o), tenon_arg_int(2)).as.integer, 199);
	CALL(&p, 1, REG(MACHINE_REG), REG(0));
	refused(end(&p), tenon_arg_int(1), -TENON_E_TYPE,
		"a closure or function is called: expected");
}

static void call_tir_dyn_appends_extents(void **state)
{
	struct one o = begin("vm.builtin.call_tir_dyn"), p = begin("vm.builtin.call_tir_dyn");
	uint32_t f = assemble_packed(&o.a, "test.subtract"), s = CONSTANT_SHAPE(&o.a, 4, 5);

	(void)state;
	CALL(&o, 1, FUNC(f), REG(0), CONST(s));
	assert_int_equal(given(end(&o), tenon_arg_int(3)).as.integer, 255);
	CALL(&p, 1, FUNC(0), REG(0));
	refused(end(&p), tenon_arg_int(3), -TENON_E_TYPE,
		"call_tir_dyn: argument 1: expected a shape");
}

static int64_t debugged;

static int debug(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)ret;
	debugged = count == 2 ? args[1].as.integer : -1;
	return 0;
}

static void a_debug_function_is_called_by_its_name(void **state)
{
	struct one o = begin("vm.builtin.invoke_debug_func"),
		   p = begin("vm.builtin.invoke_debug_func");
	uint32_t name = constant_string(&o.a, "test.debug"), line = constant_string(&o.a, "m.py:1");

	(void)state;
	tenon_function_register_c("test.debug", debug, true);
	CALL(&o, 1, REG(VOID_REG), CONST(name), CONST(line), REG(0));
	assert_int_equal(given(end(&o), tenon_arg_int(42)).type, TENON_TYPE_NONE);
	assert_int_equal(debugged, 42);
	name = constant_string(&p.a, "test.no_such");
	CALL(&p, 1, REG(VOID_REG), CONST(name), REG(0));
	refused(end(&p), tenon_arg_int(1), -TENON_E_NO_FUNCTION,
		"no global function \"test.no_such\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closures_bind_their_last_arguments),
		cmocka_unit_test(a_function_object_can_be_invoked_too),
		cmocka_unit_test(call_tir_dyn_appends_extents),
		cmocka_unit_test(a_debug_function_is_called_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
