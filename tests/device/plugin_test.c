/* SPDX-License-Identifier: MIT */
/* Plug-ins that bring a backend: which are loaded, and why others are not. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/file_trust.h"
#include "tests/unit/suite.h"

#define ANOTHER_USER 65534

static char folder[512], open_folder[520];
/* a folder that is fine, in one that is not, and a way there that is no better */
static char inner_folder[540], link_folder[520], given_folder[520];

static void path_of(char *path, size_t room, const char *where, const char *name)
{
	snprintf(path, room, "%s/%s", where, name);
}

/* A copy of a plug-in of the build, under a name that tells the order: the build may be another user's. */
static void offer(const char *module, const char *name)
{
	const char *build = getenv("TENON_BUILD");
	char from[1024], to[1024], bytes[4096];
	FILE *in, *out;
	size_t n;

	assert_non_null(build);
	snprintf(from, sizeof(from), "%s/tests/device/%s", build, module);
	path_of(to, sizeof(to), folder, name);
	in = fopen(from, "r");
	out = fopen(to, "w");
	assert_true(in && out);
	while ((n = fread(bytes, 1, sizeof(bytes), in)))
		assert_int_equal(fwrite(bytes, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(to, 0644), 0);
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
	char list[4096], real[PATH_MAX];

	(void)state;
	if (!tmp || file_trust_path(tmp, real))
		tmp = "/tmp";
	tenon_error_clear();
	snprintf(folder, sizeof(folder), "%s/plugins-XXXXXX", tmp);
	assert_non_null(mkdtemp(folder));
	snprintf(open_folder, sizeof(open_folder), "%s/open", folder);
	assert_int_equal(mkdir(open_folder, 0755), 0);
	assert_int_equal(chmod(open_folder, 0777), 0);
	snprintf(inner_folder, sizeof(inner_folder), "%s/inner", open_folder);
	assert_int_equal(mkdir(inner_folder, 0755), 0);
	write_file(inner_folder, "9-inner.so", "never opened\n", 0644);
	snprintf(link_folder, sizeof(link_folder), "%s/link", folder);
	assert_int_equal(symlink(inner_folder, link_folder), 0);
	snprintf(given_folder, sizeof(given_folder), "%s/given", folder);
	assert_int_equal(mkdir(given_folder, 0755), 0);
	write_file(given_folder, "given.so", "never opened\n", 0644);
	write_file(folder, "7-given.so", "another user's\n", 0644);
	if (!geteuid()) {
		assert_int_equal(chown(given_folder, ANOTHER_USER, ANOTHER_USER), 0);
		path_of(list, sizeof(list), folder, "7-given.so");
		assert_int_equal(chown(list, ANOTHER_USER, ANOTHER_USER), 0);
	}
	offer("plugin_good.so", "1-good.so");
	offer("plugin_good.so", "2-twice.so");
	offer("plugin_newer.so", "3-newer.so");
	offer("plugin_careless.so", "4-careless.so");
	offer("plugin_none.so", "5-none.so");
	write_file(folder, "6-text.so", "this is not ELF\n", 0644);
	write_file(folder, "7-writable.so", "anybody's\n", 0666);
	write_file(folder, "8-ignored.txt", "no library by its name\n", 0644);
	snprintf(list, sizeof(list), "/nowhere/at/all::%s:%s:%s:%s:%s", open_folder, inner_folder,
		 link_folder, given_folder, folder);
	setenv("TENON_BACKEND_PATH", list, 1);
	return 0;
}

static int remove_folders(void **state)
{
	static const char *const names[] = {
		"1-good.so",	 "2-twice.so",	   "3-newer.so",
		"4-careless.so", "5-none.so",	   "6-text.so",
		"7-writable.so", "8-ignored.txt",  "open/inner/9-inner.so",
		"link",		 "given/given.so", "7-given.so"
	};
	char path[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(path, sizeof(path), folder, names[i]);
		unlink(path);
	}
	rmdir(given_folder);
	rmdir(inner_folder);
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

static void a_folder_is_as_safe_as_those_above_it(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char part[600], beginning[600];

	(void)state;
	assert_int_equal(tenon_backend_problems(&b), 0);
	assert_int_equal(tenon_buffer_u8(&b, 0), 0);
	/* the part that is at fault is named, and the remedy is for that */
	snprintf(part, sizeof(part), "%s: anybody can write to it", open_folder);
	snprintf(beginning, sizeof(beginning), "%s: ", inner_folder);
	assert_true(has_line(&b, beginning, part));
	snprintf(beginning, sizeof(beginning), "%s: ", link_folder);
	assert_true(has_line(&b, beginning, part));
	snprintf(part, sizeof(part), "chmod o-w %s\n", open_folder);
	assert_non_null(strstr(b.data, part));
	assert_null(strstr(b.data, "9-inner.so"));
	tenon_buffer_fini(&b);
}

static void what_another_user_owns_is_not_used(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	if (geteuid()) {
		print_message("only root can give files to another user\n");
		skip();
	}
	assert_int_equal(tenon_backend_problems(&b), 0);
	assert_int_equal(tenon_buffer_u8(&b, 0), 0);
	assert_true(has_line(&b, "/given: ", "belongs to another user"));
	assert_true(has_line(&b, "7-given.so", "belongs to another user"));
	assert_null(strstr(b.data, "/given/given.so"));
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plug_in_is_a_backend_like_any_other),
		cmocka_unit_test(each_that_is_not_used_says_why),
		cmocka_unit_test(a_folder_is_as_safe_as_those_above_it),
		cmocka_unit_test(what_another_user_owns_is_not_used),
	};

	return cmocka_run_group_tests_name("plug-ins", tests, make_folders, remove_folders);
}
