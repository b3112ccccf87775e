/* SPDX-License-Identifier: MIT */
/* Which backends are used, by TENON_BACKENDS and its file. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/device/backend_choice.h"

/* which of a, b and ab a list leaves out, as a text */
static const char *left_out(const char *list)
{
	static const char *const names[] = { "a", "b", "ab" };
	static char text[16];
	size_t i;

	*text = 0;
	for (i = 0; i < 3; i++)
		if (backend_list_leaves_out(list, names[i]))
			strcat(strcat(text, *text ? " " : ""), names[i]);
	return text;
}

static void names_alone_are_all_that_is_used(void **state)
{
	(void)state;
	assert_string_equal(left_out("a"), "b ab");
	assert_string_equal(left_out("a,ab"), "b");
	assert_string_equal(left_out(" ab\n\tb ,\r\n"), "a");
	assert_string_equal(left_out("other"), "a b ab");
}

static void names_with_a_minus_are_left_out(void **state)
{
	(void)state;
	assert_string_equal(left_out("-a"), "a");
	assert_string_equal(left_out("-ab -b"), "b ab");
	assert_string_equal(left_out("-other"), "");
	/* both */
	assert_string_equal(left_out("a,b,-b"), "b ab");
}

static void an_empty_list_leaves_nothing_out(void **state)
{
	(void)state;
	assert_string_equal(left_out(""), "");
	assert_string_equal(left_out(" ,\n"), "");
	assert_string_equal(left_out("# a"), "");
	assert_string_equal(left_out("-"), "");
}

static void comments_end_with_their_line(void **state)
{
	(void)state;
	assert_string_equal(left_out("# only\n#a\nb# not -b\n"), "a ab");
	assert_string_equal(left_out("-a #-b\n-ab"), "a ab");
}

static void a_file_is_read_or_says_why_not(void **state)
{
	char list[BACKEND_LIST_MOST], path[512], many[BACKEND_LIST_MOST];
	const char *tmp = getenv("TMPDIR"), *why = NULL;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/backends-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	fputs("-a\n", f);
	fflush(f);
	assert_int_equal(backend_list_read(path, list, &why), 3);
	assert_string_equal(list, "-a\n");
	fputc(0, f);
	fflush(f);
	assert_int_equal(backend_list_read(path, list, &why), -2);
	assert_non_null(strstr(why, "NUL"));
	assert_string_equal(list, "");
	memset(many, ' ', sizeof(many));
	fwrite(many, 1, sizeof(many), f);
	fclose(f);
	assert_int_equal(backend_list_read(path, list, &why), -2);
	assert_non_null(strstr(why, "4095"));
	unlink(path);
	assert_int_equal(backend_list_read(path, list, &why), -1);
	assert_int_equal(backend_list_read("/", list, &why), -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_alone_are_all_that_is_used),
		cmocka_unit_test(names_with_a_minus_are_left_out),
		cmocka_unit_test(an_empty_list_leaves_nothing_out),
		cmocka_unit_test(comments_end_with_their_line),
		cmocka_unit_test(a_file_is_read_or_says_why_not),
	};

	return cmocka_run_group_tests_name("backends that are left out", tests, NULL, NULL);
}
