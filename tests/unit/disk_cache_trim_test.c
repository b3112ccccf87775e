/* SPDX-License-Identifier: MIT */
/* What leaves the disk cache when it is full. */
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disk_cache_trim.h"

#define ENTRY_SIZE 1000
#define ENTRIES	   8

static char folder[512];

static const char *path_of(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* the name of an entry, of a digit thirty-two times */
static const char *entry_name(int digit)
{
	static char name[DISK_CACHE_NAME + 1];

	memset(name, '0' + digit, DISK_CACHE_NAME);
	return name;
}

/* A file that was used @age seconds after a time long ago. */
static void make_file(const char *name, int age)
{
	const struct timespec times[2] = { { 1000000 + age, 0 }, { 1000000 + age, 0 } };
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, ENTRY_SIZE), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool is_there(const char *name)
{
	return !access(path_of(name), F_OK);
}

static void trim(const char *path, uint64_t most)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	disk_cache_trim(fd, most);
	if (fd >= 0)
		close(fd);
}

static int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/trim-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder));
	return 0;
}

static int remove_folder(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < ENTRIES; i++)
		unlink(path_of(entry_name(i)));
	return rmdir(folder);
}

static void nothing_goes_while_there_is_room(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < ENTRIES; i++)
		make_file(entry_name(i), i);
	trim(folder, ENTRIES * ENTRY_SIZE);
	for (i = 0; i < ENTRIES; i++)
		assert_true(is_there(entry_name(i)));
}

static void those_not_used_for_longest_go_until_a_quarter_is_free(void **state)
{
	/* in another order than their names and their making */
	static const int ages[ENTRIES] = { 5, 1, 7, 3, 0, 6, 2, 4 };
	int i;

	(void)state;
	for (i = 0; i < ENTRIES; i++)
		make_file(entry_name(i), ages[i]);
	trim(folder, ENTRIES * ENTRY_SIZE - 1);
	/* 7 999 allow 6 000 and something: five entries would do, six do not exceed it */
	for (i = 0; i < ENTRIES; i++)
		assert_int_equal(is_there(entry_name(i)), ages[i] >= 2);
}

static void what_dead_writers_left_goes_too(void **state)
{
	static const char left[] = "00112233445566778899aabbccddeeff.aB3xYz";

	(void)state;
	make_file(left, 0);
	make_file(entry_name(1), 1);
	trim(folder, 2 * ENTRY_SIZE - 1);
	assert_false(is_there(left));
	assert_true(is_there(entry_name(1)));
}

static void files_of_others_stay_and_do_not_count(void **state)
{
	static const char *const others[] = {
		"thesis.tex",
		"00112233445566778899aabbccddeef",	   /* a digit short */
		"00112233445566778899aabbccddeeff0",	   /* a digit more */
		"00112233445566778899AABBCCDDEEFF",	   /* not written so */
		"00112233445566778899aabbccddeeff.pdf",	   /* no temporary name */
		"00112233445566778899aabbccddeeff_aB3xYz", /* nor this */
	};
	const char *link = "ffffffffffffffffffffffffffffffff";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		make_file(others[i], 0);
	assert_int_equal(symlink("thesis.tex", path_of(link)), 0);
	make_file(entry_name(1), 1);
	trim(folder, ENTRY_SIZE);
	assert_true(is_there(entry_name(1)));
	trim(folder, 0);
	assert_false(is_there(entry_name(1)));
	assert_true(is_there(link));
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_true(is_there(others[i]));
		unlink(path_of(others[i]));
	}
	unlink(path_of(link));
	/* a folder that is not there is none to trim */
	trim(path_of("nowhere"), 0);
}

static void the_limit_is_what_the_user_says_in_mib(void **state)
{
	static const struct {
		const char *text;
		uint64_t mib;
	} cases[] = { { "0", 0 },	{ "1", 1 },
		      { "1024", 1024 }, { "", 256 },
		      { "many", 256 },	{ "12 MiB", 256 },
		      { "-1", 256 },	{ "99999999999999999999", 256 } };
	size_t i;

	(void)state;
	unsetenv("TENON_CACHE_SIZE");
	assert_int_equal(disk_cache_limit(), UINT64_C(256) << 20);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("TENON_CACHE_SIZE", cases[i].text, 1);
		assert_int_equal(disk_cache_limit(), cases[i].mib << 20);
	}
	unsetenv("TENON_CACHE_SIZE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_goes_while_there_is_room, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(
			those_not_used_for_longest_go_until_a_quarter_is_free, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(what_dead_writers_left_goes_too, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(files_of_others_stay_and_do_not_count, make_folder,
						remove_folder),
		cmocka_unit_test(the_limit_is_what_the_user_says_in_mib),
	};

	return cmocka_run_group_tests_name("room for compiled kernels", tests, NULL, NULL);
}
