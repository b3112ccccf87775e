/* SPDX-License-Identifier: MIT */
/* Relax programs that run: calls, jumps, returns, failures and the bounds of a run. */
#include "tests/unit/relax_assembler.h"

#include <pthread.h>

#include "runtime/library/tvm_table.h"

/* what the programs call: integers added and subtracted */
static int add(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t sum = 0;
	int32_t i;

	(void)self;
	for (i = 0; i < count; i++) {
		if (args[i].type != TENON_TYPE_INT)
			return tenon_error(-TENON_E_TYPE, "argument %d is no integer", i);
		sum += args[i].as.integer;
	}
	*ret = tenon_arg_int(sum);
	return 0;
}

static int fails(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	return tenon_error(-TENON_E_VALUE, "it went wrong");
}

static int gives_borrowed(void *self, const struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_string("lent");
	return 0;
}

/* back(name, …): calls a function of the machine that runs */
static int calls_back(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	struct tenon_function *f;
	struct tenon_slice name;
	struct relax_vm *vm = relax_current();
	int err;

	(void)self;
	if (tenon_value_text(&args[0], &name))
		return -1;
	err = tenon_module_get_function(&vm->module, name.data, &f);
	if (err)
		return err;
	err = tenon_function_call(f, args + 1, count - 1, ret);
	tenon_object_unref(f);
	/* what it was handed is still there */
	if (!err && memcmp(name.data, "main", 4))
		return tenon_error(-TENON_E_VALUE, "the arguments changed");
	return err;
}

static int set_up(void **state)
{
	(void)state;
	tenon_function_register_c("test.add", add, true);
	tenon_function_register_c("test.fails", fails, true);
	tenon_function_register_c("test.borrowed", gives_borrowed, true);
	tenon_function_register_c("test.back", calls_back, true);
	return 0;
}

static int64_t integer(struct relax_vm *vm, int64_t argument)
{
	struct tenon_value ret;

	if (RUN(vm, &ret, tenon_arg_int(argument)))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(ret.type, TENON_TYPE_INT);
	return ret.as.integer;
}

static void a_call_gets_registers_immediates_and_constants(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f, c;
	struct relax_vm *vm;

	(void)state;
	f = assemble_packed(&a, "test.add");
	c = constant_int(&a, 1000);
	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, f, REG(0), IMM(-3), CONST(c), IMM((int64_t)1 << 54),
		      IMM(-((int64_t)1 << 54)));
	assemble_ret(&a, 1);
	vm = machine_of(&a);
	assert_int_equal(integer(vm, 7), 1004);
	tenon_object_unref(vm);
}

static void a_result_for_no_register_is_dropped(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f;
	struct relax_vm *vm;

	(void)state;
	f = assemble_packed(&a, "test.add");
	assemble_function(&a, "main", 1, 1);
	ASSEMBLE_CALL(&a, VOID_REG, f, REG(0));
	ASSEMBLE_CALL(&a, MACHINE_REG, f, REG(0));
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	assert_int_equal(integer(vm, 7), 7);
	tenon_object_unref(vm);
}

static void a_return_of_nothing_gives_none(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 0, 1);
	assemble_ret(&a, VOID_REG);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	tenon_object_unref(vm);
}

/* main(n) adds n … 1: a loop with both kinds of jumps */
static struct relax_vm *loop(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f = assemble_packed(&a, "test.add");

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, f);
	assemble_if(&a, 0, 4);
	ASSEMBLE_CALL(&a, 1, f, REG(1), REG(0));
	ASSEMBLE_CALL(&a, 0, f, REG(0), IMM(-1));
	assemble_goto(&a, -3);
	assemble_ret(&a, 1);
	return machine_of(&a);
}

static void a_loop_jumps_back_until_its_condition_is_false(void **state)
{
	struct relax_vm *vm = loop();

	(void)state;
	assert_int_equal(integer(vm, 0), 0);
	assert_int_equal(integer(vm, 1), 1);
	assert_int_equal(integer(vm, 100), 5050);
	tenon_object_unref(vm);
}

static void a_loop_without_an_end_ends_with_its_budget(void **state)
{
	struct relax_vm *vm = loop();
	struct tenon_value ret;

	(void)state;
	vm->budget = 1000;
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(-1)), -TENON_E_TIMEOUT);
	assert_error("main, instruction 4: the budget of instructions is used up");
	vm->budget = 1000;
	assert_int_equal(integer(vm, 10), 55);
	tenon_object_unref(vm);
}

static void a_condition_must_be_a_number(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_if(&a, 0, 2);
	assemble_ret(&a, 0);
	assemble_ret(&a, VOID_REG);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_bool(true)), 0);
	assert_int_equal(ret.type, TENON_TYPE_BOOL);
	assert_int_equal(RUN(vm, &ret, tenon_arg_bool(false)), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_equal(RUN(vm, &ret, tenon_arg_string("a long string object")), -TENON_E_TYPE);
	assert_error("main, instruction 0: the condition is ffi.String, not an integer");
	tenon_object_unref(vm);
}

/* sum(n) = n ? n + sum(n - 1) : 0 */
static struct relax_vm *recursion(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f = assemble_packed(&a, "test.add"), sum = 1;

	assemble_function(&a, "main", 1, 3);
	assemble_if(&a, 0, 4);
	ASSEMBLE_CALL(&a, 1, f, REG(0), IMM(-1));
	ASSEMBLE_CALL(&a, 2, sum, REG(1));
	ASSEMBLE_CALL(&a, 0, f, REG(0), REG(2));
	assemble_ret(&a, 0);
	return machine_of(&a);
}

static void functions_call_each_other_deeply(void **state)
{
	struct relax_vm *vm = recursion();

	(void)state;
	assert_int_equal(integer(vm, 3), 6);
	assert_int_equal(integer(vm, 15000), 15000 * 15001 / 2);
	/* and again, on segments that are there */
	assert_int_equal(integer(vm, 15000), 15000 * 15001 / 2);
	tenon_object_unref(vm);
}

static void functions_that_call_each_other_without_end_are_stopped(void **state)
{
	struct relax_vm *vm = recursion();
	struct tenon_value ret;

	(void)state;
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(-1)), -TENON_E_OVERFLOW);
	/* the innermost calls are told, and the first */
	assert_error("main, instruction 2, call of main: main, instruction 2, call of main: "
		     "main, instruction 2, call of main: main, instruction 2, call of main: "
		     "main, instruction 2, call of main: functions call each other 20000 deep");
	assert_int_equal(integer(vm, 3), 6);
	tenon_object_unref(vm);
}

static void wide_functions_use_bounded_memory(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 1, 1 << 20);
	ASSEMBLE_CALL(&a, 1, 0, REG(0));
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(1)), -TENON_E_OVERFLOW);
	assert_error_has("need more than 4194304 registers");
	tenon_object_unref(vm);
}

static void a_failing_call_is_named_with_its_place(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	uint32_t f, inner;
	struct relax_vm *vm;

	(void)state;
	f = assemble_packed(&a, "test.fails");
	inner = assemble_function(&a, "inner", 1, 2);
	ASSEMBLE_CALL(&a, 1, f, REG(0));
	assemble_ret(&a, 1);
	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, VOID_REG, inner, REG(0));
	assemble_ret(&a, 1);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(1)), -TENON_E_VALUE);
	assert_error(
		"main, instruction 2, call of inner: inner, instruction 0, call of test.fails: "
		"it went wrong");
	tenon_object_unref(vm);
}

static void a_borrowed_result_is_refused(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	uint32_t f;
	struct relax_vm *vm;

	(void)state;
	f = assemble_packed(&a, "test.borrowed");
	assemble_function(&a, "main", 0, 1);
	ASSEMBLE_CALL(&a, 0, f);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret), -TENON_E_TYPE);
	assert_error_has("the result is borrowed (const char*)");
	tenon_object_unref(vm);
}

static void the_wrong_number_of_arguments_is_refused(void **state)
{
	struct relax_vm *vm = loop();
	struct tenon_value ret;

	(void)state;
	assert_int_equal(RUN(vm, &ret), -TENON_E_TYPE);
	assert_error("Invoking function main expects 1 arguments, but 0 arguments were provided.");
	tenon_object_unref(vm);
}

static void missing_functions_are_named_together_with_their_callers(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *x;
	uint32_t f, g;
	struct relax_vm *vm;

	(void)state;
	f = assemble_packed(&a, "test.nobody_has_this");
	g = assemble_packed(&a, "test.nor_this");
	assemble_packed(&a, "test.and_nobody_calls_this");
	assemble_entry(&a, "native", RELAX_FUNCTION_NATIVE, 0, 1);
	assemble_function(&a, "main", 0, 1);
	ASSEMBLE_CALL(&a, 0, 4);
	ASSEMBLE_CALL(&a, 0, f);
	ASSEMBLE_CALL(&a, 0, f, FUNC(g));
	assemble_ret(&a, 0);
	assert_int_equal(load_assembly(&a, &x), 0);
	vm = machine_of_module(x);
	assert_int_equal(relax_init(vm), -TENON_E_NO_FUNCTION);
	assert_error(
		"4 functions are neither among the imports of the executable nor among the global "
		"functions: \"test.nobody_has_this\" (called by \"main\", instruction 1), "
		"\"test.nor_this\" (called by \"main\", instruction 2), "
		"\"test.and_nobody_calls_this\" (not called), "
		"\"__vmtir__native\" (not called); register them before the model is opened");
	tenon_object_unref(vm);
	tenon_object_unref(x);
}

static void a_missing_builtin_is_named_with_what_it_is_for(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *x;
	struct relax_vm *vm;

	(void)state;
	assemble_packed(&a, "vm.builtin.kv_cache_of_tomorrow");
	assemble_function(&a, "main", 0, 1);
	ASSEMBLE_CALL(&a, 0, 0);
	assemble_ret(&a, 0);
	/* it can be loaded, to be looked at */
	assert_int_equal(load_assembly(&a, &x), 0);
	vm = machine_of_module(x);
	assert_int_equal(relax_init(vm), -TENON_E_NO_FUNCTION);
	assert_error("1 function is neither among the imports of the executable nor among the "
		     "global functions: \"vm.builtin.kv_cache_of_tomorrow\" for "
		     "key-value caches of language models (called by \"main\", instruction 0); "
		     "register it before the model is opened");
	tenon_object_unref(vm);
	tenon_object_unref(x);
}

static void a_machine_runs_only_once_it_is_initialised(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *x;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 0, 1);
	assemble_ret(&a, 0);
	assert_int_equal(load_assembly(&a, &x), 0);
	vm = machine_of_module(x);
	tenon_object_unref(x);
	assert_int_equal(tenon_module_get_function(&vm->module, "main", &f), 0);
	assert_int_equal(tenon_call(f, &ret), -TENON_E_USAGE);
	assert_error_has("call vm_initialization");
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(&vm->module, "vm_initialization", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(99), tenon_arg_int(1), tenon_arg_int(2)),
			 NO_SUCH_DEVICE);
	assert_error_has("vm_initialization: ");
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(1), tenon_arg_int(0)), -TENON_E_TYPE);
	assert_error_has("2 arguments given");
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(1), tenon_arg_int(0), tenon_arg_int(2)),
			 0);
	tenon_object_unref(f);
	assert_int_equal(RUN(vm, &ret), 0);
	tenon_object_unref(vm);
}

/* main(n) = n ? back("main", n - 1) : 0, through a packed function */
static struct relax_vm *back_and_forth(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f = assemble_packed(&a, "test.add"), back = assemble_packed(&a, "test.back");
	uint32_t name = constant_string(&a, "main");

	assemble_function(&a, "main", 1, 3);
	assemble_if(&a, 0, 4);
	ASSEMBLE_CALL(&a, 1, f, REG(0), IMM(-1));
	ASSEMBLE_CALL(&a, 2, back, CONST(name), REG(1));
	ASSEMBLE_CALL(&a, 0, f, REG(0), REG(2));
	assemble_ret(&a, 0);
	return machine_of(&a);
}

static void a_packed_function_may_call_the_machine_back(void **state)
{
	struct relax_vm *vm = back_and_forth();

	(void)state;
	assert_int_equal(integer(vm, 50), 1275);
	assert_null(relax_current());
	tenon_object_unref(vm);
}

static void *use_it(void *machine)
{
	struct relax_vm *outer;
	int err = relax_enter(machine, &outer);

	if (!err)
		relax_leave(machine, outer);
	return (void *)(intptr_t)err;
}

static void another_thread_is_refused_while_one_is_inside(void **state)
{
	struct relax_vm *vm = loop(), *outer;
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(relax_enter(vm, &outer), 0);
	pthread_create(&thread, NULL, use_it, vm);
	pthread_join(thread, &result);
	assert_int_equal((intptr_t)result, -TENON_E_USAGE);
	relax_leave(vm, outer);
	pthread_create(&thread, NULL, use_it, vm);
	pthread_join(thread, &result);
	assert_int_equal((intptr_t)result, 0);
	tenon_object_unref(vm);
}

static void an_argument_that_is_only_lent_is_copied(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	int64_t shape[] = { 2 };
	float data[] = { 1, 2 };
	DLTensor t = tenon_dltensor(data, shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value ret;
	const DLTensor *have;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_tensor(&t)), 0);
	assert_int_equal(ret.type, TENON_TYPE_TENSOR);
	have = &((struct tenon_tensor *)ret.as.object)->dl;
	assert_ptr_not_equal(have->data, data);
	assert_memory_equal(have->data, data, sizeof(data));
	assert_int_equal((uintptr_t)have->data % TENON_TENSOR_ALIGN, 0);
	/* the result outlives the machine whose memory it lies in */
	tenon_object_unref(vm);
	assert_memory_equal(have->data, data, sizeof(data));
	tenon_value_release(&ret);
}

static void what_registers_held_is_released_when_a_run_fails(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *t;
	int64_t shape[] = { 2 };
	struct tenon_value ret;
	uint32_t f;
	struct relax_vm *vm;

	(void)state;
	f = assemble_packed(&a, "test.fails");
	assemble_function(&a, "main", 1, 1);
	ASSEMBLE_CALL(&a, 0, f);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
			 0);
	assert_int_equal(RUN(vm, &ret, tenon_arg_object(t)), -TENON_E_VALUE);
	assert_int_equal(strong_count(t), 1);
	tenon_error_clear();
	tenon_object_unref(t);
	tenon_object_unref(vm);
}

/*
 * native(x, y): what the compiler makes of `add(x, y, constant 0)`: operands are copied to the arguments of a
 * call, the result is moved to the register behind the parameters.
 */
static int native(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	void *registers = args[1].as.pointer, *constants = args[2].as.pointer;
	struct tenon_value call[4];

	(void)self;
	(void)ret;
	assert_int_equal(count, 4);
	if (abi_backend_list_set_argument(registers, 0, call, 0, 0) ||
	    abi_backend_list_set_argument(registers, 1, call, 1, 0) ||
	    abi_backend_list_set_argument(constants, 0, call, 2, 0) ||
	    add(NULL, call, 3, &call[3]) || abi_backend_list_take_result(registers, 2, call, 3, 0))
		return -1;
	assert_int_equal(call[3].type, TENON_TYPE_NONE);
	/* places that are not there */
	assert_int_equal(abi_backend_list_set_argument(registers, 4, call, 0, 0), -1);
	assert_error_has("place 4 of a list of 4 values");
	assert_int_equal(abi_backend_list_set_argument(constants, 1, call, 0, 0), -1);
	assert_int_equal(abi_backend_list_set_argument(args[3].as.pointer, 2, call, 0, 0), -1);
	assert_int_equal(abi_backend_list_set_argument(call, 0, call, 0, 0), -1);
	assert_int_equal(abi_backend_list_reset(constants, 0), -1);
	assert_int_equal(abi_backend_list_reset(registers, -1), -1);
	tenon_error_clear();
	return abi_backend_list_reset(registers, 0);
}

static void a_native_function_works_on_registers_within_their_bounds(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	tenon_function_register_c("__vmtir__native", native, true);
	constant_int(&a, 1000);
	assemble_entry(&a, "native", RELAX_FUNCTION_NATIVE, 2, 4);
	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, 0, REG(0), IMM(20));
	assemble_ret(&a, 1);
	vm = machine_of(&a);
	assert_int_equal(integer(vm, 3), 1023);
	/* and called by itself */
	assert_int_equal(run_machine(vm, "native",
				     (struct tenon_value[]){ tenon_arg_int(1), tenon_arg_int(2) },
				     2, &ret),
			 0);
	assert_int_equal(ret.as.integer, 1003);
	tenon_object_unref(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_gets_registers_immediates_and_constants),
		cmocka_unit_test(a_result_for_no_register_is_dropped),
		cmocka_unit_test(a_return_of_nothing_gives_none),
		cmocka_unit_test(a_loop_jumps_back_until_its_condition_is_false),
		cmocka_unit_test(a_loop_without_an_end_ends_with_its_budget),
		cmocka_unit_test(a_condition_must_be_a_number),
		cmocka_unit_test(functions_call_each_other_deeply),
		cmocka_unit_test(functions_that_call_each_other_without_end_are_stopped),
		cmocka_unit_test(wide_functions_use_bounded_memory),
		cmocka_unit_test(a_failing_call_is_named_with_its_place),
		cmocka_unit_test(a_borrowed_result_is_refused),
		cmocka_unit_test(the_wrong_number_of_arguments_is_refused),
		cmocka_unit_test(missing_functions_are_named_together_with_their_callers),
		cmocka_unit_test(a_missing_builtin_is_named_with_what_it_is_for),
		cmocka_unit_test(a_machine_runs_only_once_it_is_initialised),
		cmocka_unit_test(a_packed_function_may_call_the_machine_back),
		cmocka_unit_test(another_thread_is_refused_while_one_is_inside),
		cmocka_unit_test(an_argument_that_is_only_lent_is_copied),
		cmocka_unit_test(what_registers_held_is_released_when_a_run_fails),
		cmocka_unit_test(a_native_function_works_on_registers_within_their_bounds),
	};

	return cmocka_run_group_tests_name("vm run", tests, set_up, NULL);
}
