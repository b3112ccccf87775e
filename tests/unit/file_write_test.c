/* SPDX-License-Identifier: MIT */
/* What writers leave behind when they are killed, and that the next one removes it. */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/file_map.h"
#include "lib/file_temporary.h"

static char folder[512];

static const char *in_folder(const char *name)
{
	static char path[2][640];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

/* names in the folder that begin with a text */
static int count_names(const char *begin)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += !strncmp(e->d_name, begin, strlen(begin));
	closedir(d);
	return n;
}

static void write_text(const char *name, const char *text)
{
	struct tenon_slice part = { text, strlen(text) };

	assert_int_equal(file_write(in_folder(name), &part, 1), 0);
}

static void assert_holds(const char *name, const char *text)
{
	char got[64] = "";
	int fd = open(in_folder(name), O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(text));
	assert_string_equal(got, text);
	close(fd);
}

/* A child that is killed when it has written a part. */
static void be_killed_writing(const char *name)
{
	struct file_temporary t;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		if (!file_temporary_open(in_folder(name), &t) && write(t.fd, "half", 4) == 4)
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static void what_a_killed_writer_left_is_removed_by_the_next(void **state)
{
	(void)state;
	write_text("model", "old");
	be_killed_writing("model");
	be_killed_writing("other");
	assert_int_equal(count_names("model"), 2);
	assert_holds("model", "old");
	write_text("model", "new");
	assert_int_equal(count_names("model"), 1);
	assert_holds("model", "new");
	/* each writer looks after its own file alone */
	assert_int_equal(count_names("other"), 1);
	write_text("other", "x");
	assert_int_equal(count_names("other"), 1);
	assert_holds("other", "x");
}

static void files_that_only_look_alike_stay(void **state)
{
	static const char *const names[] = { "keep.tenon-", "keep.tenon-abc",
					     "keep.tenon-ABCDEF.bak", "keep.XXXXXX" };
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		write_text(names[i], "mine");
	write_text("keep", "new");
	for (i = 0; i < 4; i++)
		assert_holds(names[i], "mine");
}

static void what_a_writer_is_at_work_on_stays(void **state)
{
	struct file_temporary t;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(file_temporary_open(in_folder("busy"), &t), 0);
	assert_int_equal(write(t.fd, "slow", 4), 4);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		write_text("busy", "fast");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_holds("busy", "fast");
	assert_int_equal(file_temporary_rename(&t, in_folder("busy")), 0);
	assert_holds("busy", "slow");
	assert_int_equal(count_names("busy"), 1);
}

/* two that begin at the same time must not take each other for dead */
static void writers_at_the_same_time_all_succeed(void **state)
{
	pid_t child[8];
	int i, k, status;

	(void)state;
	for (i = 0; i < 8; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i])
			continue;
		for (k = 0; k < 200; k++)
			write_text("raced", "whole");
		_exit(0);
	}
	for (i = 0; i < 8; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	assert_holds("raced", "whole");
	assert_int_equal(count_names("raced"), 1);
}

static int make_folder(void **state)
{
	const char *parent = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/write-XXXXXX", parent ? parent : "/tmp");
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_killed_writer_left_is_removed_by_the_next),
		cmocka_unit_test(files_that_only_look_alike_stay),
		cmocka_unit_test(what_a_writer_is_at_work_on_stays),
		cmocka_unit_test(writers_at_the_same_time_all_succeed),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
