/* SPDX-License-Identifier: MIT */
/* What writers leave behind when they are killed, and that the next one removes it. */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
					     "keep.tenon-ABCDEF.bak", "keep.XXXXXX",
					     "keep.tenon-ABC_EF" };
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		write_text(names[i], "mine");
	/* no files, and a file of another user */
	assert_int_equal(mkfifo(in_folder("keep.tenon-ABCDEF"), 0600), 0);
	assert_int_equal(mkdir(in_folder("keep.tenon-GHIJKL"), 0700), 0);
	write_text("keep.tenon-MNOPQR", "mine");
	if (!geteuid())
		assert_int_equal(chown(in_folder("keep.tenon-MNOPQR"), 65534, 65534), 0);
	write_text("keep", "new");
	for (i = 0; i < 5; i++)
		assert_holds(names[i], "mine");
	assert_int_equal(access(in_folder("keep.tenon-ABCDEF"), F_OK), 0);
	assert_int_equal(access(in_folder("keep.tenon-GHIJKL"), F_OK), 0);
	if (!geteuid())
		assert_holds("keep.tenon-MNOPQR", "mine");
}

static void a_large_file_is_written_whole_or_not_at_all(void **state)
{
	const size_t size = (size_t)9 << 20;
	const struct rlimit small = { 1 << 20, RLIM_INFINITY };
	struct rlimit before;
	char *bytes = malloc(size);
	struct tenon_slice part = { bytes, size };
	struct stat st;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'x', size);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(file_write(in_folder("large"), &part, 1), -TENON_E_IO);
	assert_error_has("cannot write");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(count_names("large"), 0);
	assert_int_equal(file_write(in_folder("large"), &part, 1), 0);
	assert_int_equal(stat(in_folder("large"), &st), 0);
	assert_int_equal(st.st_size, size);
	free(bytes);
}

static void a_link_leads_to_the_file_that_is_written(void **state)
{
	const struct tenon_slice part = tenon_slice_of("text");
	int fd;

	(void)state;
	/* to none yet */
	assert_int_equal(symlink("made", in_folder("dangling")), 0);
	write_text("dangling", "new");
	assert_holds("made", "new");
	/* to one that is open beside another of its folder: at its offset */
	write_text("first", "1");
	fd = open(in_folder("first"), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(symlink("made", in_folder("link")), 0);
	write_text("link", "again");
	assert_holds("made", "again");
	close(fd);
	/* a name alone is one of the current folder */
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(file_write("made", &part, 1), 0);
	assert_holds("made", "text");
	/* to what takes nothing */
	assert_int_equal(symlink("/dev/full", in_folder("full")), 0);
	assert_int_equal(file_write(in_folder("full"), &part, 1), -TENON_E_IO);
	assert_error_has("cannot write");
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
		cmocka_unit_test(a_large_file_is_written_whole_or_not_at_all),
		cmocka_unit_test(a_link_leads_to_the_file_that_is_written),
		cmocka_unit_test(what_a_writer_is_at_work_on_stays),
		cmocka_unit_test(writers_at_the_same_time_all_succeed),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
