/* SPDX-License-Identifier: MIT */
/* Two paths to one file, and to others. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/file_same.h"

static void a_file_is_the_same_by_any_path(void **state)
{
	char folder[] = "same-XXXXXX", command[128];

	(void)state;
	if (getenv("TMPDIR") && chdir(getenv("TMPDIR")))
		skip();
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(system("echo a > a; echo b > b; ln -s a link; mkdir sub"), 0);
	assert_true(file_is_same("a", "sub/../a"));
	assert_true(file_is_same("a", "link"));
	assert_false(file_is_same("a", "b"));
	assert_false(file_is_same("a", "absent"));
	assert_false(file_is_same("absent", "a"));
	/* another file system */
	assert_false(file_is_same("a", "/proc/self/status"));
	/* what is no file may be read and written at once */
	assert_false(file_is_same("/dev/null", "/dev/null"));
	assert_int_equal(chdir(".."), 0);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_the_same_by_any_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
