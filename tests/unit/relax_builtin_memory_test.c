/* SPDX-License-Identifier: MIT */
/* Relax builtins for storages, tensors in them, and the memory of a machine. */
#include "tests/unit/one_builtin.h"

/* main(x): a storage of bytes, and a tensor in it */
static struct relax_vm *allocation(int64_t bytes, int64_t offset, int64_t extent)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t storage = assemble_packed(&a, "vm.builtin.alloc_storage");
	uint32_t tensor = assemble_packed(&a, "vm.builtin.alloc_tensor");
	uint32_t size = CONSTANT_SHAPE(&a, bytes), shape = CONSTANT_SHAPE(&a, extent, 2);
	uint32_t u8 = constant_dtype(&a, tenon_dtype(TENON_DTYPE_UINT, 8, 1)), f = constant_f32(&a);
	uint32_t scope = constant_string(&a, "global");

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, storage, REG(MACHINE_REG), CONST(size), IMM(0), CONST(u8),
		      CONST(scope));
	ASSEMBLE_CALL(&a, 1, tensor, REG(1), IMM(offset), CONST(shape), CONST(f));
	assemble_ret(&a, 1);
	return machine_of(&a);
}

static void tensors_lie_in_storages(void **state)
{
	struct tenon_value ret = given(allocation(64, 16, 6), tenon_arg_int(0));
	const DLTensor *t = &((struct tenon_tensor *)ret.as.object)->dl;

	(void)state;
	assert_int_equal(ret.type, TENON_TYPE_TENSOR);
	assert_int_equal(t->ndim, 2);
	assert_int_equal(t->shape[0], 6);
	assert_int_equal(t->strides[0], 2);
	assert_int_equal(t->strides[1], 1);
	assert_int_equal(t->byte_offset, 0);
	assert_int_equal((uintptr_t)t->data % TENON_TENSOR_ALIGN, 16);
	/* the machine is gone, its memory is not */
	memset(t->data, 1, 48);
	tenon_value_release(&ret);
}

static void tensors_that_do_not_fit_their_storage_are_refused(void **state)
{
	(void)state;
	refused(allocation(64, 17, 6), tenon_arg_int(0), -TENON_E_VALUE,
		"storage allocation failure, attempted to allocate 48 bytes at offset 17 in a "
		"region of "
		"64 bytes");
	refused(allocation(64, -1, 1), tenon_arg_int(0), -TENON_E_VALUE, "at offset -1");
	refused(allocation(64, 0, 9), tenon_arg_int(0), -TENON_E_VALUE, "72 bytes");
	refused(allocation(64, 0, INT64_MAX / 2), tenon_arg_int(0), -TENON_E_OVERFLOW, "overflows");
	refused(allocation(64, 0, -1), tenon_arg_int(0), -TENON_E_VALUE, "extent -1");
	refused(allocation(TOO_MANY_BYTES, 0, 1), tenon_arg_int(0), -TENON_E_NOMEM, "storage of");
}

static void a_storage_is_told_from_other_objects(void **state)
{
	struct one o = begin("vm.builtin.alloc_tensor");
	uint32_t s = CONSTANT_SHAPE(&o.a, 1), f = constant_f32(&o.a);

	(void)state;
	CALL(&o, 1, CONST(s), IMM(0), CONST(s), CONST(f));
	refused(end(&o), tenon_arg_int(0), -TENON_E_TYPE,
		"argument 0: expected a storage, found ffi.Shape");
}

static void a_warm_machine_allocates_nothing(void **state)
{
	struct relax_vm *vm = allocation(100000, 0, 100);
	struct relax_pool_figures cold, warm;
	struct tenon_value ret;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		assert_int_equal(RUN(vm, &ret, tenon_arg_int(0)), 0);
		tenon_value_release(&ret);
		if (!i)
			relax_pool_figures(vm->pool, &cold);
	}
	relax_pool_figures(vm->pool, &warm);
	assert_int_equal(warm.allocations, cold.allocations);
	assert_int_equal(cold.allocations, 2);
	assert_int_equal(warm.storages, 0);
	assert_int_equal(warm.used, 0);
	tenon_object_unref(vm);
}

/* The idle memory of a machine that drops a storage, and then clears or not. */
static uint64_t idle_memory(bool clears)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t storage = assemble_packed(&a, "vm.builtin.alloc_storage");
	uint32_t none = assemble_packed(&a, "vm.builtin.null_value");
	uint32_t clear = assemble_packed(&a, "vm.builtin.memory_manager.clear");
	uint32_t size = CONSTANT_SHAPE(&a, 100000), scope = constant_string(&a, "global");
	uint32_t u8 = constant_dtype(&a, tenon_dtype(TENON_DTYPE_UINT, 8, 1));
	struct relax_pool_figures figures;
	struct tenon_value ret;
	struct relax_vm *vm;

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, storage, REG(MACHINE_REG), CONST(size), IMM(0), CONST(u8),
		      CONST(scope));
	ASSEMBLE_CALL(&a, 1, none);
	if (clears)
		ASSEMBLE_CALL(&a, 1, clear);
	assemble_ret(&a, 1);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(0)), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	relax_pool_figures(vm->pool, &figures);
	tenon_object_unref(vm);
	return figures.idle;
}

static void memory_manager_clear_frees_the_idle_memory(void **state)
{
	(void)state;
	assert_in_range(idle_memory(false), 100000, 200000);
	assert_int_equal(idle_memory(true), 0);
}

static void memory_manager_clear_takes_no_arguments(void **state)
{
	struct one o = begin("vm.builtin.memory_manager.clear");

	(void)state;
	CALL(&o, 1, REG(0));
	refused(end(&o), tenon_arg_int(0), -TENON_E_TYPE, "memory_manager.clear");
}

static void null_value_lets_go_and_copy_shares(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *t = vector(3, f32, NULL, 0);
	struct tenon_value ret;
	uint32_t none, copy;
	struct relax_vm *vm;

	(void)state;
	none = assemble_packed(&a, "vm.builtin.null_value");
	copy = assemble_packed(&a, "vm.builtin.copy");
	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, copy, REG(0));
	ASSEMBLE_CALL(&a, 0, none);
	assemble_ret(&a, 1);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_object(t)), 0);
	assert_ptr_equal(ret.as.object, t);
	assert_int_equal(strong_count(t), 2);
	tenon_value_release(&ret);
	tenon_object_unref(vm);
	tenon_object_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_lie_in_storages),
		cmocka_unit_test(tensors_that_do_not_fit_their_storage_are_refused),
		cmocka_unit_test(a_storage_is_told_from_other_objects),
		cmocka_unit_test(a_warm_machine_allocates_nothing),
		cmocka_unit_test(memory_manager_clear_frees_the_idle_memory),
		cmocka_unit_test(memory_manager_clear_takes_no_arguments),
		cmocka_unit_test(null_value_lets_go_and_copy_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
