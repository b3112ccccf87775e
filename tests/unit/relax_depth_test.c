/* SPDX-License-Identifier: MIT */
/* How deep calls may nest that go through the machine and lie on the thread's stack. */
#include "tests/unit/relax_assembler.h"

#include <pthread.h>
#include <unistd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/library/tvm_table.h"

#define SMALL_STACK (256u << 10)
#define LARGE_STACK (16u << 20)

/* A run of "main" on another stack than the one of cmocka. */
struct run {
	struct relax_vm *vm;
	int64_t argument;
	int status;
	int64_t result;
	char message[2048];
};

static void *run_here(void *context)
{
	struct run *r = context;
	struct tenon_value ret;

	r->status = RUN(r->vm, &ret, tenon_arg_int(r->argument));
	r->result = ret.as.integer;
	snprintf(r->message, sizeof(r->message), "%s", tenon_error_message());
	tenon_error_clear();
	return NULL;
}

static struct run in_thread(struct relax_vm *vm, int64_t argument, size_t stack)
{
	struct run r = { .vm = vm, .argument = argument };
	long least = sysconf(_SC_THREAD_STACK_MIN);
	pthread_attr_t attr;
	pthread_t thread;

	/* 128 KiB on some machines */
	if (least > 0 && stack < (size_t)least)
		stack = (size_t)least;
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, stack), 0);
	assert_int_equal(pthread_create(&thread, &attr, run_here, &r), 0);
	pthread_attr_destroy(&attr);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return r;
}

/* It ends with an error on a stack of any size, and the machine can be used again. */
static void ends_on_every_stack(struct relax_vm *vm, int64_t endless, int64_t few)
{
	struct tenon_value ret;
	struct run r;

	assert_int_equal(RUN(vm, &ret, tenon_arg_int(endless)), -TENON_E_OVERFLOW);
	assert_true(strlen(tenon_error_message()) < 2000);
	tenon_error_clear();
	r = in_thread(vm, endless, SMALL_STACK);
	assert_int_equal(r.status, -TENON_E_OVERFLOW);
	assert_non_null(strstr(r.message, "the thread's stack of 2"));
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(few)), 0);
	assert_int_equal(in_thread(vm, few, SMALL_STACK).status, 0);
	assert_null(relax_current());
}

/* main(x): a call of @first with @count operands that repeat @pair, and REG(0) at the end */
static struct relax_vm *repeating(struct assembly *a, uint32_t first, const int64_t *pair,
				  size_t count)
{
	int64_t *words = calloc(4 + count + 1, sizeof(*words));
	struct relax_vm *vm;
	size_t i;

	assert_non_null(words);
	assemble_function(a, "main", 1, 2);
	words[0] = RELAX_CALL;
	words[1] = 1;
	words[2] = first;
	words[3] = (int64_t)count + 1;
	for (i = 0; i < count; i++)
		words[4 + i] = pair[i % 2];
	words[4 + count] = REG(0);
	assemble_words(a, words, 4 + count + 1);
	assemble_ret(a, 1);
	free(words);
	vm = machine_of(a);
	return vm;
}

static void a_builtin_that_invokes_itself_ends(void **state)
{
	struct assembly a = ASSEMBLY_INIT, b = ASSEMBLY_INIT;
	uint32_t invoke = assemble_packed(&a, "vm.builtin.invoke_closure");
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	vm = repeating(&a, invoke, (const int64_t[]){ REG(MACHINE_REG), FUNC(invoke) }, 400000);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(0)), -TENON_E_OVERFLOW);
	assert_error_has("ulimit -s");
	tenon_error_clear();
	assert_int_equal(in_thread(vm, 0, SMALL_STACK).status, -TENON_E_OVERFLOW);
	tenon_object_unref(vm);
	/* so do few, on a stack that is smaller still */
	invoke = assemble_packed(&b, "vm.builtin.invoke_closure");
	vm = repeating(&b, invoke, (const int64_t[]){ REG(MACHINE_REG), FUNC(invoke) }, 40);
	assert_int_equal(in_thread(vm, 0, SMALL_STACK).status, -TENON_E_TYPE);
	tenon_object_unref(vm);
}

static void a_debug_function_that_invokes_itself_ends(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t debug = assemble_packed(&a, "vm.builtin.invoke_debug_func");
	uint32_t name = constant_string(&a, "vm.builtin.invoke_debug_func");
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	vm = repeating(&a, debug, (const int64_t[]){ REG(VOID_REG), CONST(name) }, 400000);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(0)), -TENON_E_OVERFLOW);
	assert_error_has("stack");
	tenon_error_clear();
	assert_int_equal(in_thread(vm, 0, SMALL_STACK).status, -TENON_E_OVERFLOW);
	tenon_object_unref(vm);
}

/* call_tir_dyn has an array of its arguments on the stack. */
static void call_tir_dyn_of_itself_ends(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t dyn = assemble_packed(&a, "vm.builtin.call_tir_dyn"), empty, i;
	int64_t operands[60];
	struct relax_vm *vm;

	(void)state;
	empty = constant_shape(&a, NULL, 0);
	for (i = 0; i < 40; i++)
		operands[i] = FUNC(dyn);
	for (; i < 60; i++)
		operands[i] = CONST(empty);
	assemble_function(&a, "main", 1, 2);
	assemble_call(&a, 1, dyn, operands, 60);
	assemble_ret(&a, 1);
	vm = machine_of(&a);
	assert_int_not_equal(in_thread(vm, 0, 64u << 10).status, 0);
	tenon_object_unref(vm);
}

/* back(n): main(n - 1) + 1 */
static int back(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_value less = tenon_arg_int(args[0].as.integer - 1);
	struct relax_vm *vm = relax_current();
	int err;

	(void)self;
	(void)count;
	err = relax_call(vm, (uint32_t)relax_executable_find(vm->x, tenon_slice_of("main")), &less,
			 1, ret);
	ret->as.integer += !err;
	return err;
}

/* main(n) = n ? back(n) : 0 */
static struct relax_vm *back_and_forth(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f = assemble_packed(&a, "test.depth.back");

	tenon_function_register_c("test.depth.back", back, true);
	assemble_function(&a, "main", 1, 2);
	assemble_if(&a, 0, 2);
	ASSEMBLE_CALL(&a, 0, f, REG(0));
	assemble_ret(&a, 0);
	return machine_of(&a);
}

static void bytecode_and_packed_functions_call_each_other_as_the_stack_allows(void **state)
{
	struct relax_vm *vm = back_and_forth();

	(void)state;
	ends_on_every_stack(vm, 1000000, 100);
	assert_int_equal(in_thread(vm, 1500, LARGE_STACK).result, 1500);
	tenon_object_unref(vm);
}

/*
 * What the compiler makes of `main(n) = n ? main(n - 1) + 1 : 0`: the function is found among the functions of
 * the executable, and called by the builtin.
 */
static int native(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	void *registers = args[1].as.pointer, *functions = args[3].as.pointer;
	struct tenon_value call[4], result = tenon_arg_none();
	struct tenon_function *invoke;
	int err;

	(void)self;
	(void)count;
	(void)ret;
	if (abi_backend_list_set_argument(registers, 0, call, 2, 0) ||
	    abi_backend_list_set_argument(functions, 0, call, 1, 0))
		return -1;
	if (call[2].as.integer--) {
		call[0] = args[0];
		err = tenon_function_find("vm.builtin.invoke_closure", &invoke);
		if (!err)
			err = tenon_function_call(invoke, call, 3, &result);
		tenon_object_unref(invoke);
		if (err)
			return err;
		result.as.integer++;
	} else {
		result = tenon_arg_int(0);
	}
	call[3] = result;
	return abi_backend_list_take_result(registers, 1, call, 3, 0);
}

static struct relax_vm *native_recursion(void)
{
	struct assembly a = ASSEMBLY_INIT;

	tenon_function_register_c("__vmtir__main", native, true);
	assemble_entry(&a, "main", RELAX_FUNCTION_NATIVE, 1, 2);
	return machine_of(&a);
}

static void native_functions_recurse_as_the_stack_allows(void **state)
{
	struct relax_vm *vm = native_recursion();

	(void)state;
	ends_on_every_stack(vm, 1000000, 100);
	assert_int_equal(in_thread(vm, 5000, LARGE_STACK).result, 5000);
	tenon_object_unref(vm);
}

/* The main thread's stack, which grows: 8 MiB nearly everywhere. */
static void a_loop_of_1500_rounds_runs_in_native_functions(void **state)
{
	struct relax_vm *vm = native_recursion();
	struct tenon_value ret;

	(void)state;
	if (RUN(vm, &ret, tenon_arg_int(1500)))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(ret.as.integer, 1500);
	tenon_object_unref(vm);
}

/* A machine whose "main" has an input set. */
static struct relax_vm *holder_of(struct tenon_module *x, struct tenon_value input)
{
	struct relax_vm *vm = machine_of_module(x);
	struct tenon_value ret;
	struct tenon_function *f;

	assert_int_equal(relax_init(vm), 0);
	assert_int_equal(tenon_module_get_function(&vm->module, "set_input", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("main"), input), 0);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(&vm->module, "invoke_stateful", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("main")), 0);
	tenon_object_unref(f);
	tenon_value_release(&input);
	return vm;
}

static void *drop(void *machine)
{
	tenon_object_unref(machine);
	return NULL;
}

static void machines_that_hold_machines_are_released_on_a_small_stack(void **state)
{
	struct tenon_value held = tenon_arg_int(0);
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *x;
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	assert_int_equal(load_assembly(&a, &x), 0);
	for (i = 0; i < 3000; i++)
		held = tenon_arg_object(holder_of(x, held));
	tenon_object_unref(x);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, SMALL_STACK), 0);
	assert_int_equal(pthread_create(&thread, &attr, drop, held.as.object), 0);
	pthread_attr_destroy(&attr);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static struct run *in_handler;

static void on_signal(int number)
{
	(void)number;
	run_here(in_handler);
}

/* As in a coroutine: the C library cannot tell the bounds of this stack. */
static void a_stack_of_unknown_size_is_used_with_care(void **state)
{
	struct run r = { .vm = native_recursion() };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK }, old;
	stack_t other = { .ss_size = SMALL_STACK }, before;

	(void)state;
	other.ss_sp = malloc(SMALL_STACK);
	assert_non_null(other.ss_sp);
	assert_int_equal(sigaltstack(&other, &before), 0);
	sigemptyset(&act.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &act, &old), 0);
	in_handler = &r;
	r.argument = 1000000;
	raise(SIGUSR1);
	assert_int_equal(r.status, -TENON_E_OVERFLOW);
	r.argument = 5;
	raise(SIGUSR1);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.result, 5);
	/* and the thread's own stack is known as before */
	r.argument = 1000;
	run_here(&r);
	assert_int_equal(r.result, 1000);
	sigaction(SIGUSR1, &old, NULL);
	sigaltstack(&before, NULL);
	free(other.ss_sp);
	tenon_object_unref(r.vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_builtin_that_invokes_itself_ends),
		cmocka_unit_test(a_debug_function_that_invokes_itself_ends),
		cmocka_unit_test(call_tir_dyn_of_itself_ends),
		cmocka_unit_test(bytecode_and_packed_functions_call_each_other_as_the_stack_allows),
		cmocka_unit_test(native_functions_recurse_as_the_stack_allows),
		cmocka_unit_test(a_loop_of_1500_rounds_runs_in_native_functions),
		cmocka_unit_test(machines_that_hold_machines_are_released_on_a_small_stack),
		cmocka_unit_test(a_stack_of_unknown_size_is_used_with_care),
	};

#ifdef __SANITIZE_THREAD__
	/* it ends a program whose stack has more than 65 536 frames */
	puts("ThreadSanitizer has no room for stacks as deep as these");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
