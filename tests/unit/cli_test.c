/* SPDX-License-Identifier: MIT */
/* Commands, their help, their options and their exit codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <tenon/tenon.h>
#include <tenon/threads.h>

#include "tests/unit/cli_run.h"
#include "tools/text/text.h"

static void without_a_command_the_commands_are_shown_as_an_error(void **state)
{
	struct cli_run r = run_words(1, (char *[]){ "tenon", NULL });

	(void)state;
	assert_int_equal(r.code, CLI_USAGE);
	assert_string_equal(r.out, "");
	assert_non_null(strstr(r.err, "tenon run"));
	cli_run_free(&r);
}

static void help_names_every_command(void **state)
{
	struct cli_run r = RUN("help"), long_option = RUN("--help");

	(void)state;
	assert_int_equal(r.code, CLI_OK);
	assert_string_equal(r.err, "");
	assert_non_null(strstr(r.out, "tenon run "));
	assert_non_null(strstr(r.out, "tenon inspect "));
	assert_non_null(strstr(r.out, "tenon devices "));
	assert_non_null(strstr(r.out, "tenon doctor "));
	assert_string_equal(r.out, long_option.out);
	cli_run_free(&r);
	cli_run_free(&long_option);
}

static void every_command_explains_itself(void **state)
{
	static char *const names[] = { "run", "inspect", "devices", "doctor" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct cli_run help = RUN("help", names[i]), option = RUN(names[i], "--help");
		char usage[40];

		snprintf(usage, sizeof(usage), "Usage: tenon %s", names[i]);
		assert_int_equal(help.code, CLI_OK);
		assert_int_equal(option.code, CLI_OK);
		assert_string_equal(help.out, option.out);
		assert_non_null(strstr(help.out, usage));
		cli_run_free(&help);
		cli_run_free(&option);
	}
}

static void a_topic_is_a_section_of_the_manual_page_in_plain_text(void **state)
{
	struct cli_run overview = RUN("help"), spec = RUN("help", "spec");

	(void)state;
	assert_non_null(strstr(overview.out, "tenon help spec "));
	assert_non_null(strstr(overview.out, "tenon help exit-status "));
	assert_int_equal(spec.code, CLI_OK);
	assert_string_equal(spec.err, "");
	assert_non_null(
		strstr(spec.out, "  TYPE=@raw.bin            a tensor with the bytes of the file"));
	assert_non_null(strstr(spec.out, "float8_e4m3fn"));
	assert_null(strchr(spec.out, '*'));
	cli_run_free(&overview);
	cli_run_free(&spec);
}

static void a_misspelt_command_is_answered_with_the_nearest(void **state)
{
	(void)state;
	assert_ran(RUN("insepct"), CLI_USAGE, "",
		   "tenon: no command is called \"insepct\". Nearest: \"inspect\".\n"
		   "Try: tenon help\n");
	assert_refused(RUN("help", "rnu"), CLI_USAGE, "no command or topic is called \"rnu\"");
	assert_refused(RUN("help", "exitstatus"), CLI_USAGE, "Nearest: \"exit-status\"");
	assert_refused(RUN("--json"), CLI_USAGE, "a command comes first");
}

static void a_misspelt_option_is_answered_with_the_nearest(void **state)
{
	(void)state;
	assert_refused(RUN("run", "--inptu", "3", "x.so"), CLI_USAGE,
		       "no option is called \"--inptu\". Nearest: \"input\"");
	assert_refused(RUN("run", "x.so", "--input"), CLI_USAGE, "--input needs a value");
	assert_refused(RUN("run", "x.so", "--json=1"), CLI_USAGE, "--json takes no value");
	assert_refused(RUN("run", "x.so", "-z"), CLI_USAGE, "no option is called -z");
}

static void a_command_wants_its_file_and_no_second_one(void **state)
{
	(void)state;
	assert_refused(RUN("run"), CLI_USAGE, "which file? tenon run FILE");
	assert_refused(RUN("inspect"), CLI_USAGE, "which file? tenon inspect FILE");
	assert_refused(RUN("run", "a", "b"), CLI_USAGE, "one file at a time: a, and then b");
	assert_refused(RUN("devices", "a"), CLI_USAGE, "a: no file or name is wanted here");
	assert_refused(RUN("inspect", "--json", "--dot", "a"), CLI_USAGE, "one form at a time");
}

static void the_version_comes_with_the_configuration_if_asked_for(void **state)
{
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), "tenon %s\nconfiguration: %s\n", tenon_version(),
		 tenon_configuration());
	assert_ran(RUN("--version", "--verbose"), CLI_OK, text, "");
	snprintf(text, sizeof(text), "tenon %s\n", tenon_version());
	assert_ran(RUN("--version"), CLI_OK, text, "");
	assert_refused(RUN("--version", "now"), CLI_USAGE, "now: after --version only --verbose");
}

static void devices_lists_the_processor_and_what_is_not_there(void **state)
{
	struct cli_run r = RUN("devices");
	char threads[32];

	(void)state;
	snprintf(threads, sizeof(threads), ", %d thread", tenon_parallel_workers());
	assert_int_equal(r.code, CLI_OK);
	assert_memory_equal(r.out, "cpu:0 ", 6);
	assert_non_null(strstr(r.out, threads));
#ifndef CONFIG_DEVICE_MORTISE
	assert_non_null(strstr(r.out, "\nmortise   not in this build\n"));
#endif
	cli_run_free(&r);
}

static void doctor_gives_each_finding_a_word_and_each_trouble_a_remedy(void **state)
{
	struct cli_run r = RUN("doctor");
	int lines = 0;
	bool trouble = false;

	(void)state;
	for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		bool remedy = strstr(line, "→") != NULL;

		if (trouble)
			assert_true(remedy);
		/* a line of details begins with a blank */
		if (!remedy && *line != ' ')
			assert_true(!strncmp(line, "ok ", 3) || !strncmp(line, "warn ", 5) ||
				    !strncmp(line, "fail ", 5));
		trouble = !strncmp(line, "warn ", 5) || !strncmp(line, "fail ", 5);
	}
	assert_false(trouble);
	assert_true(lines >= 9);
	cli_run_free(&r);
}

static void a_cache_folder_that_cannot_be_used_is_a_warning(void **state)
{
	struct cli_run r;

	(void)state;
	setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
	r = RUN("doctor");
	assert_non_null(strstr(r.out, "warn  cache"));
	assert_non_null(strstr(r.out, "/dev/null/cache/tenon cannot be used"));
	cli_run_free(&r);
	/* a folder that root may write to, by its permissions */
	setenv("XDG_CACHE_HOME", "/proc/nope", 1);
	r = RUN("doctor");
	assert_non_null(strstr(r.out, "/proc/nope/tenon cannot be used: /proc: "));
	unsetenv("XDG_CACHE_HOME");
	cli_run_free(&r);
}

static void sizes_and_times_have_three_digits_and_a_unit(void **state)
{
	char text[TIMING_TEXT];

	(void)state;
	assert_string_equal(size_text(0, text), "0 bytes");
	assert_string_equal(size_text(1, text), "1 byte");
	assert_string_equal(size_text(1023, text), "1023 bytes");
	assert_string_equal(size_text(1024, text), "1 KiB");
	assert_string_equal(size_text(1126, text), "1.1 KiB");
	assert_string_equal(size_text(626688, text), "612 KiB");
	assert_string_equal(size_text(1048575, text), "1 MiB");
	assert_string_equal(size_text(UINT64_MAX, text), "16 EiB");
	assert_string_equal(timing_text(7, text), "7 ns");
	assert_string_equal(timing_text(1234, text), "1.23 µs");
	assert_string_equal(timing_text(12345, text), "12.3 µs");
	assert_string_equal(timing_text(999600, text), "1.00 ms");
	assert_string_equal(timing_text(123456789, text), "123 ms");
	assert_string_equal(timing_text(61000000000, text), "61.0 s");
}

static void runs_are_summed_up_by_rank(void **state)
{
	uint64_t ten[] = { 10, 3, 7, 1, 9, 2, 8, 4, 6, 5 }, one[] = { 4 };
	struct timing t = timing_summary(ten, 10);

	(void)state;
	assert_int_equal(t.min, 1);
	assert_int_equal(t.median, 5);
	assert_int_equal(t.p90, 9);
	assert_int_equal(t.max, 10);
	t = timing_summary(one, 1);
	assert_int_equal(t.min, 4);
	assert_int_equal(t.median, 4);
	assert_int_equal(t.p90, 4);
}

static void results_that_cannot_be_written_are_an_error(void **state)
{
	char *argv[] = { "tenon", "--version", NULL }, *text;
	FILE *full = fopen("/dev/full", "w"), *err;
	size_t size;

	(void)state;
	if (!full)
		skip();
	err = open_memstream(&text, &size);
	assert_int_equal(cli_main(2, argv, full, err), CLI_NO_FILE);
	fclose(err);
	fclose(full);
	assert_string_equal(text, "tenon: cannot write the results: No space left on device\n");
	free(text);
}

static void a_message_that_quotes_a_file_cannot_move_the_cursor(void **state)
{
	struct cli_run r = RUN("inspect", "no\033[2Jsuch\rfile\x7f"),
		       usage = RUN("inspect", "a", "b\033c");

	(void)state;
	assert_int_equal(r.code, CLI_NO_FILE);
	assert_non_null(strstr(r.err, "no?[2Jsuch?file?"));
	assert_null(strpbrk(r.err, "\033\r\x7f"));
	assert_int_equal(usage.code, CLI_USAGE);
	assert_non_null(strstr(usage.err, "b?c"));
	/* lines of a message stay lines */
	assert_non_null(strstr(usage.err, "\nTry: tenon help inspect\n"));
	cli_run_free(&r);
	cli_run_free(&usage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_command_the_commands_are_shown_as_an_error),
		cmocka_unit_test(help_names_every_command),
		cmocka_unit_test(every_command_explains_itself),
		cmocka_unit_test(a_topic_is_a_section_of_the_manual_page_in_plain_text),
		cmocka_unit_test(a_misspelt_command_is_answered_with_the_nearest),
		cmocka_unit_test(a_misspelt_option_is_answered_with_the_nearest),
		cmocka_unit_test(a_command_wants_its_file_and_no_second_one),
		cmocka_unit_test(the_version_comes_with_the_configuration_if_asked_for),
		cmocka_unit_test(devices_lists_the_processor_and_what_is_not_there),
		cmocka_unit_test(doctor_gives_each_finding_a_word_and_each_trouble_a_remedy),
		cmocka_unit_test(a_cache_folder_that_cannot_be_used_is_a_warning),
		cmocka_unit_test(sizes_and_times_have_three_digits_and_a_unit),
		cmocka_unit_test(runs_are_summed_up_by_rank),
		cmocka_unit_test(results_that_cannot_be_written_are_an_error),
		cmocka_unit_test(a_message_that_quotes_a_file_cannot_move_the_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
