/* SPDX-License-Identifier: MIT */
/* tenon params: nobody is to lose an array or a parameter by it. */
#include "suite.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_run.h"

static const float values[4] = { 1, 2, 3, 4 };

/* all files are in a folder of their own, the current one */
static int set_up(void **state)
{
	static char folder[300];

	snprintf(folder, sizeof(folder), "%s/params.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	*state = mkdtemp(folder);
	return *state && !chdir(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[400];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	return chdir("/") || system(command);
}

/* ---- files */

/* parameters of these names, the first with one number, the next with two */
static void put_params(const char *path, size_t count, const char *const *names)
{
	static int64_t extents[4] = { 1, 2, 3, 4 };
	struct tenon_param p[4];

	for (size_t i = 0; i < count; i++) {
		p[i].name = tenon_slice_of(names[i]);
		p[i].bytes = 4 * (i + 1);
		p[i].tensor = tenon_dltensor((void *)(uintptr_t)values, &extents[i], 1,
					     tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	}
	assert_int_equal(tenon_params_write(path, p, count, 128), 0);
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

/* ---- extract */

static void names_that_would_share_a_file_are_refused_before_anything_is_written(void **state)
{
	static const char *const names[] = { "first", "x_y", "x/y" };

	(void)state;
	put_params("shared.params", 3, names);
	assert_refused(RUN("params", "extract", "shared.params"), CLI_NO_FILE,
		       "would both be written to x_y.npy");
	assert_int_equal(size_of("first.npy"), -1);
	assert_int_equal(size_of("x_y.npy"), -1);
	assert_refused(RUN("params", "extract", "shared.params", "first", "x/y", "x_y"),
		       CLI_NO_FILE, "\"x");
	assert_ran(RUN("params", "extract", "shared.params", "x/y", "-o", "slash"), CLI_OK,
		   "slash/x_y.npy\n", "");
	assert_ran(RUN("params", "extract", "shared.params", "x_y"), CLI_OK, "x_y.npy\n", "");
	assert_int_equal(size_of("slash/x_y.npy") - size_of("x_y.npy"), 4);
}

static void of_two_parameters_of_one_name_the_last_is_taken_by_name_only(void **state)
{
	static const char *const names[] = { "w", "w" };

	(void)state;
	put_params("twice.params", 2, names);
	assert_refused(RUN("params", "extract", "twice.params"), CLI_NO_FILE,
		       "two parameters are called \"w\": extract by name");
	assert_int_equal(size_of("w.npy"), -1);
	assert_ran(RUN("params", "extract", "twice.params", "w"), CLI_OK, "w.npy\n", "");
	assert_int_equal(size_of("w.npy"), 128 + 8);
}

static void a_name_that_is_not_there_is_told_before_anything_is_written(void **state)
{
	static const char *const names[] = { "there" };

	(void)state;
	put_params("there.params", 1, names);
	assert_refused(RUN("params", "extract", "there.params", "there", "gone"), CLI_NO_FILE,
		       "there.params has no parameter \"gone\"");
	assert_int_equal(size_of("there.npy"), -1);
}

static void arrays_go_to_the_folder_that_is_named(void **state)
{
	static const char *const names[] = { "a", "../b" };

	(void)state;
	put_params("two.params", 2, names);
	assert_ran(RUN("params", "extract", "two.params", "-o", "out/"), CLI_OK,
		   "out/a.npy\nout/_.._b.npy\n", "");
	assert_ran(RUN("params", "extract", "two.params", "a", "--output", "out"), CLI_OK,
		   "out/a.npy\n", "");
	assert_true(size_of("out/a.npy") > 0);
	assert_int_equal(size_of("a.npy"), -1);
	assert_refused(RUN("params", "extract", "two.params", "-o", "no/such"), CLI_NO_FILE,
		       "no/such: cannot make this folder: No such file or directory");
	assert_refused(RUN("params", "extract", "two.params", "-o", "two.params"), CLI_NO_FILE,
		       "two.params: is no folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			names_that_would_share_a_file_are_refused_before_anything_is_written),
		cmocka_unit_test(of_two_parameters_of_one_name_the_last_is_taken_by_name_only),
		cmocka_unit_test(a_name_that_is_not_there_is_told_before_anything_is_written),
		cmocka_unit_test(arrays_go_to_the_folder_that_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
