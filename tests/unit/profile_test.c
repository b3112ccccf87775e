/* SPDX-License-Identifier: MIT */
/* The table of operators that "tenon run --profile" and "tenon bench --per-op" print. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <string.h>

#include "tools/opened_model/model.h"

static const char *printed(const struct profile *p)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(profile_print(p, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void operators_behind_a_branch_that_was_not_taken_are_left_out(void **state)
{
	struct profile_op ops[6] = { [1] = { "add", "f", 2, 10 }, [4] = { "mul", "g", 1, 30 } };
	const struct profile p = { .ops = ops, .count = 6 };
	const char *text = printed(&p);

	(void)state;
	assert_non_null(strstr(text, "mul"));
	assert_true(strstr(text, "mul") < strstr(text, "add"));
	assert_null(strstr(text, "(null)"));
}

static void a_model_that_called_nothing_has_an_empty_table(void **state)
{
	struct profile_op ops[2] = { 0 };
	struct profile p = { .ops = ops, .count = 2 };
	const char *text = printed(&p);

	(void)state;
	/* the line of titles alone */
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	p = (struct profile){ 0 };
	text = printed(&p);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void a_name_cannot_move_the_cursor(void **state)
{
	struct profile_op op = { "a\033[2Jb\n", "f", 1, 1 };
	const struct profile p = { .ops = &op, .count = 1 };
	const char *text = printed(&p);

	(void)state;
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "a?[2Jb?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_behind_a_branch_that_was_not_taken_are_left_out),
		cmocka_unit_test(a_model_that_called_nothing_has_an_empty_table),
		cmocka_unit_test(a_name_cannot_move_the_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
