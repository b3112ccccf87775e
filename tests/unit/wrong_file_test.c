/* SPDX-License-Identifier: MIT */
/* Messages of the command about files and words that do not fit: each says what was found, and what to do. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli_run.h"

#define DATA "tests/interop/data/"
#define LIB  DATA "tvm-0.27.0.post1/host_vecadd/lib.so"
#define OLD  DATA "tvm-0.18/host_vecadd/lib.so"

#ifdef __x86_64__
#define NEEDS_X86
#else
#define NEEDS_X86 skip()
#endif

/* A file below the folder for temporary files. */
static char *file_of(const char *name, const char *text)
{
	static char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
	return path;
}

/* it ended with a code, and each of these words is in its errors */
static void assert_says(struct cli_run r, int code, const char *first, const char *second)
{
	if (r.code != code || !strstr(r.err, first) || !strstr(r.err, second))
		fail_msg("exit %d\n%s\nwant %d and: %s … %s", r.code, r.err, code, first, second);
	cli_run_free(&r);
}

static void a_file_of_another_kind_is_named_by_what_it_is(void **state)
{
	static const char text[] = "what a person wrote, in several words\n";
	char *path = file_of("text.txt", text);

	(void)state;
	assert_says(RUN("params", "list", path), CLI_NO_FILE, "text.txt",
		    "no parameters of TVM, but text");
	assert_says(RUN("run", LIB, "--input", "@README.md"), CLI_NO_FILE, "README.md",
		    "no array file of numpy, but text; TYPE=@FILE");
	remove(path);
	path = file_of("empty.params", "");
	assert_says(RUN("params", "list", path), CLI_NO_FILE, "empty.params",
		    "no parameters of TVM");
	remove(path);
}

static void a_shared_object_that_is_none_is_not_called_linked(void **state)
{
	char *path = file_of("empty.so", "");
	struct cli_run r;

	(void)state;
	r = RUN("link", "-o", "none.so", path);
	assert_null(strstr(r.err, "linked already"));
	assert_says(r, CLI_USAGE, "empty.so: not a source", "");
	remove(path);
}

static void json_that_is_no_manifest_leads_to_the_graph(void **state)
{
	char *path = file_of("graph.json", "{\"nodes\": []}");

	(void)state;
	assert_says(RUN("run", path), CLI_NO_FILE, "no manifest that tenon unpack wrote",
		    "--graph");
	remove(path);
}

static void a_library_without_a_model_is_measured_by_run(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("bench", LIB), CLI_UNAVAILABLE, "is no model", "tenon run --function");
}

static void an_unknown_function_leads_to_those_there_are(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("run", LIB, "--function", "nope"), CLI_USAGE, "no function \"nope\"",
		    "functions of " LIB ": main, vecadd");
}

static void a_wrong_number_of_arguments_leads_to_the_options_that_are_arguments(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("run", LIB, "--input", "128xfloat32=ones"), CLI_FAILED,
		    "Expected 3 arguments", "1 --input and 0 --output are given");
	assert_says(RUN("run", OLD, "--function", "vecadd"), CLI_FAILED, "num_args",
		    "0 --input and 0 --output are given");
}

static void missing_words_are_asked_for_with_the_whole_command(void **state)
{
	(void)state;
	assert_refused(RUN("params", "list"), CLI_USAGE, "which file? tenon params list FILE");
	assert_refused(RUN("unpack", "a.so"), CLI_USAGE, "tenon unpack FILE FOLDER");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_another_kind_is_named_by_what_it_is),
		cmocka_unit_test(a_shared_object_that_is_none_is_not_called_linked),
		cmocka_unit_test(json_that_is_no_manifest_leads_to_the_graph),
		cmocka_unit_test(a_library_without_a_model_is_measured_by_run),
		cmocka_unit_test(an_unknown_function_leads_to_those_there_are),
		cmocka_unit_test(
			a_wrong_number_of_arguments_leads_to_the_options_that_are_arguments),
		cmocka_unit_test(missing_words_are_asked_for_with_the_whole_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
