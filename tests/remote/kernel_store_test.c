/* SPDX-License-Identifier: MIT */
/* Kernels that a server keeps of a session's folder and gives to other sessions: uploaded code made what is in the folder. */
#include "tests/unit/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rpc/server/file_cache.h"
#include "rpc/server/folder.h"
#include "rpc/server/kernel_store.h"

/* names of files in the cache, and of kernels */
#define FILE_A	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define FILE_B	 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define KERNEL_0 "00000000000000000000000000000000"
#define KERNEL_1 "11111111111111111111111111111111"

static struct {
	char folder[2000];
	struct file_cache cache;
} t;

static const char *path_of(const char *name)
{
	static char path[4][4200];
	static unsigned int next;
	char *at = path[next++ % 4];

	snprintf(at, sizeof(path[0]), "%s/%s", t.folder, name);
	return at;
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void write_text(const char *name, const char *text)
{
	write_bytes(path_of(name), text, strlen(text));
}

static void assert_text(const char *name, const char *text)
{
	char found[64] = "";
	FILE *f = fopen(path_of(name), "r");

	assert_non_null(f);
	found[fread(found, 1, sizeof(found) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(found, text);
}

static bool is_there(const char *name)
{
	struct stat st;

	return !lstat(path_of(name), &st);
}

/* A cache of files with a file, and the folders of two sessions: one that built kernels, one that wants them. */
static int setup(void **state)
{
	static const char *const folders[] = { "built", "built/tenon", "built/tenon/opencl",
					       "built/tenon/vulkan", "wants" };
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX + 80];

	snprintf(t.folder, sizeof(t.folder), "%s/kernels-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(t.folder));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(mkdir(path_of(folders[i]), 0700), 0);
	file_cache_init(&t.cache, t.folder, 4000);
	assert_true(file_cache_make(&t.cache));
	assert_true(kernel_store_make(&t.cache));
	snprintf(path, sizeof(path), "%s/" FILE_A, t.cache.path);
	write_bytes(path, "a", 1);
	return 0;
}

static int teardown(void **state)
{
	folder_remove(t.folder);
	return 0;
}

static void keep(const char *hash)
{
	kernel_store_keep(&t.cache, hash, path_of("built"));
}

static void take(const char *hash)
{
	int fd = open(path_of("wants"), O_RDONLY | O_DIRECTORY);

	assert_true(fd >= 0);
	kernel_store_take(t.cache.path, hash, fd);
	close(fd);
}

static void kernels_of_a_file_are_given_to_the_next_session(void **state)
{
	write_text("built/tenon/opencl/" KERNEL_0, "one");
	write_text("built/tenon/vulkan/" KERNEL_1, "two");
	assert_false(kernel_store_has(t.cache.path, FILE_A));
	keep(FILE_A);
	assert_true(kernel_store_has(t.cache.path, FILE_A));
	take(FILE_A);
	assert_text("wants/tenon/opencl/" KERNEL_0, "one");
	assert_text("wants/tenon/vulkan/" KERNEL_1, "two");
}

static void a_kernel_that_the_session_has_is_not_replaced(void **state)
{
	write_text("built/tenon/opencl/" KERNEL_0, "one");
	write_text("built/tenon/opencl/" KERNEL_1, "two");
	keep(FILE_A);
	assert_int_equal(mkdir(path_of("wants/tenon"), 0700), 0);
	assert_int_equal(mkdir(path_of("wants/tenon/opencl"), 0700), 0);
	write_text("wants/tenon/opencl/" KERNEL_0, "own");
	take(FILE_A);
	assert_text("wants/tenon/opencl/" KERNEL_0, "own");
	assert_text("wants/tenon/opencl/" KERNEL_1, "two");
}

static void what_is_no_kernel_is_not_kept(void **state)
{
	write_text("secret", "of the server");
	assert_int_equal(symlink(path_of("secret"), path_of("built/tenon/opencl/" KERNEL_0)), 0);
	assert_int_equal(mkfifo(path_of("built/tenon/opencl/" KERNEL_1), 0600), 0);
	write_text("built/tenon/opencl/name", "x");
	write_text("built/tenon/opencl/0000000000000000000000000000000G", "x");
	/* a folder that is a link */
	assert_int_equal(mkdir(path_of("elsewhere"), 0700), 0);
	write_text("elsewhere/" KERNEL_0, "of another");
	assert_int_equal(rmdir(path_of("built/tenon/vulkan")), 0);
	assert_int_equal(symlink(path_of("elsewhere"), path_of("built/tenon/vulkan")), 0);
	keep(FILE_A);
	take(FILE_A);
	assert_false(is_there("wants/tenon/opencl"));
	assert_false(is_there("wants/tenon/vulkan"));
}

static void kernels_without_room_are_kept_as_none(void **state)
{
	char many[1200];

	memset(many, 'x', sizeof(many));
	write_text("built/tenon/opencl/" KERNEL_0, "one");
	/* the store has a quarter of the cache */
	write_bytes(path_of("built/tenon/vulkan/" KERNEL_1), many, sizeof(many));
	keep(FILE_A);
	assert_true(kernel_store_has(t.cache.path, FILE_A));
	take(FILE_A);
	assert_false(is_there("wants/tenon/opencl"));
}

static void a_session_without_kernels_is_kept_as_one(void **state)
{
	char hash[SHA256_TEXT];

	folder_remove(path_of("built/tenon"));
	assert_true(kernel_store_next(&t.cache, "", hash));
	assert_string_equal(hash, FILE_A);
	keep(FILE_A);
	assert_true(kernel_store_has(t.cache.path, FILE_A));
	assert_false(kernel_store_next(&t.cache, "", hash));
}

static void kernels_of_a_file_that_left_the_cache_are_removed(void **state)
{
	write_text("built/tenon/opencl/" KERNEL_0, "one");
	keep(FILE_B);
	assert_true(kernel_store_has(t.cache.path, FILE_B));
	keep(FILE_A);
	assert_false(kernel_store_has(t.cache.path, FILE_B));
	assert_true(kernel_store_has(t.cache.path, FILE_A));
}

static void without_its_folder_nothing_is_stored_or_found(void **state)
{
	char hash[SHA256_TEXT], path[PATH_MAX + 80];

	take(FILE_B);
	snprintf(path, sizeof(path), "%s/kernels", t.cache.path);
	assert_int_equal(rmdir(path), 0);
	keep(FILE_A);
	assert_false(kernel_store_has(t.cache.path, FILE_A));
	folder_remove(t.cache.path);
	keep(FILE_A);
	assert_false(kernel_store_next(&t.cache, "", hash));
	assert_false(kernel_store_make(&t.cache));
	assert_false(is_there("wants/tenon"));
}

/* ---- files of the store that are damaged */

/* as in the file */
struct entry {
	uint64_t kind;
	uint64_t size;
	char name[32];
	uint64_t end;
};

/* A store's file: a whole kernel, then an entry with so many bytes behind it. */
static void write_store(const struct entry *second, size_t size)
{
	struct entry first = { .size = 3, .name = KERNEL_0 };
	char bytes[200] = "", path[PATH_MAX + 80];

	memcpy(bytes, &first, sizeof(first));
	memcpy(bytes + sizeof(first), "one", 3);
	memcpy(bytes + sizeof(first) + 3, second, sizeof(*second));
	snprintf(path, sizeof(path), "%s/kernels/" FILE_A, t.cache.path);
	write_bytes(path, bytes, sizeof(first) + 3 + size);
}

static void a_damaged_entry_ends_the_kernels(void **state)
{
	static const struct entry good = { .kind = 1, .size = 8, .name = KERNEL_1 };
	struct entry wrong[4] = { good, good, good, good };
	size_t i;

	wrong[0].kind = 3;
	wrong[1].end = 1;
	wrong[2].name[31] = '/';
	wrong[3].name[0] = '\0';
	for (i = 0; i < 4; i++) {
		write_store(&wrong[i], sizeof(good) + 8);
		take(FILE_A);
		assert_text("wants/tenon/opencl/" KERNEL_0, "one");
		assert_false(is_there("wants/tenon/vulkan"));
		folder_remove(path_of("wants/tenon"));
	}
	write_store(&good, sizeof(good) - 1);
	take(FILE_A);
	assert_false(is_there("wants/tenon/vulkan"));
	/* a kernel that is cut is for the cache of compiled kernels to refuse */
	write_store(&good, sizeof(good) + 7);
	take(FILE_A);
	write_store(&good, sizeof(good) + 8);
	folder_remove(path_of("wants/tenon"));
	take(FILE_A);
	assert_true(is_there("wants/tenon/vulkan/" KERNEL_1));
}

static void a_store_that_is_a_link_is_not_read(void **state)
{
	char path[PATH_MAX + 80];

	write_store(&(struct entry){ 0 }, 0);
	snprintf(path, sizeof(path), "%s/kernels/" FILE_A, t.cache.path);
	assert_int_equal(rename(path, path_of("moved")), 0);
	assert_int_equal(symlink(path_of("moved"), path), 0);
	take(FILE_A);
	assert_false(is_there("wants/tenon"));
}

static void a_number_is_the_first_digits_of_a_name(void **state)
{
	assert_true(kernel_store_number(FILE_A) == UINT64_C(0xaaaaaaaaaaaaaaaa));
	assert_true(kernel_store_number(KERNEL_0) == 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(kernels_of_a_file_are_given_to_the_next_session),
		CASE(a_kernel_that_the_session_has_is_not_replaced),
		CASE(what_is_no_kernel_is_not_kept),
		CASE(kernels_without_room_are_kept_as_none),
		CASE(a_session_without_kernels_is_kept_as_one),
		CASE(kernels_of_a_file_that_left_the_cache_are_removed),
		CASE(without_its_folder_nothing_is_stored_or_found),
		CASE(a_damaged_entry_ends_the_kernels),
		CASE(a_store_that_is_a_link_is_not_read),
		cmocka_unit_test(a_number_is_the_first_digits_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
