/* SPDX-License-Identifier: MIT */
/* A function that the code calls is missing: one exit code, whichever executor notices, and when. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include "cli_run.h"

#define DATA	 "tests/interop/data/"
#define GRAPH	 DATA "tvm-0.18/graph_mlp/"
#define AOT	 DATA "tvm-0.18/aot_mlp/"
#define RELAX	 DATA "tvm-0.18/relax_mlp/"
#define COMPILED DATA "tvm-0.18/relax_mlp_compiled/"
#define MODERN	 DATA "tvm-0.27.0.post1/model_mlp_compiled/"
#define PACKED	 DATA "tvm-0.27.0.post1/host_call_packed/"
#define OLDER	 DATA "tvm-0.18/host_call_packed/"

#ifdef __x86_64__
#define NEEDS_X86
#else
#define NEEDS_X86 skip()
#endif

/* A copy of a file in which each @name has another letter at @letter. */
static char *altered(const char *file, const char *name, size_t size, size_t letter)
{
	static char bytes[1 << 17], path[300];
	FILE *f = fopen(file, "rb");
	char *at = bytes;
	size_t total, changed = 0;

	assert_non_null(f);
	total = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(total < sizeof(bytes));
	while ((at = memmem(at, (size_t)(bytes + total - at), name, size))) {
		at[letter] = '?';
		at += size;
		changed++;
	}
	assert_true(changed > 0);
	snprintf(path, sizeof(path), "%s/without%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
		 strrchr(file, '.'));
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, total, f), total);
	fclose(f);
	return path;
}

static char *without(const char *file, const char *name, size_t size)
{
	return altered(file, name, size, 0);
}

/* its end belongs to the name */
#define WITHOUT(file, name) without((file), (name), sizeof(name))

static void a_graph_whose_operator_is_missing_is_refused_before_it_runs(void **state)
{
	static const char name[] = "tvmgen_default_fused_nn_softmax\"";
	char *graph = without(GRAPH "graph.json", name, sizeof(name) - 1);

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", GRAPH "lib.so", "--graph", graph, "--params",
			   GRAPH "model.params", "--input", "x=@" GRAPH "in_x.npy"),
		       CLI_FAILED, "no function \"?vmgen_default_fused_nn_softmax\"");
	/* before the inputs are asked for */
	assert_refused(RUN("bench", GRAPH "lib.so", "--graph", graph), CLI_FAILED,
		       "no function \"?vmgen_default_fused_nn_softmax\"");
	remove(graph);
}

static void code_compiled_ahead_of_time_is_refused_without_its_entry(void **state)
{
	char *file = WITHOUT(AOT "aot_packed.so", "tvmgen_default___tvm_main__");

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", file, "--input", "x=@" AOT "in_x.npy"), CLI_FAILED,
		       "no function \"tvmgen_default___tvm_main__\"");
	remove(file);
	file = WITHOUT(AOT "aot_packed.so", "get_c_metadata");
	assert_refused(RUN("run", file, "--input", "x=@" AOT "in_x.npy"), CLI_FAILED,
		       "no function \"get_c_metadata\"");
	assert_refused(RUN("bench", file), CLI_FAILED, "no function \"get_c_metadata\"");
	remove(file);
}

static void a_relax_model_whose_builtin_is_missing_is_refused_before_it_runs(void **state)
{
	/* a string with its length in front */
	static const char name[] = "vm.builtin.match_shape";
	char *file = without(RELAX "vm.so", name, sizeof(name) - 1);

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", file, "--input", "x=@" RELAX "n1_in_x.npy"), CLI_FAILED,
		       "\"?m.builtin.match_shape\" (called by \"main\", instruction ");
	assert_refused(RUN("run", file), CLI_FAILED, "?m.builtin.match_shape");
	assert_refused(RUN("bench", file), CLI_FAILED, "?m.builtin.match_shape");
	remove(file);
}

static void a_compiled_relax_model_says_what_it_lacks(void **state)
{
	char *file = WITHOUT(COMPILED "vm.so", "vm.builtin.make_shape");

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", file, "--input", "x=@" COMPILED "n1_in_x.npy"), CLI_FAILED,
		       "\"?m.builtin.make_shape\", which is neither in its imports nor registered");
	assert_refused(RUN("bench", file, "--input", "x=@" COMPILED "n1_in_x.npy"), CLI_FAILED,
		       "?m.builtin.make_shape");
	remove(file);
	file = WITHOUT(MODERN "model.so", "vm.builtin.check_tensor_info");
	assert_refused(RUN("run", file, "--input", "x=@" MODERN "r0_x.npy"), CLI_FAILED,
		       "\"?m.builtin.check_tensor_info\", which is neither");
	remove(file);
}

/* The entry of compiled code is looked up when the model is opened. */
static void a_compiled_relax_model_without_its_code_is_refused_before_it_runs(void **state)
{
	/* the function's name in the executable, behind its length */
	static const char name[12] = "\x04\0\0\0\0\0\0\0main";
	char *file = altered(COMPILED "vm.so", name, sizeof(name), 11);

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", file), CLI_FAILED, "\"__vmtir__mai?\"");
	assert_refused(RUN("bench", file), CLI_FAILED, "\"__vmtir__mai?\"");
	remove(file);
}

static void a_plain_function_says_what_it_lacks(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", PACKED "missing.so", "--function", "call_missing", "--input",
			   "@" PACKED "c3_in0.npy", "--output", "16xfloat32"),
		       CLI_FAILED, "which is neither in its imports nor registered");
	assert_refused(RUN("run", OLDER "missing.so", "--function", "call_missing", "--input",
			   "@" OLDER "c2_in0.npy"),
		       CLI_FAILED, "which is neither in its imports nor registered");
}

/* The library gives the same status for all of them. */
static int open_and_run(const char *file, const char *input)
{
	struct tenon_model *model = NULL;
	struct tenon_module *root = NULL;
	int64_t shape[] = { 1, 32 };
	struct tenon_tensor *x;
	struct tenon_value v;
	size_t index;
	int err;

	assert_int_equal(tenon_module_load(file, &root), 0);
	err = tenon_model_open(root, NULL, &model);
	tenon_object_unref(root);
	if (err)
		return err;
	assert_int_equal(tenon_tensor_create(shape, 2, tenon_dtype(2, 32, 1), &x), 0);
	assert_int_equal(tenon_model_find_input(model, tenon_slice_of(input), &index), 0);
	v = tenon_arg_object(x);
	assert_int_equal(tenon_model_set_input(model, index, &v), 0);
	tenon_object_unref(x);
	err = tenon_model_run(model);
	tenon_model_close(model);
	return err;
}

static void the_library_has_one_status_for_it(void **state)
{
	static const char builtin[] = "vm.builtin.match_shape";
	char *file = without(RELAX "vm.so", builtin, sizeof(builtin) - 1);

	(void)state;
	NEEDS_X86;
	assert_int_equal(open_and_run(file, "x"), -TENON_E_NO_FUNCTION);
	assert_string_equal(tenon_error_kind(), "AttributeError");
	remove(file);
	file = WITHOUT(COMPILED "vm.so", "vm.builtin.make_shape");
	assert_int_equal(open_and_run(file, "x"), -TENON_E_NO_FUNCTION);
	remove(file);
	file = WITHOUT(AOT "aot_packed.so", "tvmgen_default___tvm_main__");
	assert_int_equal(open_and_run(file, "x"), -TENON_E_NO_FUNCTION);
	remove(file);
	file = without(GRAPH "graph.so", "tvmgen_default_fused_nn_softmax\"",
		       sizeof("tvmgen_default_fused_nn_softmax"));
	assert_int_equal(open_and_run(file, "x"), -TENON_E_NO_FUNCTION);
	remove(file);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_whose_operator_is_missing_is_refused_before_it_runs),
		cmocka_unit_test(code_compiled_ahead_of_time_is_refused_without_its_entry),
		cmocka_unit_test(a_relax_model_whose_builtin_is_missing_is_refused_before_it_runs),
		cmocka_unit_test(a_compiled_relax_model_says_what_it_lacks),
		cmocka_unit_test(a_compiled_relax_model_without_its_code_is_refused_before_it_runs),
		cmocka_unit_test(a_plain_function_says_what_it_lacks),
		cmocka_unit_test(the_library_has_one_status_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
