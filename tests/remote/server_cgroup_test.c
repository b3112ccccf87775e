/* SPDX-License-Identifier: MIT */
/* Where the cgroup of the server lies; what is made there, tests/remote/cgroup_guest.sh shows on a kernel. */
#include "tests/unit/suite.h"

#include "rpc/server/session_cgroup.h"

#define VERSION_1 "34 31 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
#define UNIFIED	  "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static void assert_found(const char *mounts, const char *own, const char *folder)
{
	char path[PATH_MAX];

	assert_true(server_cgroup_find(mounts, own, path));
	assert_string_equal(path, folder);
}

static void assert_not_found(const char *mounts, const char *own)
{
	char path[PATH_MAX];

	assert_false(server_cgroup_find(mounts, own, path));
}

static void the_folder_is_that_of_the_hierarchy_and_the_cgroup(void **state)
{
	(void)state;
	assert_found(UNIFIED, "0::/system.slice/tenon-rpc.service\n",
		     "/sys/fs/cgroup/system.slice/tenon-rpc.service");
	assert_found(UNIFIED, "0::/\n", "/sys/fs/cgroup");
	assert_found("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" UNIFIED, "0::/a", "/sys/fs/cgroup/a");
}

static void hierarchies_of_version_1_are_passed_over(void **state)
{
	(void)state;
	assert_found(VERSION_1 "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		     "4:memory:/a\n1:cpu:/\n0::/b\n", "/sys/fs/cgroup/unified/b");
	assert_not_found(VERSION_1, "4:memory:/a\n0::/b\n");
	assert_not_found(VERSION_1, "4:memory:/a\n");
	assert_not_found(UNIFIED, "4:memory:/a\n");
}

static void a_mount_that_shows_a_part_has_the_cgroups_of_this_part(void **state)
{
	const char *part = "30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";

	(void)state;
	assert_found(part, "0::/docker/1\n", "/sys/fs/cgroup");
	assert_found(part, "0::/docker/1/a\n", "/sys/fs/cgroup/a");
	assert_not_found(part, "0::/docker/12\n");
	assert_not_found(part, "0::/\n");
	assert_not_found("30 23 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n", "0::/a\n");
}

static void text_that_is_no_list_of_mounts_has_no_folder(void **state)
{
	(void)state;
	assert_not_found("", "0::/a\n");
	assert_not_found(" - cgroup2 ", "0::/a\n");
	assert_not_found("30 - cgroup2 cgroup2 rw\n", "0::/a\n");
	assert_not_found("30 23 0:26 / - cgroup2 cgroup2 rw\n", "0::/a\n");
	/* a space in the path of the mount */
	assert_not_found("30 23 0:26 / /a\\040b rw - cgroup2 cgroup2 rw\n", "0::/a\n");
	assert_not_found(UNIFIED, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_folder_is_that_of_the_hierarchy_and_the_cgroup),
		cmocka_unit_test(hierarchies_of_version_1_are_passed_over),
		cmocka_unit_test(a_mount_that_shows_a_part_has_the_cgroups_of_this_part),
		cmocka_unit_test(text_that_is_no_list_of_mounts_has_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
