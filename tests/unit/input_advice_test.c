/* SPDX-License-Identifier: MIT */
/* What the command says of --input and --labels that are missing, doubtful or given twice. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli_run.h"

#define DATA "tests/interop/data/"
#define MLP  DATA "tvm-0.27.0.post1/model_mlp/model.so"
#define ONE  "--function", "forward", "--input", "x=3x16xfloat32=ones"

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

/* "PREFIX" and a path, as one word */
static char *word_of(const char *prefix, const char *path)
{
	static char words[2][400];
	static unsigned int next;

	next = !next;
	snprintf(words[next], sizeof(words[next]), "%s%s", prefix, path);
	return words[next];
}

/* it ended with a code, and these words are in its errors, or no errors at all */
static void assert_warns(struct cli_run r, int code, const char *words)
{
	if (r.code != code || (words ? !strstr(r.err, words) : *r.err))
		fail_msg("exit %d\n%s\n%s\nwant %d and: %s", r.code, r.out, r.err, code,
			 words ? words : "no message");
	cli_run_free(&r);
}

static void a_missing_input_is_described_with_an_example_that_works(void **state)
{
	struct cli_run r;

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", MLP, "--function", "forward"), CLI_USAGE,
		       "model.so: input \"x\" was not given; it is a 3x16xfloat32: --input "
		       "x=@FILE.npy or, as a trial, --input x=3x16xfloat32=random:1\n");
	r = RUN("run", MLP, "--function", "forward", "--input", "x=3x16xfloat32=random:1");
	assert_int_equal(r.code, CLI_OK);
	cli_run_free(&r);
}

static void a_missing_input_of_any_length_is_described_too(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", DATA "tvm-0.27.0.post1/model_mlp_compiled/model.so"), CLI_USAGE,
		       "input \"x\" was not given; it is a tensor: --input x=@FILE.npy\n");
	assert_refused(RUN("bench", DATA "tvm-0.27.0.post1/model_mlp_compiled/model.so"), CLI_USAGE,
		       "input \"x\" is a tensor, whose type is not fixed: --input x=@FILE.npy\n");
}

static void contents_without_their_type_ask_for_it(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", MLP, "--input", "x=random"), CLI_USAGE,
		       "the type stands in front of \"random\", as in 2x3xfloat32=random");
	assert_refused(RUN("bench", MLP, "--input", "zeros"), CLI_USAGE, "as in 2x3xfloat32=zeros");
}

static void a_file_without_its_at_is_noticed(void **state)
{
	char *path = file_of("cat.npy", "no array");

	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", MLP, "--input", word_of("x=", path)), CLI_USAGE,
		       word_of("cat.npy is a file; its content is @", path));
	assert_refused(RUN("run", MLP, "--input", path), CLI_USAGE, "cat.npy is a file;");
	assert_refused(RUN("bench", MLP, "--input", word_of("x=", path)), CLI_USAGE,
		       "cat.npy is a file;");
	assert_refused(RUN("run", MLP, "--input", word_of("x=3x16xfloat32=", path)), CLI_USAGE,
		       "cat.npy is a file;");
	remove(path);
	assert_refused(RUN("run", MLP, "--input", word_of("x=", path)), CLI_USAGE,
		       "no elements of type");
}

/* The numbers that "random:SEED" in a message stands for are those of the run. */
static void random_without_a_seed_prints_the_one_it_took(void **state)
{
	struct cli_run first, again;
	char seed[64] = "";

	(void)state;
	NEEDS_X86;
	first = RUN("run", MLP, "--function", "forward", "--input", "x=3x16xfloat32=random");
	assert_int_equal(first.code, CLI_OK);
	assert_int_equal(sscanf(first.err,
				"tenon: --input x=3x16xfloat32=random: these numbers are %63s",
				seed),
			 1);
	again = RUN("run", MLP, "--function", "forward", "--input",
		    word_of("x=3x16xfloat32=", seed));
	assert_string_equal(again.out, first.out);
	assert_string_equal(again.err, "");
	cli_run_free(&first);
	cli_run_free(&again);
	assert_warns(RUN("bench", MLP, "--function", "forward", "--repeat", "1", "--input",
			 "x=3x16xfloat32=random"),
		     CLI_OK, "these numbers are random:");
}

static void a_name_is_given_once(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", MLP, ONE, "--input", "x=3x16xfloat32=zeros"), CLI_USAGE,
		       "--input x=3x16xfloat32=zeros: an earlier --input has the name \"x\" too");
	assert_refused(RUN("bench", MLP, ONE, "--input", "x=3x16xfloat32=zeros"), CLI_USAGE,
		       "an earlier --input has the name \"x\" too");
	/* two outputs of one name, and an input that shares its name with an output */
	assert_refused(
		RUN("run", MLP, ONE, "--output", "y=3x10xfloat32", "--output", "y=3x10xfloat32"),
		CLI_USAGE, "an earlier --output has the name \"y\" too");
}

static void labels_of_another_number_than_the_elements_are_doubted(void **state)
{
	char *path = file_of("labels.txt", "cat\ndog");

	(void)state;
	NEEDS_X86;
	assert_warns(RUN("run", MLP, ONE, "--labels", path), CLI_OK,
		     "labels.txt: 2 names for 10 elements;");
	remove(path);
	path = file_of("labels.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
	assert_warns(RUN("run", MLP, ONE, "--labels", path), CLI_OK, NULL);
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_input_is_described_with_an_example_that_works),
		cmocka_unit_test(a_missing_input_of_any_length_is_described_too),
		cmocka_unit_test(contents_without_their_type_ask_for_it),
		cmocka_unit_test(a_file_without_its_at_is_noticed),
		cmocka_unit_test(random_without_a_seed_prints_the_one_it_took),
		cmocka_unit_test(a_name_is_given_once),
		cmocka_unit_test(labels_of_another_number_than_the_elements_are_doubted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
