/* SPDX-License-Identifier: MIT */
/*
 * Modules of TVM 0.18 that hold cubins for sm_75: the fake libcuda does not look into them, and tells what
 * was launched and with which arguments.
 */
#include "tests/cuda/cuda_rig.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/tensor.h>

static struct tenon_tensor *tensors[3];

static struct tenon_function *function_of(const char *folder, const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	struct tenon_function *f = NULL;
	struct tenon_module *m = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/interop/data/tvm-0.18/%s/lib.so",
		 source ? source : ".", folder);
	if (tenon_module_load(path, &m)) {
		print_message("# skip: %s\n", tenon_error_message());
		skip();
	}
	assert_int_equal(tenon_module_get_function(m, name, &f), 0);
	tenon_object_unref(m);
	return f;
}

static void call(struct tenon_function *f, const int64_t *shape, int32_t ndim)
{
	struct tenon_value ret = tenon_arg_none();
	int i;

	for (i = 0; i < 3; i++)
		assert_int_equal(tenon_tensor_create_on(rig.device->id, shape, ndim,
							tenon_dtype(TENON_DTYPE_FLOAT, 32, 1),
							&tensors[i]),
				 0);
	rig.fake->pointers = 3;
	if (tenon_call(f, &ret, tenon_arg_object(tensors[0]), tenon_arg_object(tensors[1]),
		       tenon_arg_object(tensors[2]))) {
		print_error("%s\n", tenon_error_message());
		fail();
	}
}

static void end(struct tenon_function *f)
{
	int i;

	for (i = 0; i < 3; i++)
		tenon_object_unref(tensors[i]);
	tenon_object_unref(f);
}

/* The kernel got the addresses of these tensors, in this order. */
static void check_arguments(void)
{
	uint64_t address;
	int i;

	for (i = 0; i < 3; i++) {
		memcpy(&address, rig.fake->arguments + 8 * i, 8);
		assert_true(address == (uintptr_t)tensors[i]->dl.data);
	}
}

static void vector_add_is_launched_as_it_was_compiled(void **state)
{
	const int64_t shape[] = { 1024 };
	struct tenon_function *f;

	(void)state;
	f = function_of("cuda_vecadd", "vecadd");
	call(f, shape, 1);
	assert_string_equal(rig.fake->kernel, "vecadd_kernel");
	assert_int_equal(rig.fake->grid[0], 16);
	assert_int_equal(rig.fake->block[0], 64);
	assert_int_equal(rig.fake->grid[1] * rig.fake->block[1] * rig.fake->grid[2], 1);
	assert_int_equal(rig.fake->shared, 0);
	check_arguments();
	end(f);
}

static void matrix_product_is_launched_with_its_shared_memory(void **state)
{
	const int64_t shape[] = { 64, 64 };
	struct tenon_function *f;

	(void)state;
	f = function_of("cuda_dynshared", "matmul_dyn");
	call(f, shape, 2);
	assert_string_equal(rig.fake->kernel, "matmul_dyn_kernel");
	assert_int_equal(rig.fake->grid[0], 8);
	assert_int_equal(rig.fake->grid[1], 8);
	assert_int_equal(rig.fake->block[0], 8);
	assert_int_equal(rig.fake->block[1], 8);
	assert_int_equal(rig.fake->shared, 512);
	assert_int_equal(rig.fake->launches, 1);
	check_arguments();
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(vector_add_is_launched_as_it_was_compiled),
		RIG_CASE(matrix_product_is_launched_with_its_shared_memory),
	};

	if (rig_start("threads"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
