/* SPDX-License-Identifier: MIT */
/* Statuses in every build: without CONFIG_ERROR_MESSAGES each has one text of its own. */
#include "tests/unit/suite.h"

/* as the library's own sources raise errors */
#include "lib/brief_errors.h"

static const struct {
	int status;
	const char *kind;
	const char *brief;
} statuses[] = {
	{ TENON_E_CALL, "RuntimeError", "the function failed" },
	{ TENON_E_NOMEM, "MemoryError", "no memory" },
	{ TENON_E_IO, "OSError", "input or output failed" },
	{ TENON_E_FORMAT, "ValueError", "wrong format" },
	{ TENON_E_TRUNCATED, "ValueError", "truncated" },
	{ TENON_E_OVERFLOW, "OverflowError", "too large" },
	{ TENON_E_NOT_FOUND, "AttributeError", "not found" },
	{ TENON_E_EXISTS, "RuntimeError", "exists already" },
	{ TENON_E_NO_LOADER, "RuntimeError", "no loader" },
	{ TENON_E_TYPE, "TypeError", "wrong type" },
	{ TENON_E_VALUE, "ValueError", "wrong value" },
	{ TENON_E_CYCLE, "ValueError", "import cycle" },
	{ TENON_E_UNSUPPORTED, "NotImplementedError", "unsupported" },
	{ TENON_E_DEVICE, "RuntimeError", "no such device" },
	{ TENON_E_LOST, "RuntimeError", "lost" },
	{ TENON_E_TIMEOUT, "TimeoutError", "timed out" },
	{ TENON_E_USAGE, "RuntimeError", "wrong use" },
	{ TENON_E_NO_FUNCTION, "AttributeError", "missing function" },
};

#define STATUSES (sizeof(statuses) / sizeof(statuses[0]))

#ifdef CONFIG_ERROR_MESSAGES
#define TEXT_OF(brief) "in full"
#else
#define TEXT_OF(brief) (brief)
#endif

static void every_status_is_raised_with_its_kind_and_text(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < STATUSES; i++) {
		assert_int_equal(tenon_error(-statuses[i].status, "in full"), -statuses[i].status);
		assert_int_equal(tenon_error_status(), -statuses[i].status);
		assert_string_equal(tenon_error_kind(), statuses[i].kind);
		assert_string_equal(tenon_error_message(), TEXT_OF(statuses[i].brief));
		tenon_error_clear();
	}
}

static void a_status_of_another_release_is_an_error_all_the_same(void **state)
{
	static const int others[] = { -2, -TENON_E_NO_FUNCTION - 1, -1000, INT32_MIN, 1 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_int_equal(tenon_error(others[i], "in full"), others[i]);
		assert_int_equal(tenon_error_status(), others[i]);
		assert_string_equal(tenon_error_message(), TEXT_OF("an error"));
		tenon_error_clear();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_is_raised_with_its_kind_and_text),
		cmocka_unit_test(a_status_of_another_release_is_an_error_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
