/* SPDX-License-Identifier: MIT */
/* The verdict on a suite, read from its TAP output and how it ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <tenon/string.h>

#include "tools/hil/suite_result.h"

static struct suite_result read_output(const char *output, int status)
{
	const struct suite_ending ending = { .status = status, .deadline = 5 };
	struct suite_result result = { 0 };

	assert_int_equal(suite_result_read(tenon_slice_of(output), &ending, &result), 0);
	return result;
}

static void assert_verdict(const char *output, int status, enum verdict verdict)
{
	struct suite_result result = read_output(output, status);

	if (result.verdict != verdict)
		fail_msg("%s with status %d: %s, not %s", output, status,
			 verdict_name(result.verdict), verdict_name(verdict));
	suite_result_fini(&result);
}

static void a_kept_plan_passes(void **state)
{
	(void)state;
	assert_verdict("TAP version 13\n1..2\nok 1 - a\nok 2\n", 0, VERDICT_PASS);
	assert_verdict("ok 1 - a\nok 2 - b # SKIP none\n1..2\n", 0, VERDICT_PASS);
	assert_verdict(
		"KTAP version 1\r\n1..1\r\n  KTAP version 1\r\n  1..1\r\n  not ok 1 x # XFAIL\r\n"
		"ok 1 all\r\n",
		0, VERDICT_PASS);
	/* two groups of cmocka in a program */
	assert_verdict("1..1\nok 1 - a\n1..1\nok 1 - b\n", 0, VERDICT_PASS);
}

static void contradictions_fail(void **state)
{
	(void)state;
	assert_verdict("1..2\nok 1 - a\n", 0, VERDICT_FAIL);
	assert_verdict("1..1\nok 1 - a\nok 2 - b\n", 0, VERDICT_FAIL);
	assert_verdict("ok 1 - a\n", 0, VERDICT_FAIL);
	assert_verdict("1..1\nok 1 - a\n", 1, VERDICT_FAIL);
	assert_verdict("1..1\nok 1 - a\n", 139, VERDICT_FAIL);
	assert_verdict("1..1\nnot ok 1 - a\n", 0, VERDICT_FAIL);
	assert_verdict("1..2\nok 1 - a\nBail out! no power\n", 0, VERDICT_FAIL);
	assert_verdict("Bail out!\n", 0, VERDICT_FAIL);
	assert_verdict("1..99999\n", 0, VERDICT_FAIL);
}

static void skips_are_no_failures(void **state)
{
	struct suite_result result;

	(void)state;
	assert_verdict("1..0 # SKIP no device\n", 0, VERDICT_SKIP);
	assert_verdict("no device\n", 77, VERDICT_SKIP);
	assert_verdict("no device\n", 4, VERDICT_SKIP);
	/* cmocka 1.1.5 prints a skipped case so */
	result = read_output("1..1\nno device here\nnot ok 1 # SKIP the_case\n", 0);
	assert_int_equal(result.verdict, VERDICT_SKIP);
	assert_string_equal(result.cases[0].name, "the_case");
	assert_string_equal(result.cases[0].text, "no device here");
	suite_result_fini(&result);
}

static void programs_that_do_not_run_are_told_apart(void **state)
{
	(void)state;
	assert_verdict("./x: Exec format error\n", 126, VERDICT_UNABLE);
	assert_verdict("sh: ./x: not found\n", 127, VERDICT_UNABLE);
	assert_verdict("", 0, VERDICT_PASS);
	assert_verdict("", 1, VERDICT_FAIL);
	assert_verdict("Killed\n", 137, VERDICT_FAIL);
}

static void a_stopped_suite_has_timed_out(void **state)
{
	const struct suite_ending ending = { .status = 137, .stopped = true, .deadline = 5 };
	struct suite_result result = { 0 };

	(void)state;
	assert_int_equal(suite_result_read(tenon_slice_of("1..2\nok 1 - a\n"), &ending, &result),
			 0);
	assert_int_equal(result.verdict, VERDICT_TIMEOUT);
	assert_string_equal(result.cases[1].text, "stopped after 5 s");
	suite_result_fini(&result);
}

static void explanations_belong_to_their_failure(void **state)
{
	struct suite_result result = read_output("1..3\n# before\nnot ok 1 - a\n# after\n"
						 "ok 2 - b\nnot ok 3 - c\n# last",
						 1);

	(void)state;
	assert_int_equal(result.count, 3);
	assert_non_null(strstr(result.cases[0].text, "# before"));
	assert_non_null(strstr(result.cases[0].text, "# after"));
	assert_null(result.cases[1].text);
	assert_non_null(strstr(result.cases[2].text, "# last"));
	assert_null(strstr(result.cases[2].text, "after"));
	suite_result_fini(&result);
}

static void control_characters_are_replaced(void **state)
{
	struct suite_result result = read_output("1..1\n\033[31mred\nnot ok 1 - \033]0;x\007\n", 1);

	(void)state;
	for (size_t i = 0; i < result.count; i++) {
		assert_null(strpbrk(result.cases[i].name, "\033\007"));
		assert_null(strpbrk(result.cases[i].text, "\033\007"));
	}
	suite_result_fini(&result);
}

/* Every prefix, and every byte replaced: no crash, and never a pass with a missing result. */
static void damaged_output_never_passes_by_accident(void **state)
{
	static const char whole[] = "KTAP version 1\n1..2\nok 1 - a\nok 2 - b # SKIP no\n";
	size_t size = sizeof(whole) - 1, results = size - strlen("ok 2 - b # SKIP no\n");

	(void)state;
	for (size_t cut = 1; cut <= results; cut++) {
		char *text = strndup(whole, cut);
		struct suite_result result = read_output(text, 1);

		assert_int_equal(result.verdict, VERDICT_FAIL);
		suite_result_fini(&result);
		free(text);
	}
	for (size_t at = 0; at < size; at++) {
		for (int byte = 1; byte < 256; byte++) {
			char *text = strdup(whole);
			struct suite_result result;

			text[at] = (char)byte;
			result = read_output(text, 0);
			suite_result_fini(&result);
			free(text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kept_plan_passes),
		cmocka_unit_test(contradictions_fail),
		cmocka_unit_test(skips_are_no_failures),
		cmocka_unit_test(programs_that_do_not_run_are_told_apart),
		cmocka_unit_test(a_stopped_suite_has_timed_out),
		cmocka_unit_test(explanations_belong_to_their_failure),
		cmocka_unit_test(control_characters_are_replaced),
		cmocka_unit_test(damaged_output_never_passes_by_accident),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
