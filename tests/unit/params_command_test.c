/* SPDX-License-Identifier: MIT */
/* tenon params: nobody is to lose an array or a parameter by it. */
#include "suite.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_run.h"
#include "lib/option.h"
#include "tools/json/json_value.h"
#include "tools/tensor/npy.h"

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

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void put_array(const char *path, int64_t extent)
{
	DLTensor dl = tenon_dltensor((void *)(uintptr_t)values, &extent, 1,
				     tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));

	assert_int_equal(npy_write(path, &dl, false), 0);
}

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

static void assert_params(const char *path, size_t count)
{
	struct tenon_params *params;

	if (tenon_params_open(path, &params))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(tenon_params_count(params), count);
	tenon_object_unref(params);
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

/* ---- what is made */

static void two_arrays_of_one_name_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdir("sub", 0777), 0);
	put_array("f.npy", 2);
	put_array("sub/f.npy", 3);
	assert_refused(RUN("params", "from-npy", "f.npy", "f.npy", "f.params"), CLI_USAGE,
		       "two arrays are called \"f\"");
	assert_refused(RUN("params", "from-npy", "f.npy", "g=f.npy", "sub/f.npy", "f.params"),
		       CLI_USAGE, "rename one of them with NAME=FILE.npy");
	assert_int_equal(size_of("f.params"), -1);
	assert_ran(RUN("params", "from-npy", "f.npy", "ff=sub/f.npy", "f.params"), CLI_OK,
		   "f.params: 2 parameters, aligned to 128 bytes\n", "");
	assert_params("f.params", 2);
}

static void an_array_is_never_replaced_by_parameters(void **state)
{
	off_t size;

	(void)state;
	put_array("a.npy", 2);
	put_array("b.npy", 2);
	put_array("plain", 4);
	size = size_of("plain");
	assert_refused(RUN("params", "from-npy", "a.npy", "b.npy"), CLI_USAGE,
		       "b.npy: this name is for NumPy files");
	assert_refused(RUN("params", "from-npy", "a.npy", "-o", "new.npz"), CLI_USAGE,
		       "name a different file, as the last argument or with -o");
	assert_refused(RUN("params", "from-npy", "a.npy", "w=plain", "plain"), CLI_USAGE,
		       "plain exists and is not a file of parameters: remove it");
	assert_refused(RUN("params", "from-npy", "a.npy", "plain"), CLI_USAGE, "plain exists");
	assert_int_equal(size_of("new.npz"), -1);
	assert_int_equal(size_of("plain"), size);
	assert_int_equal(size_of("b.npy"), size - 8);
}

static void other_files_are_kept_and_parameters_replaced(void **state)
{
	static const char *const names[] = { "a", "b" };

	(void)state;
	put_array("a.npy", 2);
	put("notes", "x");
	put("empty", "");
	put_params("old", 2, names);
	assert_refused(RUN("params", "from-npy", "a.npy", "notes"), CLI_USAGE, "notes exists");
	assert_refused(RUN("params", "align", "old", "notes"), CLI_USAGE, "notes exists");
	assert_refused(RUN("params", "align", "old", "old.npy"), CLI_USAGE, "old.npy: ");
	assert_refused(RUN("params", "align", "notes"), CLI_NO_FILE, "notes");
	assert_int_equal(size_of("notes"), 1);
	assert_ran(RUN("params", "from-npy", "a.npy", "-o", "empty"), CLI_OK,
		   "empty: 1 parameters, aligned to 128 bytes\n", "");
	assert_params("empty", 1);
	assert_ran(RUN("params", "from-npy", "a.npy", "old"), CLI_OK,
		   "old: 1 parameters, aligned to 128 bytes\n", "");
	assert_params("old", 1);
	assert_ran(RUN("params", "align", "old", "--align", "4096"), CLI_OK,
		   "old: 1 parameters, aligned to 4096 bytes\n", "");
	assert_params("old", 1);
}

/* ---- codes and options */

static void a_type_that_has_no_place_in_a_tensor_is_a_fault_of_the_file(void **state)
{
	static const char text[] = "\x93NUMPY\x02\x01";

	(void)state;
	put("v.npy", text);
	assert_refused(RUN("params", "from-npy", "v.npy", "v.params"), CLI_NO_FILE,
		       "version 2.1 of numpy's format");
}

static void options_that_do_not_belong_to_the_action_are_refused(void **state)
{
	static const char *const names[] = { "a" };

	(void)state;
	put_params("one.params", 1, names);
	assert_refused(RUN("params", "list", "one.params", "-o", "x"), CLI_USAGE,
		       "params list takes no --output");
	assert_refused(RUN("params", "extract", "one.params", "--align", "64"), CLI_USAGE,
		       "params extract takes no --align");
	if (OPTION_ON(JSON))
		assert_refused(RUN("params", "align", "one.params", "--json"), CLI_USAGE,
			       "params align takes no --json");
	assert_refused(RUN("params", "align", "one.params", "two", "-o", "three"), CLI_USAGE,
		       "2 files given");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			names_that_would_share_a_file_are_refused_before_anything_is_written),
		cmocka_unit_test(of_two_parameters_of_one_name_the_last_is_taken_by_name_only),
		cmocka_unit_test(a_name_that_is_not_there_is_told_before_anything_is_written),
		cmocka_unit_test(arrays_go_to_the_folder_that_is_named),
		cmocka_unit_test(two_arrays_of_one_name_are_refused),
		cmocka_unit_test(an_array_is_never_replaced_by_parameters),
		cmocka_unit_test(other_files_are_kept_and_parameters_replaced),
		cmocka_unit_test(a_type_that_has_no_place_in_a_tensor_is_a_fault_of_the_file),
		cmocka_unit_test(options_that_do_not_belong_to_the_action_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
