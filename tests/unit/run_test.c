/* SPDX-License-Identifier: MIT */
/* tenon run: the order of its arguments, its exit codes, what it prints and writes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "lib/option.h"
#include "tests/unit/cli_run.h"
#include "tests/unit/run_module.h"
#include "tools/cli/progress.h"

static void touch(const char *name)
{
	FILE *f = fopen(in_folder(name), "w");

	assert_non_null(f);
	fclose(f);
}

static int set_up(void **state)
{
	const char *parent = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/run-XXXXXX", parent ? parent : P_tmpdir);
	if (!mkdtemp(folder))
		return 1;
	touch("all.runtest");
	touch("one.runtest");
	touch("main.runtest");
	touch("bad.runtest");
	return tenon_function_register_c("ffi.Module.load_from_file.runtest", load_test, true);
}

static int tear_down(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

#define ALL in_folder("all.runtest")

/* ---- calling */

static void a_returned_integer_is_printed_and_compared(void **state)
{
	struct cli_run r;

	(void)state;
	assert_ran(RUN("run", ALL, "--function", "add", "--input", "40", "--input", "-2"), CLI_OK,
		   "returned 38\n", "");
	r = RUN("run", ALL, "--function", "add", "--input", "40", "--input", "2", "--expect", "42");
	assert_int_equal(r.code, CLI_OK);
	assert_non_null(strstr(r.out,
			       "returned 42\nexpected: equal (largest difference 0 absolute, "
			       "0 relative)   "));
	cli_run_free(&r);
	r = RUN("run", ALL, "--function", "add", "--input", "40", "--input", "2", "--expect", "43");
	assert_int_equal(r.code, CLI_DIFFERS);
	assert_non_null(strstr(r.out, "expected: differs in 1 of 1 element (largest difference 1 "
				      "absolute"));
	cli_run_free(&r);
}

static void inputs_and_outputs_are_arguments_in_the_order_given(void **state)
{
	(void)state;
	assert_ran(RUN("run", ALL, "--function", "scale", "--input", "2x2xfloat32=1,2,3,4",
		       "--input", "2", "--output", "2x2xfloat32"),
		   CLI_OK, "2x2xfloat32 = [[2 4] [6 8]]\n", "");
	/* the output in front: the function sees a tensor where it wants a number */
	assert_refused(RUN("run", ALL, "--function", "scale", "--output", "2xfloat32", "--input",
			   "2xfloat32=1,2", "--input", "2"),
		       CLI_FAILED, "scale: ");
}

static void an_output_is_compared_within_the_tolerance(void **state)
{
	struct cli_run r;

	(void)state;
	r = RUN("run", ALL, "--function", "scale", "--input", "2xfloat32=1,2", "--input", "2",
		"--output", "2xfloat32", "--expect", "2xfloat32=2,4.5");
	assert_int_equal(r.code, CLI_DIFFERS);
	assert_non_null(strstr(r.out,
			       "2xfloat32 = [2 4]\nexpected: differs in 1 of 2 elements "
			       "(largest difference 0.5 absolute, 0.111 relative; first at 1: "
			       "4, expected 4.5)   "));
	cli_run_free(&r);
	r = RUN("run", ALL, "--function", "scale", "--input", "2xfloat32=1,2", "--input", "2",
		"--output", "2xfloat32", "--expect", "2xfloat32=2,4.5", "--atol", "0.5", "--rtol",
		"0");
	assert_int_equal(r.code, CLI_OK);
	cli_run_free(&r);
}

static void a_bound_for_integers_is_the_one_that_was_given(void **state)
{
	struct cli_run r;

	(void)state;
	r = RUN("run", ALL, "--function", "add", "--input", "1000000", "--input", "1", "--expect",
		"1000000", "--atol", "0");
	assert_int_equal(r.code, CLI_DIFFERS);
	cli_run_free(&r);
	r = RUN("run", ALL, "--function", "add", "--input", "1000000", "--input", "1", "--expect",
		"1000000", "--atol", "1");
	assert_int_equal(r.code, CLI_OK);
	cli_run_free(&r);
	r = RUN("run", ALL, "--function", "add", "--input", "1000000", "--input", "1", "--expect",
		"1000000", "--rtol", "1e-6");
	assert_int_equal(r.code, CLI_OK);
	cli_run_free(&r);
}

static void expectations_beyond_the_results_are_refused(void **state)
{
	(void)state;
	assert_refused(RUN("run", ALL, "--function", "add", "--input", "1", "--input", "1",
			   "--expect", "2", "--expect", "2"),
		       CLI_USAGE, "2 --expect for 0 --output and a returned value");
	assert_refused(RUN("run", ALL, "--function", "scale", "--input", "1xfloat32=1", "--input",
			   "1", "--output", "1xfloat32", "--expect", "1xfloat32=1", "--expect",
			   "1"),
		       CLI_USAGE, "returned nothing to compare beside its 1 output");
}

static void tensors_arrive_on_the_processor_aligned_and_typed(void **state)
{
	(void)state;
	assert_ran(RUN("run", ALL, "--function", "describe", "--input", "3x5xbfloat16=ones"),
		   CLI_OK,
		   "returned \"2 dimensions of bfloat16 {4,16,1}, device 1:0, aligned 1\"\n", "");
	assert_ran(RUN("run", ALL, "--function", "describe", "--input", "bool=true"), CLI_OK,
		   "returned \"0 dimensions of bool {6,8,1}, device 1:0, aligned 1\"\n", "");
	assert_ran(RUN("run", ALL, "--function", "describe", "--input", "0xfloat32="), CLI_OK,
		   "returned \"1 dimensions of float32 {2,32,1}, device 1:0, aligned 1\"\n", "");
}

static void scalars_arrive_as_the_types_they_are_written_as(void **state)
{
	static const struct {
		char *spec, *out;
	} scalars[] = {
		{ "3", "returned \"int\"\n" },
		{ "3.0", "returned \"float\"\n" },
		{ "true", "returned \"bool\"\n" },
		{ "null", "returned \"None\"\n" },
		{ "str:x", "returned \"ffi.SmallStr\"\n" },
		{ "str:a long text", "returned \"ffi.String\"\n" },
		{ "1xint8=1", "returned \"ffi.Tensor\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		assert_ran(RUN("run", ALL, "--function", "kind", "--input", scalars[i].spec),
			   CLI_OK, scalars[i].out, "");
}

static void whatever_is_returned_is_printed(void **state)
{
	static const struct {
		char *type, *out;
	} values[] = {
		{ "str:none", "returned null\n" },
		{ "str:float", "returned 0.1\n" },
		{ "str:bool", "returned true\n" },
		{ "str:text", "returned \"a longer text\"\n" },
		{ "str:bytes", "returned 2 bytes: 00 ff\n" },
		{ "str:device", "returned cpu:0\n" },
		{ "str:dtype", "returned bfloat16\n" },
		{ "str:tensor", "returned 2x3xint8 = [[0 0 0] [0 0 -7]]\n" },
		{ "str:array", "returned [\"a key longer than seven\", 1]\n" },
		{ "str:map", "returned {\"a key longer than seven\": 1}\n" },
		{ "str:shape", "returned (2, 3)\n" },
		{ "str:module", "returned a module of kind \"runtest\", 0 imports\n" },
		{ "str:function", "returned a function\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_ran(RUN("run", ALL, "--function", "give", "--input", values[i].type), CLI_OK,
			   values[i].out, "");
}

/* ---- choosing */

static void main_is_the_default_or_the_only_function(void **state)
{
	(void)state;
	assert_ran(RUN("run", in_folder("main.runtest"), "--input", "1", "--input", "2"), CLI_OK,
		   "returned 3\n", "");
	assert_ran(RUN("run", in_folder("one.runtest"), "--input", "1", "--input", "2"), CLI_OK,
		   "returned 3\n", "");
	assert_refused(RUN("run", ALL), CLI_USAGE,
		       "has 8 functions and none is called main; choose with --function: add, "
		       "scale, give, kind, broken, no_loader, hang, describe");
}

static void a_function_that_is_not_there_is_a_usage_error(void **state)
{
	(void)state;
	assert_refused(RUN("run", ALL, "--function", "scael"), CLI_USAGE, "\"scale\"");
}

#if defined(CONFIG_EXECUTORS) && !defined(CONFIG_INSPECT) && OPTION_ON(PARAMS_FILES)
#define WRITES_NO_PARAMS

static void a_build_that_writes_no_parameters_is_no_fault_of_the_file(void **state)
{
	(void)state;
	assert_refused(RUN("params", "convert",
			   "tests/interop/data/tvm-0.18/graph_mlp/model.params",
			   in_folder("again.params")),
		       CLI_UNAVAILABLE, "CONFIG_INSPECT is off");
}
#endif

#if !defined(CONFIG_EXECUTORS) && defined(CONFIG_INSPECT) && defined(CONFIG_PAYLOAD_FORMATS) &&    \
	defined(CONFIG_TVM_LEGACY) && defined(__x86_64__)
#define WITHOUT_EXECUTORS

/* whatever is said of a model, what it lacks here is its executor */
static void a_model_in_a_build_without_executors_wants_one(void **state)
{
	static char graph[] = "tests/interop/data/tvm-0.18/graph_mlp/graph.so";
	static const char remedy[] =
		"no loader for GraphExecutorFactory: Enable CONFIG_GRAPH_EXECUTOR";

	(void)state;
	assert_refused(RUN("run", graph), CLI_UNAVAILABLE, remedy);
	assert_refused(RUN("run", graph, "--input", "x=1"), CLI_UNAVAILABLE, remedy);
	assert_refused(RUN("run", graph, "--function", "default", "--input", "x=1"),
		       CLI_UNAVAILABLE, remedy);
	assert_refused(RUN("run", graph, "--graph", "graph.json"), CLI_UNAVAILABLE,
		       "--graph graph.json: models are not in this build; enable "
		       "CONFIG_GRAPH_EXECUTOR");
}
#endif

/* ---- failing */

static void each_failure_has_its_exit_code(void **state)
{
	(void)state;
	assert_refused(RUN("run", in_folder("absent.so")), CLI_NO_FILE, "No such file");
	assert_refused(RUN("run", in_folder("bad.runtest")), CLI_NO_FILE, "damaged");
	assert_refused(RUN("run", ALL, "--function", "broken"), CLI_FAILED, "broken: it is broken");
	assert_refused(RUN("run", ALL, "--function", "add", "--input", "1"), CLI_FAILED,
		       "2 arguments wanted, 1 given");
	assert_refused(RUN("run", ALL, "--function", "no_loader"), CLI_UNAVAILABLE,
		       "no loader for kind \"hexagon\"");
	assert_refused(RUN("run", ALL, "--function", "add", "--device", "metal:0"), CLI_UNAVAILABLE,
		       "--device metal:0: ");
	assert_refused(RUN("run", ALL, "--function", "add", "--device", "cpu:1"), CLI_UNAVAILABLE,
		       "--device cpu:1: ");
	assert_refused(RUN("run", ALL, "--function", "add", "--device", "nonsense"), CLI_USAGE,
		       "--device nonsense");
	assert_refused(RUN("run", ALL, "--input", "2xfloat33=1,2"), CLI_USAGE,
		       "--input 2xfloat33=1,2: no elements of type \"float33\"");
	assert_refused(RUN("run", ALL, "--input", "2xfloat32=1,2,3"), CLI_USAGE,
		       "--input 2xfloat32=1,2,3: 3 numbers are given, the shape has 2");
	assert_refused(RUN("run", ALL, "--input", "@/nowhere/x.npy"), CLI_NO_FILE,
		       "--input @/nowhere/x.npy: /nowhere/x.npy: cannot open");
	assert_refused(RUN("run", ALL, "--input", "x=1"), CLI_USAGE,
		       "a function takes its arguments by their order");
	assert_refused(RUN("run", ALL, "--rtol", "-1"), CLI_USAGE, "--rtol -1");
	assert_refused(RUN("run", ALL, "--atol", "x"), CLI_USAGE, "--atol x");
	assert_refused(RUN("run", ALL, "--repeat", "0"), CLI_USAGE, "--repeat 0");
	assert_refused(RUN("run", ALL, "--timeout", "nan"), CLI_USAGE, "--timeout nan");
}

static void a_function_that_hangs_is_ended_by_the_timeout(void **state)
{
	char *argv[] = { "tenon", "run", ALL, "--function", "hang", "--timeout", "2", NULL };
	char text[800] = "", want[800];
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fds[1], STDERR_FILENO);
		_exit(cli_main(7, argv, stdout, stderr));
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CLI_TIMEOUT);
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	snprintf(want, sizeof(want), "tenon: timeout: still running hang of %s after 2 s\n", ALL);
	assert_string_equal(text, want);
	close(fds[0]);
}

static void a_function_that_ends_in_time_is_let_alone(void **state)
{
	(void)state;
	assert_ran(RUN("run", ALL, "--function", "add", "--input", "1", "--input", "2", "--timeout",
		       "60"),
		   CLI_OK, "returned 3\n", "");
}

static void a_timeout_may_be_longer_than_any_clock(void **state)
{
	static const double seconds[] = { 1e10, 1e19, 1e300, INFINITY };
	size_t i;

	(void)state;
	alarm(60);
	for (i = 0; i < 4; i++) {
		assert_int_equal(progress_start(seconds[i], false), 0);
		/* the thread is to be there */
		usleep(20000);
		progress_stop();
	}
	assert_ran(RUN("run", ALL, "--function", "add", "--input", "1", "--input", "2", "--timeout",
		       "1e19"),
		   CLI_OK, "returned 3\n", "");
	alarm(0);
}

/* ---- repeating, writing */

static void repeating_calls_as_often_and_prints_the_times(void **state)
{
	struct cli_run r;

	(void)state;
	calls = 0;
	r = RUN("run", ALL, "--function", "add", "--input", "1", "--input", "2", "--repeat", "25",
		"--expect", "3");
	assert_int_equal(r.code, CLI_OK);
	assert_int_equal(calls, 25);
	assert_non_null(strstr(r.out, "\n25 calls: min "));
	assert_non_null(strstr(r.out, ", median "));
	assert_non_null(strstr(r.out, ", p90 "));
	assert_non_null(strstr(r.out, ", max "));
	cli_run_free(&r);
}

static void an_output_is_written_and_can_be_read_back(void **state)
{
	char output[700], input[700], raw[700], text[800];

	(void)state;
	snprintf(output, sizeof(output), "2xfloat32=>%s", in_folder("y.npy"));
	snprintf(input, sizeof(input), "@%s", in_folder("y.npy"));
	snprintf(text, sizeof(text), "2xfloat32 = [2 5]   written to %s\n", in_folder("y.npy"));
	assert_ran(RUN("run", ALL, "--function", "scale", "--input", "2xfloat32=1,2.5", "--input",
		       "2", "--output", output),
		   CLI_OK, text, "");
	assert_ran(RUN("run", ALL, "--function", "scale", "--input", input, "--input", "-1",
		       "--output", "2xfloat32"),
		   CLI_OK, "2xfloat32 = [-2 -5]\n", "");
	snprintf(raw, sizeof(raw), "2xfloat32=>%s", in_folder("y.bin"));
	snprintf(text, sizeof(text), "2xfloat32 = [2 5]   written to %s\n", in_folder("y.bin"));
	assert_ran(RUN("run", ALL, "--function", "scale", "--input", input, "--input", "1",
		       "--output", raw),
		   CLI_OK, text, "");
	snprintf(input, sizeof(input), "2xfloat32=@%s", in_folder("y.bin"));
	assert_ran(RUN("run", ALL, "--function", "scale", "--input", input, "--input", "1",
		       "--output", "2xfloat32"),
		   CLI_OK, "2xfloat32 = [2 5]\n", "");
	snprintf(output, sizeof(output), "2xfloat32=>%s", in_folder("absent/y.npy"));
	assert_refused(RUN("run", ALL, "--function", "scale", "--input", input, "--input", "1",
			   "--output", output),
		       CLI_NO_FILE, "absent/y.npy: cannot write");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_returned_integer_is_printed_and_compared),
		cmocka_unit_test(inputs_and_outputs_are_arguments_in_the_order_given),
		cmocka_unit_test(an_output_is_compared_within_the_tolerance),
		cmocka_unit_test(a_bound_for_integers_is_the_one_that_was_given),
		cmocka_unit_test(expectations_beyond_the_results_are_refused),
		cmocka_unit_test(tensors_arrive_on_the_processor_aligned_and_typed),
		cmocka_unit_test(scalars_arrive_as_the_types_they_are_written_as),
		cmocka_unit_test(whatever_is_returned_is_printed),
		cmocka_unit_test(main_is_the_default_or_the_only_function),
		cmocka_unit_test(a_function_that_is_not_there_is_a_usage_error),
#ifdef WRITES_NO_PARAMS
		cmocka_unit_test(a_build_that_writes_no_parameters_is_no_fault_of_the_file),
#endif
#ifdef WITHOUT_EXECUTORS
		cmocka_unit_test(a_model_in_a_build_without_executors_wants_one),
#endif
		cmocka_unit_test(each_failure_has_its_exit_code),
		cmocka_unit_test(a_function_that_hangs_is_ended_by_the_timeout),
		cmocka_unit_test(a_function_that_ends_in_time_is_let_alone),
		cmocka_unit_test(a_timeout_may_be_longer_than_any_clock),
		cmocka_unit_test(repeating_calls_as_often_and_prints_the_times),
		cmocka_unit_test(an_output_is_written_and_can_be_read_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
