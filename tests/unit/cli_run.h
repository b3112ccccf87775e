/* SPDX-License-Identifier: MIT */
/* Run the command inside a test and keep what it wrote. Include it after cmocka.h. */
#ifndef TESTS_UNIT_CLI_RUN_H
#define TESTS_UNIT_CLI_RUN_H

#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"

/**
 * struct cli_run - what one run of the command did
 * @code: exit code
 * @out: standard output
 * @err: standard error
 */
struct cli_run {
	int code;
	char *out;
	char *err;
};

static inline struct cli_run run_words(int argc, char **argv)
{
	size_t out_size, err_size;
	struct cli_run r;
	FILE *out = open_memstream(&r.out, &out_size);
	FILE *err = open_memstream(&r.err, &err_size);

	assert_true(out && err);
	r.code = cli_main(argc, argv, out, err);
	fclose(out);
	fclose(err);
	return r;
}

/* the words of a command line, behind the program's name */
#define RUN(...)                                                                                   \
	run_words((int)(sizeof((char *[]){ "tenon", __VA_ARGS__ }) / sizeof(char *)),              \
		  (char *[]){ "tenon", __VA_ARGS__, NULL })

static inline void cli_run_free(struct cli_run *r)
{
	free(r->out);
	free(r->err);
}

/* the run ended with a code and wrote just this; frees it */
static inline void assert_ran(struct cli_run r, int code, const char *out, const char *err)
{
	assert_string_equal(r.err, err);
	assert_string_equal(r.out, out);
	assert_int_equal(r.code, code);
	cli_run_free(&r);
}

/* the run ended with a code, wrote nothing to its output and these words among its errors */
static inline void assert_refused(struct cli_run r, int code, const char *words)
{
	if (!strstr(r.err, words))
		fail_msg("wanted \"%s\" in: %s", words, r.err);
	assert_memory_equal(r.err, "tenon: ", 7);
	assert_string_equal(r.out, "");
	assert_int_equal(r.code, code);
	cli_run_free(&r);
}

#endif /* TESTS_UNIT_CLI_RUN_H */
