/* SPDX-License-Identifier: MIT */
/* The command on parameters in several files and formats, and on names that do not fit. */
#include "suite.h"

#include <stdio.h>
#include <unistd.h>

#include "cli_run.h"

#define MLP	"tests/interop/data/tvm-0.18/graph_mlp/"
#define WEIGHTS MLP "model.params"

#ifdef __x86_64__
#define NEEDS_X86
#else
#define NEEDS_X86 skip()
#endif

static char *in_temporary(const char *name)
{
	static char path[4][300];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
	return path[turn];
}

static void assert_says(struct cli_run r, int code, const char *words)
{
	if (r.code != code || !strstr(r.out, words))
		fail_msg("exit %d\n%s\n%s\nwant %d and: %s", r.code, r.out, r.err, code, words);
	cli_run_free(&r);
}

/* the model, with parameters from elsewhere */
#define RUN_MLP(...)                                                                               \
	RUN("run", MLP "lib.so", "--graph", MLP "graph.json", "--input", "x=@" MLP "in_x.npy",     \
	    "--expect", "@" MLP "out0.npy", __VA_ARGS__)

static void parameters_in_safetensors_are_those_of_tvm(void **state)
{
	char *there = in_temporary("there.safetensors"), *back = in_temporary("back.params");

	(void)state;
	NEEDS_X86;
	assert_says(RUN("params", "convert", WEIGHTS, there), CLI_OK, "parameters\n");
	assert_says(RUN("params", "convert", there, back), CLI_OK, "aligned to 128 bytes");
	assert_says(RUN_MLP("--params", there), CLI_OK, "expected: equal");
	assert_says(RUN_MLP("--params", back), CLI_OK, "expected: equal");
	assert_says(RUN("params", "align", there, "--align", "4096"), CLI_OK, "aligned to 4096");
	assert_says(RUN_MLP("--params", there), CLI_OK, "expected: equal");
	assert_says(RUN("params", "list", there), CLI_OK, "4096\n");
	remove(there);
	remove(back);
}

static void parameters_become_a_file_of_numpy_which_replaces_no_other(void **state)
{
	char *there = in_temporary("there.npz"), *again = in_temporary("again.npz");

	(void)state;
#ifndef CONFIG_NPZ
	assert_refused(RUN("params", "convert", WEIGHTS, there), CLI_UNAVAILABLE, "CONFIG_NPZ");
	skip();
#endif
	NEEDS_X86;
	assert_says(RUN("params", "convert", WEIGHTS, there), CLI_OK, "parameters\n");
	assert_says(RUN_MLP("--params", there), CLI_OK, "expected: equal");
	assert_says(RUN("params", "convert", there, again, "--rename", "p0=q0"), CLI_OK,
		    "parameters\n");
	assert_refused(RUN_MLP("--params", again), CLI_NO_FILE, "\"q0\"");
	assert_refused(RUN("params", "convert", WEIGHTS, there), CLI_USAGE, "exists");
	assert_refused(RUN("params", "convert", WEIGHTS, "x.npz", "--align", "64"), CLI_USAGE,
		       "--align");
	remove(there);
	remove(again);
}

static void names_with_a_scope_are_found_by_a_rename(void **state)
{
	char *there = in_temporary("scoped.safetensors");

	(void)state;
	NEEDS_X86;
	assert_says(RUN("params", "convert", "m=" WEIGHTS, there), CLI_OK, "parameters\n");
	assert_refused(RUN_MLP("--params", there), CLI_NO_FILE, "no input of this name");
	assert_refused(RUN("inspect", MLP "graph.so", "--params", there), CLI_NO_FILE,
		       "no input of this name");
	assert_says(RUN("inspect", MLP "graph.so", "--params", there, "--rename", "m.*=*"), CLI_OK,
		    "graph executor");
	assert_says(RUN_MLP("--params", there, "--rename", "m.*=*"), CLI_OK, "expected: equal");
	assert_refused(RUN_MLP("--params", there, "--rename", "n.*=*"), CLI_NO_FILE,
		       "no parameter is called \"n.*\"");
	remove(there);
}

static void a_name_that_the_model_has_not_is_an_error_unless_partial(void **state)
{
	char *more = in_temporary("more.params");

	(void)state;
	NEEDS_X86;
	assert_says(RUN("params", "from-npy", "extra=" MLP "in_x.npy", more), CLI_OK,
		    "1 parameters");
	assert_refused(RUN_MLP("--params", WEIGHTS, "--params", more), CLI_NO_FILE,
		       "\"extra\": the model has no input of this name");
	assert_says(RUN_MLP("--params", WEIGHTS, "--params", more, "--params-partial"), CLI_OK,
		    "expected: equal");
	assert_says(RUN("bench", MLP "lib.so", "--graph", MLP "graph.json", "--params", WEIGHTS,
			"--params", more, "--params-partial", "--repeat", "1"),
		    CLI_OK, "graph executor");
	assert_refused(RUN_MLP("--params", WEIGHTS, "--params", WEIGHTS), CLI_NO_FILE,
		       "give one of them a scope");
	remove(more);
}

static void a_type_that_is_not_the_models_is_an_error_even_if_partial(void **state)
{
	char *wrong = in_temporary("wrong.params");

	(void)state;
	NEEDS_X86;
	assert_says(RUN("params", "from-npy", "x=" MLP "out0.npy", wrong), CLI_OK, "1 parameters");
	assert_refused(RUN("run", MLP "graph.so", "--params", wrong, "--params-partial"),
		       CLI_NO_FILE, "the model wants");
	remove(wrong);
}

static void an_input_without_parameter_is_listed_with_the_nearest_name(void **state)
{
	char *near = in_temporary("near.params");

	(void)state;
	NEEDS_X86;
	assert_says(RUN("params", "from-npy", "xx=" MLP "in_x.npy", near), CLI_OK, "1 parameters");
	assert_refused(RUN("run", MLP "graph.so", "--params", near, "--params-partial"), CLI_USAGE,
		       "parameters of nearly this name: \"xx\"; \"xx\" alone has this type");
	assert_says(RUN("run", MLP "graph.so", "--params", near, "--rename", "xx=x", "--expect",
			"@" MLP "out0.npy"),
		    CLI_OK, "expected: equal");
	remove(near);
}

static void options_of_parameters_without_parameters_are_refused(void **state)
{
	(void)state;
	assert_refused(RUN("run", MLP "graph.so", "--rename", "a=b"), CLI_USAGE,
		       "--rename without --params");
	assert_refused(RUN("bench", MLP "graph.so", "--params-partial"), CLI_USAGE,
		       "--params-partial without --params");
	assert_refused(RUN("run", MLP "graph.so", "--params", "x", "--rename", "a"), CLI_USAGE,
		       "want OLD=NEW");
	assert_refused(RUN("run", MLP "graph.so", "--params", "=x"), CLI_USAGE,
		       "want FILE or SCOPE=FILE");
	assert_refused(RUN("params", "list", "x", "--rename", "a=b"), CLI_USAGE,
		       "params list takes no --rename");
}

static void a_file_that_holds_something_else_is_not_replaced(void **state)
{
	char *other = in_temporary("other.safetensors");
	FILE *f = fopen(other, "w");

	(void)state;
	assert_non_null(f);
	fputs("nothing of weights", f);
	fclose(f);
	assert_refused(RUN("params", "convert", WEIGHTS, other), CLI_USAGE,
		       "exists and is not a file of parameters");
	remove(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_in_safetensors_are_those_of_tvm),
		cmocka_unit_test(parameters_become_a_file_of_numpy_which_replaces_no_other),
		cmocka_unit_test(names_with_a_scope_are_found_by_a_rename),
		cmocka_unit_test(a_name_that_the_model_has_not_is_an_error_unless_partial),
		cmocka_unit_test(a_type_that_is_not_the_models_is_an_error_even_if_partial),
		cmocka_unit_test(an_input_without_parameter_is_listed_with_the_nearest_name),
		cmocka_unit_test(options_of_parameters_without_parameters_are_refused),
		cmocka_unit_test(a_file_that_holds_something_else_is_not_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
