/* SPDX-License-Identifier: MIT */
/* Which function or model of a file the command takes, and how it says that there is none. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include "cli_run.h"

#define DATA   "tests/interop/data/"
#define GRAPH  DATA "tvm-0.18/graph_mlp/"
#define RELAX  DATA "tvm-0.18/relax_mlp/"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_without_a_loader_is_refused_with_the_remedy),
		cmocka_unit_test(a_function_that_is_not_there_is_told_before_words_of_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
