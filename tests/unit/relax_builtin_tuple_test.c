/* SPDX-License-Identifier: MIT */
/* Relax builtins that make, read and reset tuples; deep ones end without a deep stack. */
#include "tests/unit/one_builtin.h"

/* main(x): a tuple (x, 5, (x,)), its item, and the tuple with the item reset */
static void tuples_are_made_read_and_reset(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *t = vector(3, f32, NULL, 0);
	struct tenon_value ret;
	struct tenon_array *tuple;
	uint32_t make, get, reset;
	struct relax_vm *vm;

	(void)state;
	make = assemble_packed(&a, "vm.builtin.make_tuple");
	get = assemble_packed(&a, "vm.builtin.tuple_getitem");
	reset = assemble_packed(&a, "vm.builtin.tuple_reset_item");
	assemble_function(&a, "main", 1, 5);
	ASSEMBLE_CALL(&a, 1, make, REG(0));
	ASSEMBLE_CALL(&a, 2, make, REG(0), IMM(5), REG(1));
	ASSEMBLE_CALL(&a, 3, get, REG(2), IMM(2));
	ASSEMBLE_CALL(&a, 4, get, REG(3), IMM(0));
	ASSEMBLE_CALL(&a, VOID_REG, reset, REG(2), IMM(0));
	ASSEMBLE_CALL(&a, 2, make, REG(2), REG(4));
	assemble_ret(&a, 2);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_object(t)), 0);
	tuple = (struct tenon_array *)ret.as.object;
	assert_int_equal(tuple->size, 2);
	assert_ptr_equal(tuple->data[1].as.object, t);
	tuple = (struct tenon_array *)tuple->data[0].as.object;
	assert_int_equal(tuple->size, 3);
	assert_int_equal(tuple->data[0].type, TENON_TYPE_NONE);
	assert_int_equal(tuple->data[1].as.integer, 5);
	tenon_object_unref(vm);
	tenon_value_release(&ret);
	assert_int_equal(strong_count(t), 1);
	tenon_object_unref(t);
}

static void items_outside_of_a_tuple_are_refused(void **state)
{
	static const int64_t indices[] = { 2, -1, INT64_MAX >> 8 };
	struct tenon_value items[] = { tenon_arg_int(1), tenon_arg_int(2) };
	struct tenon_array *t;
	size_t i;

	(void)state;
	assert_int_equal(tenon_array_create(items, 2, &t), 0);
	for (i = 0; i < 3; i++) {
		struct one o = begin("vm.builtin.tuple_getitem");

		CALL(&o, 1, REG(0), IMM(indices[i]));
		refused(end(&o), tenon_arg_object(t), -TENON_E_VALUE, "of a tuple of 2");
	}
	tenon_object_unref(t);
}

/* while n: t = (t,); n = n - 1: a program nests tuples as deep as it likes */
static void deep_tuples_die_without_a_deep_stack(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	uint32_t make, sub, heap;
	struct relax_vm *vm;

	(void)state;
	make = assemble_packed(&a, "vm.builtin.make_tuple");
	sub = assemble_packed(&a, "vm.builtin.make_prim_value");
	heap = assemble_packed(&a, "vm.builtin.alloc_shape_heap");
	assemble_function(&a, "main", 1, 3);
	ASSEMBLE_CALL(&a, 1, heap, REG(MACHINE_REG), IMM(1));
	ASSEMBLE_CALL(&a, 2, sub, REG(1), IMM(0), IMM(1));
	ASSEMBLE_CALL(&a, 0, make, REG(0));
	assemble_if(&a, 2, 2);
	assemble_goto(&a, -2);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	vm->budget = 1000000;
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(0)), -TENON_E_TIMEOUT);
	tenon_error_clear();
	tenon_object_unref(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tuples_are_made_read_and_reset),
		cmocka_unit_test(items_outside_of_a_tuple_are_refused),
		cmocka_unit_test(deep_tuples_die_without_a_deep_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
