/* SPDX-License-Identifier: MIT */
/* Programs that are watched, by a profile or by an instrument: they give, and fail with, what they do by themselves. */
#include "tests/unit/one_builtin.h"

enum watch { ALONE, TIMED, INSTRUMENTED };

static int add(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t sum = 0;
	int32_t i;

	(void)self;
	*ret = tenon_arg_none();
	for (i = 0; i < count; i++) {
		if (args[i].type != TENON_TYPE_INT)
			return tenon_error(-TENON_E_TYPE, "argument %d is no integer", i);
		sum += args[i].as.integer;
	}
	*ret = tenon_arg_int(sum);
	return 0;
}

/* ---- programs, each with main(x) */

/* counts down to 0 */
static struct relax_vm *loop(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f = assemble_packed(&a, "test.watched.add");

	assemble_function(&a, "main", 1, 1);
	ASSEMBLE_CALL(&a, 0, f, REG(0), IMM(-1));
	assemble_if(&a, 0, 2);
	assemble_goto(&a, -2);
	assemble_ret(&a, 0);
	return machine_of(&a);
}

/* x + 1, of @depth functions that call each other */
static struct relax_vm *nest(int depth)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	struct assembly a = ASSEMBLY_INIT;
	uint32_t inner = assemble_packed(&a, "test.watched.add"), first = inner;
	int i;

	for (i = 0; i < depth; i++) {
		uint32_t f = assemble_function(&a, i == depth - 1 ? "main" : names[i], 1, 2);

		if (inner == first)
			ASSEMBLE_CALL(&a, 1, inner, REG(0), IMM(1));
		else
			ASSEMBLE_CALL(&a, 1, inner, REG(0));
		assemble_ret(&a, 1);
		inner = f;
	}
	return machine_of(&a);
}

static struct relax_vm *one_call(void)
{
	return nest(1);
}

static struct relax_vm *deep_calls(void)
{
	return nest(7);
}

static struct relax_vm *returns_nothing(void)
{
	struct assembly a = ASSEMBLY_INIT;

	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, VOID_REG);
	return machine_of(&a);
}

static struct relax_vm *copies(void)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t copy = assemble_packed(&a, "vm.builtin.copy");
	uint32_t null = assemble_packed(&a, "vm.builtin.null_value");

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, copy, REG(0));
	ASSEMBLE_CALL(&a, 0, null);
	assemble_ret(&a, 1);
	return machine_of(&a);
}

/* a storage, and the number of dimensions of a tensor in it: 24 bytes fit */
static struct relax_vm *allocates(int64_t bytes)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t storage = assemble_packed(&a, "vm.builtin.alloc_storage");
	uint32_t tensor = assemble_packed(&a, "vm.builtin.alloc_tensor");
	uint32_t size = CONSTANT_SHAPE(&a, bytes), shape = CONSTANT_SHAPE(&a, 3, 2);
	uint32_t u8 = constant_dtype(&a, tenon_dtype(TENON_DTYPE_UINT, 8, 1)), f = constant_f32(&a);
	uint32_t scope = constant_string(&a, "global");

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, storage, REG(MACHINE_REG), CONST(size), IMM(0), CONST(u8),
		      CONST(scope));
	ASSEMBLE_CALL(&a, 1, tensor, REG(1), IMM(0), CONST(shape), CONST(f));
	assemble_ret(&a, 0);
	return machine_of(&a);
}

static struct relax_vm *tensor_in_storage(void)
{
	return allocates(24);
}

static struct relax_vm *tensor_too_large(void)
{
	return allocates(23);
}

static struct relax_vm *storage_too_large(void)
{
	return allocates(TOO_MANY_BYTES);
}

static struct relax_vm *tensor_in_no_storage(void)
{
	struct one o = begin("vm.builtin.alloc_tensor");
	uint32_t s = CONSTANT_SHAPE(&o.a, 1), f = constant_f32(&o.a);

	CALL(&o, 1, REG(0), IMM(0), CONST(s), CONST(f));
	return end(&o);
}

/* invoke_closure(callee): inner(x), a function of no program, or nothing of the sort */
static struct relax_vm *invokes(int64_t callee, int arguments)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f = assemble_packed(&a, "test.watched.add");
	uint32_t invoke = assemble_packed(&a, "vm.builtin.invoke_closure");
	int64_t operands[] = { REG(MACHINE_REG), callee, REG(0), REG(0) };

	assemble_function(&a, "inner", 1, 2);
	ASSEMBLE_CALL(&a, 1, f, REG(0), IMM(1));
	assemble_ret(&a, 1);
	assemble_function(&a, "main", 1, 2);
	assemble_call(&a, 1, invoke, operands, 2 + (size_t)arguments);
	assemble_ret(&a, 1);
	return machine_of(&a);
}

static struct relax_vm *invokes_its_own(void)
{
	return invokes(FUNC(2), 1);
}

static struct relax_vm *invokes_with_too_many(void)
{
	return invokes(FUNC(2), 2);
}

static struct relax_vm *invokes_another(void)
{
	return invokes(FUNC(0), 2);
}

static struct relax_vm *invokes_a_number(void)
{
	return invokes(IMM(3), 1);
}

/* ---- the cases */

static int calls_seen;

static void saw(void *context, const struct relax_op *op, uint64_t begin, uint64_t end)
{
	(void)context;
	assert_non_null(op);
	assert_true(begin <= end);
	calls_seen++;
}

static int sees(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	assert_true(count >= 4);
	*ret = tenon_arg_none();
	calls_seen++;
	return 0;
}

static int run_watched(struct relax_vm *vm, enum watch watch, struct tenon_value argument,
		       struct tenon_value *ret)
{
	const struct relax_call_hook hook = { saw, NULL };
	int err;

	calls_seen = 0;
	if (watch == TIMED)
		vm->call_hook = &hook;
	if (watch == INSTRUMENTED)
		assert_int_equal(tenon_function_create(NULL, sees, NULL, &vm->instrument), 0);
	err = RUN(vm, ret, argument);
	vm->call_hook = NULL;
	return err;
}

/* @budget: 0 for no limit */
static const struct {
	struct relax_vm *(*program)(void);
	uint64_t budget;
	bool text; /* the argument is no number */
	int status;
	const char *words;
} cases[] = {
	{ loop, 0, false, 0, "" },
	{ loop, 3, false, -TENON_E_TIMEOUT, "main, instruction 2: the budget" },
	{ loop, 0, true, -TENON_E_TYPE, "main, instruction 0, call of test.watched.add" },
	{ one_call, 0, false, 0, "" },
	{ deep_calls, 0, false, 0, "" },
	{ deep_calls, 0, true, -TENON_E_TYPE, "main, instruction 12, call of f" },
	{ deep_calls, 3, false, -TENON_E_TIMEOUT, "the budget of instructions is used up" },
	{ returns_nothing, 0, false, 0, "" },
	{ copies, 0, false, 0, "" },
	{ tensor_in_storage, 0, false, 0, "" },
	{ tensor_too_large, 0, false, -TENON_E_VALUE, "storage allocation failure" },
	{ storage_too_large, 0, false, -TENON_E_NOMEM, "a storage of" },
	{ tensor_in_no_storage, 0, false, -TENON_E_TYPE, "expected a storage, found int" },
	{ invokes_its_own, 0, false, 0, "" },
	{ invokes_its_own, 0, true, -TENON_E_TYPE, "argument 0 is no integer" },
	{ invokes_with_too_many, 0, false, -TENON_E_TYPE, "expects 1 arguments" },
	{ invokes_another, 0, false, 0, "" },
	{ invokes_another, 0, true, -TENON_E_TYPE, "argument 0 is no integer" },
	{ invokes_a_number, 0, false, -TENON_E_TYPE, "a closure or function is called" },
};

static void watched_programs_give_what_they_give_alone(void **state)
{
	struct tenon_value argument, alone = tenon_arg_none(), ret;
	int seen[INSTRUMENTED + 1] = { 0 }, err;
	enum watch watch;
	struct relax_vm *vm;
	size_t i;

	(void)state;
	tenon_function_register_c("test.watched.add", add, true);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (watch = ALONE; watch <= INSTRUMENTED; watch++) {
			vm = cases[i].program();
			if (cases[i].budget)
				vm->budget = cases[i].budget;
			argument = cases[i].text ? tenon_arg_string("ten") : tenon_arg_int(10);
			err = run_watched(vm, watch, argument, &ret);
			if (err != cases[i].status || !message_has(cases[i].words))
				fail_msg("case %zu, watch %d: %d, %s", i, (int)watch, err,
					 tenon_error_message());
			tenon_error_clear();
			seen[watch] += calls_seen;
			if (watch == ALONE)
				alone = ret;
			assert_int_equal(ret.type, alone.type);
			assert_int_equal(ret.as.integer, alone.as.integer);
			tenon_object_unref(vm);
		}
	assert_true(seen[TIMED] > 10 && seen[INSTRUMENTED] > 10);
	assert_int_equal(seen[ALONE], 0);
	tenon_function_remove("test.watched.add");
}

/* The condition of a branch is looked at by the machine itself. */
static void a_condition_that_is_no_number_fails_however_it_is_watched(void **state)
{
	enum watch watch;
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	for (watch = ALONE; watch <= INSTRUMENTED; watch++) {
		struct assembly a = ASSEMBLY_INIT;

		assemble_function(&a, "main", 1, 1);
		assemble_if(&a, 0, 2);
		assemble_ret(&a, VOID_REG);
		assemble_ret(&a, 0);
		vm = machine_of(&a);
		assert_int_equal(run_watched(vm, watch, tenon_arg_none(), &ret), -TENON_E_TYPE);
		assert_error_has("main, instruction 0: the condition is None, not an integer");
		assert_int_equal(run_watched(vm, ALONE, tenon_arg_int(0), &ret), 0);
		assert_int_equal(ret.type, TENON_TYPE_INT);
		assert_int_equal(run_watched(vm, ALONE, tenon_arg_int(1), &ret), 0);
		assert_int_equal(ret.type, TENON_TYPE_NONE);
		tenon_object_unref(vm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watched_programs_give_what_they_give_alone),
		cmocka_unit_test(a_condition_that_is_no_number_fails_however_it_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
