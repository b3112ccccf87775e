/* SPDX-License-Identifier: MIT */
/* Which function or model of a file the command takes, and how it says that there is none. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include "cli_run.h"

#define DATA   "tests/interop/data/"
#define GRAPH  DATA "tvm-0.18/graph_mlp/"
#define RELAX  DATA "tvm-0.18/relax_mlp/"
#define AOT    DATA "tvm-0.18/aot_mlp/"
#define BRANCH DATA "tvm-0.25.0.post1/model_branch/"
#define RELAY  DATA "tvm-0.8/relay_vm_mlp/"

#ifdef __x86_64__
#define NEEDS_X86
#else
#define NEEDS_X86 skip()
#endif

static const char no_relay[] = "vm.so: no loader for VMExecutable: There is no Relay virtual "
			       "machine here: build the model for the graph executor or the Relax "
			       "machine.\n";

/* it ended with a code, and these words are in its output */
static void assert_says(struct cli_run r, int code, const char *words)
{
	if (r.code != code || !strstr(r.out, words))
		fail_msg("exit %d\n%s\n%s\nwant %d and: %s", r.code, r.out, r.err, code, words);
	cli_run_free(&r);
}

/* a file of two models, neither called main: an exported one, its function called otherwise */
static char *two_models(void)
{
	static const char main_name[12] = "\x04\0\0\0\0\0\0\0main";
	static char bytes[1 << 16], path[300];
	FILE *f = fopen(DATA "tvm-0.25.0.post1/model_closure/model.so", "rb");
	size_t size;
	char *name;

	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	name = memmem(bytes, size, main_name, sizeof(main_name));
	assert_non_null(name);
	memcpy(name + 8, "twin", 4);
	snprintf(path, sizeof(path), "%s/two.so", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
	return path;
}

static void a_model_without_a_loader_is_refused_with_the_remedy(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", RELAY "vm.so"), CLI_UNAVAILABLE, no_relay);
	assert_refused(RUN("run", RELAY "vm.so", "--input", "x=@" RELAY "in_x.npy"),
		       CLI_UNAVAILABLE, no_relay);
	assert_refused(RUN("run", RELAY "vm.so", "--profile"), CLI_UNAVAILABLE, no_relay);
	assert_refused(
		RUN("run", RELAY "vm.so", "--function", "main", "--input", "x=@" RELAY "in_x.npy"),
		CLI_UNAVAILABLE, no_relay);
}

static void a_function_that_is_not_there_is_told_before_words_of_models(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", GRAPH "graph.so", "--function", "nope", "--input",
			   "x=@" GRAPH "in_x.npy"),
		       CLI_USAGE, "no function \"nope\" in module \"GraphExecutorFactory\"");
	assert_refused(RUN("run", GRAPH "graph.so", "--function", "get_graph_json", "--input",
			   "x=@" GRAPH "in_x.npy"),
		       CLI_USAGE, "named inputs are those of models");
}

static void a_model_that_is_not_there_is_a_usage_error(void **state)
{
	char *two = two_models();

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", RELAX "vm.so", "--function", "nope", "--input", "x=1"), CLI_USAGE,
		       "--function nope: " RELAX "vm.so: no function \"nope\"; there is main");
	assert_refused(RUN("bench", RELAX "vm.so", "--function", "nope"), CLI_USAGE,
		       "no function \"nope\"; there is main");
	assert_refused(RUN("bench", GRAPH "graph.so", "--function", "nope"), CLI_USAGE,
		       "--function nope: " GRAPH "graph.so: the model is called \"default\"");
	assert_refused(RUN("bench", AOT "aot_packed.so", "--function", "nope"), CLI_USAGE,
		       "the model is called \"default\"");
	assert_refused(RUN("run", two), CLI_USAGE,
		       "two.so: no function \"main\"; there are twin, main_gv");
	assert_refused(RUN("bench", two), CLI_USAGE, "tenon: choose with --function: ");
	remove(two);
}

static void functions_below_a_relax_model_are_called_by_name(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("run", BRANCH "model.so", "--function", "multiply", "--input",
			"5xfloat32=1,2,3,4,5", "--input", "5xfloat32=1,2,3,4,5", "--output",
			"5xfloat32"),
		    CLI_OK, "5xfloat32 = [1 4 9 16 25]\n");
	assert_says(RUN("run", BRANCH "model.so", "--function", "main", "--input",
			"flag=@" BRANCH "r0_flag.npy", "--input", "x=@" BRANCH "r0_x.npy",
			"--expect", "@" BRANCH "r0_out0.npy"),
		    CLI_OK, "expected: equal");
}

static void a_file_of_several_models_is_inspected_one_by_one(void **state)
{
	char *two = two_models();
	struct cli_run r;

	(void)state;
	r = RUN("inspect", two);
	assert_string_equal(r.err, "");
	assert_int_equal(r.code, CLI_OK);
	assert_non_null(strstr(
		r.out, "\n2 models, none called main; choose with --function: twin, main_gv\n"));
	cli_run_free(&r);
	r = RUN("inspect", two, "--function", "twin");
	assert_string_equal(r.err, "");
	assert_null(strstr(r.out, "choose"));
	assert_says(r, CLI_OK, "\nmodel for the relax executor: ");
	assert_says(RUN("inspect", two, "--function", "twin", "--dot"), CLI_OK, "digraph model {");
	assert_says(RUN("inspect", two, "--dot"), CLI_OK, "digraph");
	assert_refused(RUN("inspect", two, "--model"), CLI_USAGE, "choose with --function: ");
	assert_refused(RUN("inspect", two, "--function", "nope"), CLI_USAGE, "--function nope: ");
	assert_refused(RUN("inspect", GRAPH "lib.so", "--function", "nope"), CLI_UNAVAILABLE,
		       "is no model");
	assert_refused(
		RUN("inspect", GRAPH "lib.so", "--graph", GRAPH "graph.json", "--function", "nope"),
		CLI_USAGE, "--function and --graph: ");
	remove(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_without_a_loader_is_refused_with_the_remedy),
		cmocka_unit_test(a_function_that_is_not_there_is_told_before_words_of_models),
		cmocka_unit_test(a_model_that_is_not_there_is_a_usage_error),
		cmocka_unit_test(a_file_of_several_models_is_inspected_one_by_one),
		cmocka_unit_test(functions_below_a_relax_model_are_called_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
