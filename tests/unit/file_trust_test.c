/* SPDX-License-Identifier: MIT */
/* Whether others could have changed a file, by the folders of its path. */
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/file_trust.h"

#define ANOTHER_USER 65534

/* the folder of a case, without links */
static char folder[PATH_MAX], path[PATH_MAX + 512];

static const char *at(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void make_folder(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(at(name), 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void make_file(const char *name, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void make_link(const char *target, const char *name)
{
	assert_int_equal(symlink(target, at(name)), 0);
}

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char name[512], real[PATH_MAX];

	(void)state;
	/* the build may lie in a folder of another user */
	if (!tmp || file_trust_path(tmp, real))
		tmp = "/tmp";
	tenon_error_clear();
	snprintf(name, sizeof(name), "%s/trust-XXXXXX", tmp);
	return mkdtemp(name) && realpath(name, folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void assert_trusted(const char *name, const char *leads_to)
{
	char real[PATH_MAX];

	if (file_trust_path(at(name), real))
		fail_msg("%s: %s", name, tenon_error_message());
	assert_string_equal(real, at(leads_to));
}

/* It is refused because of a part, for a reason. */
static void assert_refused(const char *name, const char *part, const char *why)
{
	char real[PATH_MAX], words[PATH_MAX + 1024];

	assert_int_equal(file_trust_path(at(name), real), -TENON_E_USAGE);
	snprintf(words, sizeof(words), "%s: %s", at(part), why);
	assert_error_has(words);
}

static void a_path_is_resolved(void **state)
{
	char real[PATH_MAX];

	(void)state;
	make_folder("a", 0755);
	make_folder("a/b", 0750);
	make_file("a/b/file", 0644);
	make_link("b/file", "a/relative");
	make_link("a/b", "folder");
	make_link("../a/./relative", "a/twice");
	assert_trusted("a/b/file", "a/b/file");
	assert_trusted("a//b/.", "a/b");
	assert_trusted("a/b/../b/../../a/b/file", "a/b/file");
	assert_trusted("a/relative", "a/b/file");
	assert_trusted("folder/file", "a/b/file");
	assert_trusted("folder/../relative", "a/b/file");
	assert_trusted("a/twice", "a/b/file");
	assert_int_equal(file_trust_path("/", real), 0);
	assert_string_equal(real, "/");
	assert_int_equal(file_trust_path("/../..", real), 0);
	assert_string_equal(real, "/");
}

static void a_relative_path_begins_in_the_current_folder(void **state)
{
	char real[PATH_MAX], before[PATH_MAX];

	(void)state;
	make_folder("a", 0755);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(file_trust_path("a/..//a", real), 0);
	assert_int_equal(chdir(before), 0);
	assert_string_equal(real, at("a"));
}

static void a_part_that_others_can_write_to_is_refused(void **state)
{
	(void)state;
	make_folder("open", 0777);
	make_folder("open/a", 0755);
	make_file("open/a/file", 0644);
	make_file("file", 0646);
	make_link("open/a", "link");
	assert_refused("open", "open", "anybody can write to it");
	assert_refused("open/a/file", "open", "anybody can write to it");
	assert_refused("link/file", "open", "anybody can write to it");
	/* also where the path comes out of it again */
	assert_refused("open/../open/../file", "open", "anybody can write to it");
	assert_refused("file", "file", "anybody can write to it");
}

static void in_a_sticky_folder_the_owner_decides(void **state)
{
	(void)state;
	make_folder("sticky", 01777);
	make_folder("sticky/a", 0755);
	make_file("sticky/a/file", 0644);
	make_link("a/file", "sticky/link");
	assert_trusted("sticky/a/file", "sticky/a/file");
	assert_trusted("sticky/link", "sticky/a/file");
	/* but anybody can add to it */
	assert_refused("sticky", "sticky", "anybody can write to it");
	assert_refused("sticky/a/..", "sticky", "anybody can write to it");
	if (geteuid())
		return;
	assert_int_equal(lchown(at("sticky/link"), ANOTHER_USER, ANOTHER_USER), 0);
	assert_refused("sticky/link", "sticky/link", "belongs to another user");
	assert_int_equal(chown(at("sticky/a"), ANOTHER_USER, ANOTHER_USER), 0);
	assert_refused("sticky/a/file", "sticky/a", "belongs to another user");
	/* the owner of a folder with the sticky bit may remove files of other users in it */
	assert_int_equal(chown(at("sticky"), ANOTHER_USER, ANOTHER_USER), 0);
	assert_refused("sticky/a/file", "sticky", "belongs to another user");
}

static void a_group_may_write_where_it_is_the_owners_own(void **state)
{
	struct stat st;

	(void)state;
	make_file("file", 0664);
	assert_int_equal(stat(at("file"), &st), 0);
	if (st.st_gid == st.st_uid)
		assert_trusted("file", "file");
	else
		assert_refused("file", "file", "its group can write to it");
	if (geteuid())
		return;
	assert_int_equal(chown(path, 0, ANOTHER_USER), 0);
	assert_refused("file", "file", "its group can write to it");
}

static void a_path_that_leads_nowhere_is_an_error_of_its_own(void **state)
{
	char real[PATH_MAX], name[NAME_MAX + 2];

	(void)state;
	make_file("file", 0644);
	make_link("loop", "loop");
	assert_int_equal(file_trust_path(at("missing"), real), -TENON_E_IO);
	assert_error_has("/missing: No such file");
	assert_int_equal(file_trust_path(at("file/x"), real), -TENON_E_IO);
	assert_int_equal(file_trust_path(at("loop"), real), -TENON_E_IO);
	assert_error_has("/loop: Too many");
	/* a name that is too long is not taken for one that begins alike */
	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = 0;
	make_file(name, 0644);
	assert_trusted(name, name);
	strcpy(name + NAME_MAX, "n");
	assert_int_equal(file_trust_path(at(name), real), -TENON_E_IO);
	tenon_error_clear();
}

static void a_path_that_is_too_long_is_an_error(void **state)
{
	static char name[2 * PATH_MAX];
	char part[NAME_MAX + 101] = "", real[PATH_MAX];

	(void)state;
	/* in one name */
	memset(part, 'n', sizeof(part) - 1);
	assert_int_equal(file_trust_path(at(part), real), -TENON_E_IO);
	assert_error_has("File name too long");
	/* as a whole, from here and from the root */
	memset(name, '/', PATH_MAX);
	assert_int_equal(file_trust_path(name, real), -TENON_E_IO);
	assert_error_has("File name too long");
	assert_int_equal(chdir(folder), 0);
	memset(name, 0, sizeof(name));
	for (size_t i = 0; i < PATH_MAX - 10; i += 2)
		memcpy(name + i, "./", 2);
	assert_int_equal(file_trust_path(name, real), -TENON_E_IO);
	assert_error_has("File name too long");
	/* once a link is followed */
	memset(name, 0, sizeof(name));
	for (size_t i = 0; i < PATH_MAX / 2; i += 2)
		memcpy(name + i, "./", 2);
	make_link(name, "link");
	memcpy(name, "link/", 5);
	name[4] = '/';
	for (size_t i = 5; i < PATH_MAX - strlen(folder) - 20; i += 2)
		memcpy(name + i, "./", 2);
	assert_int_equal(file_trust_path(name, real), -TENON_E_IO);
	assert_error_has("link: File name too long");
}

/* Folders inside each other, with names of 250 letters; the last has a link to the last of those further down. */
static void make_deep(unsigned int above, unsigned int below)
{
	char part[252] = "", target[PATH_MAX] = "";

	memset(part, 'd', sizeof(part) - 1);
	part[250] = '/';
	assert_int_equal(chdir(folder), 0);
	for (unsigned int i = 0; i < above; i++) {
		strcat(target, part);
		assert_int_equal(mkdir(part, 0700), 0);
		assert_int_equal(chdir(part), 0);
	}
	make_link(target, "deep");
	*target = 0;
	for (unsigned int i = 0; i < below; i++)
		strcat(target, part);
	assert_int_equal(symlink(target, "deeper"), 0);
	for (unsigned int i = 0; i < below; i++) {
		assert_int_equal(mkdir(part, 0700), 0);
		assert_int_equal(chdir(part), 0);
	}
	assert_int_equal(chdir(folder), 0);
}

static void what_a_path_resolves_to_may_be_too_long(void **state)
{
	char real[PATH_MAX];

	(void)state;
	make_deep(12, 6);
	assert_int_equal(file_trust_path(at("deep"), real), 0);
	assert_int_equal(file_trust_path(at("deep/deeper"), real), -TENON_E_IO);
	assert_error_has("File name too long");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_path_is_resolved),
		CASE(a_relative_path_begins_in_the_current_folder),
		CASE(a_part_that_others_can_write_to_is_refused),
		CASE(in_a_sticky_folder_the_owner_decides),
		CASE(a_group_may_write_where_it_is_the_owners_own),
		CASE(a_path_that_leads_nowhere_is_an_error_of_its_own),
		CASE(a_path_that_is_too_long_is_an_error),
		CASE(what_a_path_resolves_to_may_be_too_long),
	};

	return cmocka_run_group_tests_name("files that can be trusted", tests, NULL, NULL);
}
