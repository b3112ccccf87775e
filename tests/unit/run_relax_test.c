/* SPDX-License-Identifier: MIT */
/* The command on Relax models. */
#include "vm_assembler.h"

#include <stdio.h>
#include <stdlib.h>
#undef RUN
#include "cli_run.h"

/* main(): gives a shape */
static int load_shape(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t shape = CONSTANT_SHAPE(&a, 2, 3);
	struct tenon_module *root;
	int err;

	(void)self;
	(void)args;
	(void)count;
	assemble_function(&a, "main", 0, 1);
	ASSEMBLE_CALL(&a, 0, assemble_packed(&a, "vm.builtin.copy"), CONST(shape));
	assemble_ret(&a, 0);
	err = load_assembly(&a, &root);
	if (!err)
		*ret = tenon_arg_object(root);
	return err;
}

static char *shape_file(void)
{
	static char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/it.giveshape",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	return path;
}

static void an_output_that_is_no_tensor_is_not_written(void **state)
{
	char *path = shape_file();

	(void)state;
	assert_ran(RUN("run", path), CLI_OK, "output0: (2, 3)\n", "");
	assert_refused(RUN("run", path, "--output", "2xint64=>s.npy"), CLI_USAGE,
		       "--output 2xint64=>s.npy: output 0 is a ffi.Shape, no tensor");
	remove(path);
}

/* by TVM 0.18, exec_mode="compiled" */
#define COMPILED "tests/interop/data/tvm-0.18/relax_mlp_compiled/"

static void a_compiled_model_of_the_older_convention_is_measured(void **state)
{
	struct cli_run r;

	(void)state;
#ifdef __x86_64__
	r = RUN("bench", COMPILED "vm.so", "--runs", "3", "--input", "x=@" COMPILED "n5_in_x.npy");
	assert_string_equal(r.err, "");
	assert_int_equal(r.code, CLI_OK);
	assert_non_null(strstr(r.out, "relax executor"));
	assert_non_null(strstr(r.out, "3 runs"));
	cli_run_free(&r);
#else
	(void)r;
	skip();
#endif
}

static int set_up(void **state)
{
	(void)state;
	return tenon_function_register_c("ffi.Module.load_from_file.giveshape", load_shape, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_output_that_is_no_tensor_is_not_written),
		cmocka_unit_test(a_compiled_model_of_the_older_convention_is_measured),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
