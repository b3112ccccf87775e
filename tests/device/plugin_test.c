/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/suite.h"

static char folder[512], open_folder[520];

static void path_of(char *path, size_t room, const char *where, const char *name)
{
	snprintf(path, room, "%s/%s", where, name);
}

/* a plug-in of the build under a name that tells the order */
static void offer(const char *module, const char *name)
{
	const char *build = getenv("TENON_BUILD");
	char from[1024], to[1024];

	assert_non_null(build);
	snprintf(from, sizeof(from), "%s/tests/device/%s", build, module);
	path_of(to, sizeof(to), folder, name);
	assert_int_equal(symlink(from, to), 0);
}

static void write_file(const char *where, const char *name, const char *bytes, mode_t mode)
{
	char path[1024];
	FILE *f;

	path_of(path, sizeof(path), where, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(bytes, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static int make_folders(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char list[2048];

	(void)state;
	snprintf(folder, sizeof(folder), "%s/plugins-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(open_folder, sizeof(open_folder), "%s/open", folder);
	assert_int_equal(mkdir(open_folder, 0755), 0);
	assert_int_equal(chmod(open_folder, 0777), 0);
	offer("plugin_good.so", "1-good.so");
	offer("plugin_good.so", "2-twice.so");
	offer("plugin_newer.so", "3-newer.so");
	offer("plugin_careless.so", "4-careless.so");
	offer("plugin_none.so", "5-none.so");
	write_file(folder, "6-text.so", "this is not ELF\n", 0644);
	write_file(folder, "7-writable.so", "anybody's\n", 0666);
	write_file(folder, "8-ignored.txt", "no library by its name\n", 0644);
	snprintf(list, sizeof(list), "/nowhere/at/all::%s:%s", open_folder, folder);
	setenv("TENON_BACKEND_PATH", list, 1);
	return 0;
}

static int remove_folders(void **state)
{
	static const char *const names[] = { "1-good.so",     "2-twice.so",   "3-newer.so",
					     "4-careless.so", "5-none.so",    "6-text.so",
					     "7-writable.so", "8-ignored.txt" };
	char path[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(path, sizeof(path), folder, names[i]);
		unlink(path);
	}
	rmdir(open_folder);
	rmdir(folder);
	return 0;
}

static void a_plug_in_is_a_backend_like_any_other(void **state)
{
	const struct tenon_backend *b = tenon_backend_find(tenon_slice_of("plugged"));
	uint32_t count = 7;

	(void)state;
	assert_non_null(b);
	assert_ptr_equal(tenon_backend_of_type(90), b);
	assert_int_equal(tenon_backend_count(b, &count), 0);
	assert_int_equal(count, 0);
	assert_null(tenon_backend_find(tenon_slice_of("careless")));
}

static bool has_line(const struct tenon_buffer *b, const char *name, const char *text)
{
	const char *line = strstr(b->data, name);
	const char *end = line ? strchr(line, '\n') : NULL;
	const char *at = line ? strstr(line, text) : NULL;

	if (at && at < end)
		return true;
	print_error("%s … %s is not in:\n%s", name, text, b->data);
	return false;
}

static void each_that_is_not_used_says_why(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(tenon_backend_problems(&b), 0);
	assert_int_equal(tenon_buffer_u8(&b, 0), 0);
	assert_true(has_line(&b, "/nowhere/at/all", "(from TENON_BACKEND_PATH): No such file"));
	assert_true(has_line(&b, "/open", "anybody can write to it"));
	assert_true(has_line(&b, "2-twice.so", "name or type is taken"));
	assert_true(has_line(&b, "3-newer.so", "does not serve device ABI"));
	assert_true(has_line(&b, "4-careless.so", "a backend of device ABI 99 and 8 bytes"));
	assert_true(has_line(&b, "5-none.so", "no tenon_backend_entry: not a backend"));
	assert_true(has_line(&b, "6-text.so", ""));
	assert_true(has_line(&b, "7-writable.so", "anybody can write to it"));
	assert_null(strstr(b.data, "8-ignored"));
	assert_null(strstr(b.data, "1-good"));
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plug_in_is_a_backend_like_any_other),
		cmocka_unit_test(each_that_is_not_used_says_why),
	};

	return cmocka_run_group_tests_name("plug-ins", tests, make_folders, remove_folders);
}
