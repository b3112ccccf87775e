/* SPDX-License-Identifier: MIT */
/* Files of earlier sessions: what is kept of a folder that uploaded code made, and the quota. */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rpc/server/file_cache.h"
#include "rpc/server/folder.h"
#include "rpc/server/kernel_store.h"

static struct {
	char folder[4000];
	char session[4096];
	struct file_cache cache;
} t;

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(t.folder, sizeof(t.folder), "%s/cache-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(t.folder));
	snprintf(t.session, sizeof(t.session), "%s/session", t.folder);
	assert_int_equal(mkdir(t.session, 0700), 0);
	file_cache_init(&t.cache, t.folder, 1000);
	assert_true(file_cache_make(&t.cache));
	assert_true(file_cache_make(&t.cache));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(t.folder);
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[4200];

	snprintf(path, sizeof(path), "%s/%s", t.session, name);
	return path;
}

/* Write @size times @byte; returns the hash in hexadecimal digits. */
static const char *write_file(const char *name, char byte, size_t size, mode_t mode)
{
	static char text[SHA256_TEXT];
	struct sha256 hash;
	FILE *f = fopen(path_of(name), "w");
	size_t i;

	assert_non_null(f);
	sha256_init(&hash);
	for (i = 0; i < size; i++) {
		fputc(byte, f);
		sha256_add(&hash, &byte, 1);
	}
	fclose(f);
	assert_int_equal(chmod(path_of(name), mode), 0);
	sha256_text(&hash, text);
	return text;
}

static bool has(const char *hash, uint64_t size)
{
	int fd = file_cache_open(t.cache.path, hash, size);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static unsigned int files_kept(void)
{
	DIR *dir = opendir(t.cache.path);
	struct dirent *entry;
	unsigned int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += *entry->d_name != '.';
	closedir(dir);
	return n;
}

static void a_file_is_found_by_hash_and_size(void **state)
{
	char hash[SHA256_TEXT];

	(void)state;
	strcpy(hash, write_file("a.so", 'a', 10, 0700));
	file_cache_keep(&t.cache, t.session);
	assert_true(has(hash, 10));
	assert_false(has(hash, 11));
	hash[0] = hash[0] == '0' ? '1' : '0';
	assert_false(has(hash, 10));
}

static void the_copy_does_not_change_with_the_file(void **state)
{
	char hash[SHA256_TEXT], byte;
	int fd;

	(void)state;
	strcpy(hash, write_file("a", 'a', 1, 0700));
	/* a descriptor that uploaded code passed to another process */
	fd = open(path_of("a"), O_RDWR);
	assert_true(fd >= 0);
	file_cache_keep(&t.cache, t.session);
	assert_int_equal(pwrite(fd, "b", 1, 0), 1);
	close(fd);
	fd = file_cache_open(t.cache.path, hash, 1);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'a');
	close(fd);
}

#ifdef CONFIG_KERNEL_CACHE
static void a_file_whose_kernels_cannot_be_stored_does_not_end_the_search(void **state)
{
	char first[SHA256_TEXT], second[SHA256_TEXT], third[SHA256_TEXT];

	(void)state;
	write_file("a", 'a', 1, 0700);
	write_file("b", 'b', 1, 0700);
	write_file("c", 'c', 1, 0700);
	file_cache_keep(&t.cache, t.session);
	assert_true(kernel_store_make(&t.cache));
	assert_true(kernel_store_next(&t.cache, "", first));
	assert_true(kernel_store_next(&t.cache, first, second));
	assert_true(kernel_store_next(&t.cache, second, third));
	assert_string_not_equal(first, second);
	assert_string_not_equal(first, third);
	assert_string_not_equal(second, third);
	assert_false(kernel_store_next(&t.cache, third, third));
	/* those that are stored are left out */
	kernel_store_keep(&t.cache, first, t.session);
	assert_true(kernel_store_next(&t.cache, "", first));
	assert_string_equal(first, second);
}
#endif

static void names_that_are_no_hashes_are_in_no_cache(void **state)
{
	char dots[SHA256_TEXT], hash[SHA256_TEXT], from[PATH_MAX + 80], to[PATH_MAX + 80];

	(void)state;
	/* as long as a hash */
	snprintf(dots, sizeof(dots), "../session/%053d", 0);
	strcpy(hash, write_file(dots + strlen("../session/"), 's', 5, 0700));
	assert_false(has(dots, 5));
	assert_false(has("", 5));
	file_cache_keep(&t.cache, t.session);
	snprintf(from, sizeof(from), "%s/%s", t.cache.path, hash);
	hash[0] = 'G';
	snprintf(to, sizeof(to), "%s/%s", t.cache.path, hash);
	assert_int_equal(rename(from, to), 0);
	assert_false(has(hash, 5));
}

static void what_is_no_plain_file_of_the_client_is_skipped(void **state)
{
	char target[4200];

	(void)state;
	snprintf(target, sizeof(target), "%s/outside", t.folder);
	write_file("../outside", 'o', 5, 0600);
	assert_int_equal(symlink(target, path_of("link")), 0);
	assert_int_equal(mkfifo(path_of("fifo"), 0700), 0);
	assert_int_equal(mkdir(path_of("folder"), 0700), 0);
	write_file("folder/inside", 'i', 5, 0700);
	write_file(".hidden", 'h', 5, 0700);
	write_file("empty", 'e', 0, 0700);
	write_file("large", 'l', 1001, 0700);
	write_file("from the cache", 'c', 5, 0500);
	file_cache_keep(&t.cache, t.session);
	assert_int_equal(files_kept(), 0);
}

static void the_oldest_are_removed_for_newer_ones(void **state)
{
	char first[SHA256_TEXT], second[SHA256_TEXT], third[SHA256_TEXT];
	const struct timespec pause = { 0, 20000000 };

	(void)state;
	strcpy(first, write_file("a", '1', 400, 0700));
	file_cache_keep(&t.cache, t.session);
	nanosleep(&pause, NULL);
	strcpy(second, write_file("a", '2', 400, 0700));
	file_cache_keep(&t.cache, t.session);
	assert_true(has(first, 400) && has(second, 400));
	nanosleep(&pause, NULL);
	strcpy(third, write_file("a", '3', 400, 0700));
	file_cache_keep(&t.cache, t.session);
	assert_false(has(first, 400));
	assert_true(has(second, 400) && has(third, 400));
	assert_int_equal(files_kept(), 2);
}

static void a_session_fills_the_quota_once(void **state)
{
	char name[8], hashes[20][SHA256_TEXT];
	struct dirent *entry;
	DIR *dir;
	int i;

	(void)state;
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%d", i);
		strcpy(hashes[i], write_file(name, (char)('a' + i), 400, 0700));
	}
	file_cache_keep(&t.cache, t.session);
	assert_int_equal(files_kept(), 2);
	/* the first two that are found stay: later ones of the same session do not push them out */
	dir = opendir(t.session);
	assert_non_null(dir);
	for (i = 0; i < 2 && (entry = readdir(dir));)
		if (*entry->d_name != '.' && ++i)
			assert_true(has(hashes[atoi(entry->d_name)], 400));
	closedir(dir);
}

static void folders_that_are_missing_are_no_files(void **state)
{
	char missing[4200];

	(void)state;
	snprintf(missing, sizeof(missing), "%s/missing", t.folder);
	file_cache_keep(&t.cache, missing);
	assert_int_equal(files_kept(), 0);
	file_cache_init(&t.cache, missing, 1);
	assert_false(file_cache_make(&t.cache));
	file_cache_keep(&t.cache, t.session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_found_by_hash_and_size, setup, teardown),
		cmocka_unit_test_setup_teardown(the_copy_does_not_change_with_the_file, setup,
						teardown),
#ifdef CONFIG_KERNEL_CACHE
		cmocka_unit_test_setup_teardown(
			a_file_whose_kernels_cannot_be_stored_does_not_end_the_search, setup,
			teardown),
#endif
		cmocka_unit_test_setup_teardown(names_that_are_no_hashes_are_in_no_cache, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_no_plain_file_of_the_client_is_skipped,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_oldest_are_removed_for_newer_ones, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_session_fills_the_quota_once, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_that_are_missing_are_no_files, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
