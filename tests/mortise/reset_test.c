/* SPDX-License-Identifier: MIT */
/* tenon device reset: what it prints, and its exit codes. */
#include "tests/mortise/mortise_rig.h"
#include "tests/unit/cli_run.h"

static int setup(void **unused)
{
	(void)unused;
	return bench_register();
}

static void answers(struct cli_run r, int code, const char *out, const char *err)
{
	if (r.code != code || !strstr(r.out, out) || !strstr(r.err, err))
		print_error("exit %d, out: %s\nerr: %s\n", r.code, r.out, r.err);
	assert_int_equal(r.code, code);
	assert_non_null(strstr(r.out, out));
	assert_non_null(strstr(r.err, err));
	cli_run_free(&r);
}

static void a_board_is_reset(void **unused)
{
	(void)unused;
	answers(RUN("device", "reset", "mortise://sim"), CLI_OK, "mortise://sim: sim was reset",
		"");
}

static void the_result_is_json(void **unused)
{
	(void)unused;
#ifdef CONFIG_JSON
	answers(RUN("device", "reset", "--json", "mortise://sim"), CLI_OK, "\"nanoseconds\":", "");
#else
	answers(RUN("device", "reset", "--json", "mortise://sim"), CLI_UNAVAILABLE, "",
		"CONFIG_JSON");
#endif
}

static void a_device_that_cannot_be_reset_says_so(void **unused)
{
	(void)unused;
	answers(RUN("device", "reset", "cpu"), CLI_UNAVAILABLE, "", "cannot be reset");
	answers(RUN("device", "reset", "mortise://shm/nonexistent"), CLI_UNAVAILABLE, "",
		"/nonexistent");
	answers(RUN("device", "reset", "mortise://other/place"), CLI_UNAVAILABLE, "",
		"no such board");
}

static void a_wrong_command_line_is_refused(void **unused)
{
	(void)unused;
	answers(RUN("device"), CLI_USAGE, "", "tenon device reset URI");
	answers(RUN("device", "reset"), CLI_USAGE, "", "reset takes 1 operand");
	answers(RUN("device", "rest", "mortise://sim"), CLI_USAGE, "", "rest");
	answers(RUN("device", "reset", "nonsense"), CLI_USAGE, "", "nonsense");
	answers(RUN("device", "reset", "mortise://sim", "cpu"), CLI_USAGE, "",
		"reset takes 1 operand, and 2 were given");
	answers(RUN("device", "reset", "mortise://sim", "--jsn"), CLI_USAGE, "", "--jsn");
	answers(RUN("device", "reset", "mortise://sim?key=1"), CLI_USAGE, "", "key");
	answers(RUN("device", "reset", "mortise://sim?wait=x"), CLI_USAGE, "", "wait=x");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_board_is_reset),
		cmocka_unit_test(the_result_is_json),
		cmocka_unit_test(a_device_that_cannot_be_reset_says_so),
		cmocka_unit_test(a_wrong_command_line_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
