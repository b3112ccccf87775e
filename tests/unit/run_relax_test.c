/* SPDX-License-Identifier: MIT */
/* tenon run on Relax models: shapes and tuples as arguments and outputs. */
#include "relax_assembler.h"

#include <stdio.h>
#include <stdlib.h>
#undef RUN
#include "cli_run.h"

/* it ended with a code, and these words are in its output */
static void assert_says(struct cli_run r, int code, const char *words)
{
	if (r.code != code || !strstr(r.out, words))
		fail_msg("exit %d\n%s\n%s\nwant %d and: %s", r.code, r.out, r.err, code, words);
	cli_run_free(&r);
}

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

/* double(s, …): the shape s with each extent doubled */
static int double_shape(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	const struct tenon_shape *s;
	struct tenon_shape *twice;
	int64_t extents[8];
	size_t i;
	int err;

	(void)self;
	if (count != 1 || args[0].type != TENON_TYPE_SHAPE)
		return tenon_error(-TENON_E_TYPE, "a shape wanted, found %s",
				   count ? tenon_type_key(args[0].type) : "nothing");
	s = (const struct tenon_shape *)args[0].as.object;
	for (i = 0; i < s->size && i < 8; i++)
		extents[i] = 2 * s->data[i];
	err = tenon_shape_create(extents, i, &twice);
	if (!err)
		*ret = tenon_arg_object(twice);
	return err;
}

/* main(s): doubles a shape */
static int load_double(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *root;
	uint32_t function = assemble_packed(&a, "test.double_shape"), main;
	int err;

	(void)self;
	(void)args;
	(void)count;
	main = assemble_function(&a, "main", 1, 2);
	a.functions[main].params[0] = "s";
	a.functions[main].param_count = 1;
	ASSEMBLE_CALL(&a, 1, function, REG(0));
	assemble_ret(&a, 1);
	err = load_assembly(&a, &root);
	if (!err)
		*ret = tenon_arg_object(root);
	return err;
}

static double number_in(const struct tenon_value *v)
{
	DLTensor *t;

	if (v->type == TENON_TYPE_INT)
		return (double)v->as.integer;
	return tenon_value_tensor(v, &t) ? -1000 : ((const float *)t->data)[0];
}

/* weigh((a, (b, c))): a + 10 b + 100 c */
static int weigh(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	const struct tenon_array *outer, *inner;

	(void)self;
	if (count != 1 || args[0].type != TENON_TYPE_ARRAY)
		return tenon_error(-TENON_E_TYPE, "a tuple wanted");
	outer = (const struct tenon_array *)args[0].as.object;
	if (outer->size != 2 || outer->data[1].type != TENON_TYPE_ARRAY)
		return tenon_error(-TENON_E_TYPE, "a tuple of one and a tuple wanted");
	inner = (const struct tenon_array *)outer->data[1].as.object;
	if (inner->size != 2)
		return tenon_error(-TENON_E_TYPE, "a tuple of two wanted");
	*ret = tenon_arg_float(number_in(&outer->data[0]) + 10 * number_in(&inner->data[0]) +
			       100 * number_in(&inner->data[1]));
	return 0;
}

/* main(t): hands a tuple on as a whole, so that its instructions tell no more of it than compiled code */
static int load_tuple(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *root;
	uint32_t function = assemble_packed(&a, "test.weigh"), main;
	int err;

	(void)self;
	(void)args;
	(void)count;
	main = assemble_function(&a, "main", 1, 2);
	a.functions[main].params[0] = "t";
	a.functions[main].param_count = 1;
	ASSEMBLE_CALL(&a, 1, function, REG(0));
	assemble_ret(&a, 1);
	err = load_assembly(&a, &root);
	if (!err)
		*ret = tenon_arg_object(root);
	return err;
}

static char *file_for(const char *loader)
{
	static char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/it.%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
		 loader);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	return path;
}

static void an_output_that_is_no_tensor_is_not_written(void **state)
{
	char *path = file_for("giveshape");

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
#if defined(__x86_64__) && defined(CONFIG_TVM_FFI_COMPAT) && defined(CONFIG_TVM_LEGACY)
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

static void a_shape_is_given_and_expected(void **state)
{
	char *path = file_for("doubleshape");

	(void)state;
	assert_ran(RUN("run", path, "--input", "s=shape:1,64"), CLI_OK, "output0: (2, 128)\n", "");
	assert_ran(RUN("run", path, "--input", "shape:"), CLI_OK, "output0: ()\n", "");
	assert_says(RUN("run", path, "--input", "s=shape:1,64", "--expect", "shape:2,128"), CLI_OK,
		    "expected: equal");
	assert_says(RUN("run", path, "--input", "s=shape:1,64", "--expect", "shape:2,127", "--rtol",
			"1"),
		    CLI_DIFFERS, "first at 1: 128, expected 127");
	assert_says(RUN("run", path, "--input", "s=shape:1,64", "--expect", "shape:2"), CLI_DIFFERS,
		    "2 dimensions, expected 1");
	assert_says(RUN("run", path, "--input", "s=shape:1,64", "--expect", "2"), CLI_DIFFERS,
		    "this is a ffi.Shape, expected int");
	remove(path);
}

static void what_is_no_shape_is_refused(void **state)
{
	char *path = file_for("doubleshape");

	(void)state;
	assert_refused(RUN("run", path, "--input", "s=shape:1,x"), CLI_USAGE, "shape:1,64");
	assert_refused(RUN("run", path, "--input", "s=shape:1,"), CLI_USAGE, "shape:1,64");
	assert_refused(RUN("run", path, "--input", "s=shape:-1"), CLI_USAGE, "shape:1,64");
	assert_refused(RUN("run", path, "--input", "s=shape:9223372036854775808"), CLI_USAGE,
		       "shape:1,64");
	assert_refused(RUN("run", path, "--output", "shape:1"), CLI_USAGE, "an output is a tensor");
	assert_refused(RUN("run", path, "--input", "s=3"), CLI_FAILED, "a shape wanted, found int");
	remove(path);
}

#if defined(CONFIG_JSON) && defined(CONFIG_INSPECT)
static void a_shape_is_a_list_in_json(void **state)
{
	char *path = file_for("doubleshape");

	(void)state;
	assert_says(RUN("run", path, "--input", "s=shape:1,64", "--json"), CLI_OK, "128");
	remove(path);
}
#endif

static void a_tuple_is_given_item_by_item(void **state)
{
	char *path = file_for("weigh");

	(void)state;
	assert_ran(RUN("run", path, "--input", "t.0=1xfloat32=3", "--input", "t.1.0=4", "--input",
		       "t.1.1=1xfloat32=5"),
		   CLI_OK, "output0: 543\n", "");
	/* in any order */
	assert_ran(RUN("run", path, "--input", "t.1.1=5", "--input", "t.0=3", "--input", "t.1.0=4"),
		   CLI_OK, "output0: 543\n", "");
	assert_says(RUN("bench", path, "--runs", "1", "--input", "t.0=3", "--input", "t.1.0=4",
			"--input", "t.1.1=5"),
		    CLI_OK, "1 run");
	remove(path);
}

static void a_tuple_with_gaps_or_twice_the_same_is_refused(void **state)
{
	char *path = file_for("weigh");

	(void)state;
	assert_refused(RUN("run", path, "--input", "t.0=3", "--input", "t.2=4"), CLI_USAGE,
		       "item 1 of the tuple is not given");
	assert_refused(RUN("run", path, "--input", "t.0=3", "--input", "t.00=4"), CLI_USAGE,
		       "\"t.0\" is given twice");
	assert_refused(RUN("run", path, "--input", "t.0=3", "--input", "t.0.0=4"), CLI_USAGE,
		       "\"t.0\" is given twice");
	assert_refused(RUN("run", path, "--input", "t.99999999999999999999=3"), CLI_USAGE,
		       "item 0 of the tuple is not given");
	assert_refused(RUN("run", path, "--input", "u.0=3"), CLI_USAGE, "u.0");
	assert_refused(RUN("run", path, "--input", "t.x=3"), CLI_USAGE, "t.x");
	assert_refused(RUN("run", path, "--input", "t.0=3"), CLI_FAILED, "a tuple of one");
	remove(path);
}

static int set_up(void **state)
{
	(void)state;
	return tenon_function_register_c("ffi.Module.load_from_file.giveshape", load_shape, true) ||
	       tenon_function_register_c("ffi.Module.load_from_file.doubleshape", load_double,
					 true) ||
	       tenon_function_register_c("ffi.Module.load_from_file.weigh", load_tuple, true) ||
	       tenon_function_register_c("test.double_shape", double_shape, true) ||
	       tenon_function_register_c("test.weigh", weigh, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_output_that_is_no_tensor_is_not_written),
		cmocka_unit_test(a_compiled_model_of_the_older_convention_is_measured),
		cmocka_unit_test(a_shape_is_given_and_expected),
		cmocka_unit_test(what_is_no_shape_is_refused),
#if defined(CONFIG_JSON) && defined(CONFIG_INSPECT)
		cmocka_unit_test(a_shape_is_a_list_in_json),
#endif
		cmocka_unit_test(a_tuple_is_given_item_by_item),
		cmocka_unit_test(a_tuple_with_gaps_or_twice_the_same_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
