/* SPDX-License-Identifier: MIT */
/* The disk cache: keys, damaged entries, folders that cannot be written. */
#include "suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disk_cache.h"

static char root[512], kind[528];

static struct disk_cache_key key_of(const char *a, const char *b)
{
	const struct tenon_slice parts[] = { tenon_slice_of(a), tenon_slice_of(b) };
	struct disk_cache_key key;

	disk_cache_key(parts, 2, &key);
	return key;
}

/* the one entry there is; "" for none */
static void find_entry(char *path, size_t room)
{
	DIR *d = opendir(kind);
	struct dirent *e;
	int count = 0;

	*path = 0;
	while (d && (e = readdir(d)))
		if (*e->d_name != '.') {
			snprintf(path, room, "%s/%s", kind, e->d_name);
			count++;
		}
	if (d)
		closedir(d);
	assert_true(count < 2);
}

static int make_root(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(root, sizeof(root), "%s/cache-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(root));
	snprintf(kind, sizeof(kind), "%s/sort", root);
	setenv("TENON_CACHE_DIR", root, 1);
	return 0;
}

static int remove_root(void **state)
{
	char path[1024];

	(void)state;
	find_entry(path, sizeof(path));
	if (*path)
		unlink(path);
	rmdir(kind);
	rmdir(root);
	return 0;
}

static bool get(const struct disk_cache_key *key, const char *want)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	bool there = disk_cache_get("sort", key, &b);

	if (there) {
		assert_int_equal(b.size, strlen(want));
		assert_memory_equal(b.data, want, b.size);
	} else {
		assert_int_equal(b.size, 0);
		/* a cache that has nothing is no failure */
		assert_string_equal(tenon_error_message(), "");
	}
	tenon_buffer_fini(&b);
	return there;
}

static void put(const struct disk_cache_key *key, const char *text)
{
	disk_cache_put("sort", key, tenon_slice_of(text));
}

static void what_was_put_is_got_by_its_key_alone(void **state)
{
	struct disk_cache_key key = key_of("program", "device 1"),
			      other = key_of("program", "device 2");
	struct stat st;
	char path[1024];

	(void)state;
	assert_false(get(&key, ""));
	put(&key, "compiled");
	assert_true(get(&key, "compiled"));
	assert_false(get(&other, ""));
	/* put again, it is replaced */
	put(&key, "compiled better");
	assert_true(get(&key, "compiled better"));
	find_entry(path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	/* nobody else's business */
	assert_int_equal(st.st_mode & 077, 0);
}

static void parts_of_a_key_do_not_run_into_each_other(void **state)
{
	struct disk_cache_key a = key_of("ab", "c"), b = key_of("a", "bc"), c = key_of("ab", "c");

	(void)state;
	assert_memory_not_equal(&a, &b, sizeof(a));
	assert_memory_equal(&a, &c, sizeof(a));
}

/* Change an entry: cut it to @size bytes, or flip a bit of byte @at. */
static void damage(long size, long at)
{
	char path[1024];
	FILE *f;
	int c;

	find_entry(path, sizeof(path));
	assert_true(*path);
	if (size >= 0) {
		assert_int_equal(truncate(path, size), 0);
		return;
	}
	f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, at, SEEK_SET);
	c = fgetc(f);
	fseek(f, at, SEEK_SET);
	fputc(c ^ 1, f);
	fclose(f);
}

static void a_damaged_entry_counts_as_absent_and_goes(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	char path[1024];
	long i, size = 8 + DISK_CACHE_KEY + 8 + DISK_CACHE_KEY + 8;

	(void)state;
	/* every byte matters, and every length but the right one */
	for (i = 0; i < size; i++) {
		put(&key, "compiled");
		damage(-1, i);
		assert_false(get(&key, ""));
		find_entry(path, sizeof(path));
		assert_string_equal(path, "");
		put(&key, "compiled");
		damage(i, 0);
		assert_false(get(&key, ""));
	}
	put(&key, "compiled");
	assert_true(get(&key, "compiled"));
}

static void an_entry_under_another_name_is_not_believed(void **state)
{
	struct disk_cache_key a = key_of("p", "1"), b = key_of("p", "2");
	char from[1024], to[1024], name[2 * DISK_CACHE_KEY + 1];
	int i;

	(void)state;
	put(&a, "for the first");
	find_entry(from, sizeof(from));
	for (i = 0; i < DISK_CACHE_KEY; i++)
		snprintf(name + 2 * i, 3, "%02x", b.bytes[i]);
	snprintf(to, sizeof(to), "%s/%s", kind, name);
	assert_int_equal(rename(from, to), 0);
	assert_false(get(&b, ""));
}

static void a_cache_that_cannot_be_written_is_no_failure(void **state)
{
	static char long_path[PATH_MAX + 1];
	struct disk_cache_key key = key_of("p", "d");

	(void)state;
	setenv("TENON_CACHE_DIR", "/proc/no/such/place", 1);
	put(&key, "compiled");
	assert_false(get(&key, ""));
	/* nor is one whose folder would have too long a path */
	memset(long_path, 'n', sizeof(long_path) - 1);
	*long_path = '/';
	setenv("TENON_CACHE_DIR", long_path, 1);
	put(&key, "compiled");
	assert_false(get(&key, ""));
	/* switched off */
	setenv("TENON_CACHE_DIR", "", 1);
	put(&key, "compiled");
	assert_false(get(&key, ""));
	setenv("TENON_CACHE_DIR", root, 1);
}

static void more_than_the_limit_is_not_kept(void **state)
{
	struct disk_cache_key key = key_of("p", "d"), other = key_of("p", "e");
	const size_t size = (1 << 20) - 32;
	char *text = malloc(size + 1), path[1024];

	(void)state;
	memset(text, 'x', size);
	text[size] = 0;
	setenv("TENON_CACHE_SIZE", "1", 1);
	/* with its head it is too large by a few bytes; the next one makes the other go */
	put(&key, text);
	assert_false(get(&key, ""));
	text[size - 50] = 0;
	put(&key, text);
	assert_true(get(&key, text));
	put(&other, "small");
	assert_false(get(&key, ""));
	assert_true(get(&other, "small"));
	setenv("TENON_CACHE_SIZE", "0", 1);
	put(&key, "small");
	assert_false(get(&key, ""));
	unsetenv("TENON_CACHE_SIZE");
	find_entry(path, sizeof(path));
	assert_true(*path);
	free(text);
}

static void an_entry_that_was_read_was_used(void **state)
{
	const struct timespec long_ago[2] = { { 1000000, 0 }, { 1000000, 0 } };
	struct disk_cache_key key = key_of("p", "d");
	struct stat st;
	char path[1024];

	(void)state;
	put(&key, "compiled");
	find_entry(path, sizeof(path));
	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	assert_true(get(&key, "compiled"));
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_mtim.tv_sec > long_ago[1].tv_sec);
}

static void without_a_place_of_its_own_it_lies_in_the_users_cache(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	char path[1024];

	(void)state;
	unsetenv("TENON_CACHE_DIR");
	setenv("XDG_CACHE_HOME", root, 1);
	put(&key, "compiled");
	assert_true(get(&key, "compiled"));
	snprintf(kind, sizeof(kind), "%s/tenon/sort", root);
	find_entry(path, sizeof(path));
	assert_true(*path);
	unlink(path);
	rmdir(kind);
	snprintf(kind, sizeof(kind), "%s/tenon", root);
	rmdir(kind);
	/* a relative one is not looked at */
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", "", 1);
	put(&key, "compiled");
	assert_false(get(&key, ""));
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	put(&key, "compiled");
	assert_false(get(&key, ""));
}

/* ---- entries and folders that other users could have written */

#define ANOTHER_USER 65534

static bool is_root(void)
{
	if (!geteuid())
		return true;
	print_message("only root can give files to another user\n");
	return false;
}

/* The entry in place does not count, and the next one that is put takes its place. */
static void assert_replaced(const struct disk_cache_key *key)
{
	struct stat st;
	char path[1024];

	assert_false(get(key, ""));
	put(key, "made anew");
	assert_true(get(key, "made anew"));
	find_entry(path, sizeof(path));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 077, 0);
	assert_int_equal(st.st_uid, geteuid());
}

static void an_entry_that_others_can_write_is_made_anew(void **state)
{
	static const mode_t modes[] = { 0602, 0666, 0777 };
	struct disk_cache_key key = key_of("p", "d");
	char path[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		put(&key, "compiled");
		find_entry(path, sizeof(path));
		assert_int_equal(chmod(path, modes[i]), 0);
		assert_replaced(&key);
	}
}

static void an_entry_of_another_user_is_made_anew(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	char path[1024];

	(void)state;
	if (!is_root())
		skip();
	put(&key, "compiled");
	find_entry(path, sizeof(path));
	assert_int_equal(chown(path, ANOTHER_USER, ANOTHER_USER), 0);
	assert_replaced(&key);
	/* a group that is not its owner's own */
	put(&key, "compiled");
	assert_int_equal(chown(path, (uid_t)-1, ANOTHER_USER), 0);
	assert_int_equal(chmod(path, 0660), 0);
	assert_replaced(&key);
}

static void a_folder_that_others_can_write_is_closed_to_them(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	struct stat st;

	(void)state;
	put(&key, "compiled");
	assert_int_equal(chmod(kind, 0777), 0);
	/* the entry itself was never theirs to write */
	assert_true(get(&key, "compiled"));
	assert_int_equal(stat(kind, &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
}

static void a_folder_of_another_user_is_left_alone(void **state)
{
	struct disk_cache_key key = key_of("p", "d"), other = key_of("p", "e");
	char path[1024];

	(void)state;
	if (!is_root())
		skip();
	put(&key, "compiled");
	assert_int_equal(chown(kind, ANOTHER_USER, ANOTHER_USER), 0);
	assert_false(get(&key, ""));
	put(&other, "compiled");
	/* neither removed nor joined by another */
	find_entry(path, sizeof(path));
	assert_true(*path);
	assert_false(get(&other, ""));
	assert_int_equal(chown(kind, 0, 0), 0);
	assert_true(get(&key, "compiled"));
}

static void no_folder_is_made_in_one_of_another_user(void **state)
{
	struct disk_cache_key key = key_of("p", "d");

	(void)state;
	if (!is_root())
		skip();
	/* root with the home of a user, as sudo may have it */
	assert_int_equal(chown(root, ANOTHER_USER, ANOTHER_USER), 0);
	put(&key, "compiled");
	assert_int_equal(access(kind, F_OK), -1);
}

static void what_is_no_file_is_replaced(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	char path[1024], victim[1024], text[16] = "";
	FILE *f;

	(void)state;
	snprintf(victim, sizeof(victim), "%s/victim", root);
	f = fopen(victim, "w");
	assert_non_null(f);
	fputs("precious", f);
	fclose(f);
	put(&key, "compiled");
	find_entry(path, sizeof(path));

	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(victim, path), 0);
	assert_replaced(&key);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/no/such/file", path), 0);
	assert_replaced(&key);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_replaced(&key);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_replaced(&key);

	f = fopen(victim, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "precious");
	unlink(victim);
}

static void a_link_to_an_entry_is_not_followed(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	char path[1024], elsewhere[1024];

	(void)state;
	put(&key, "compiled");
	find_entry(path, sizeof(path));
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", root);
	assert_int_equal(rename(path, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, path), 0);
	assert_replaced(&key);
	assert_int_equal(unlink(elsewhere), 0);
}

static long peak_kib(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void a_huge_entry_is_not_read(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	const off_t size = 1000 << 20;
	char path[1024];
	long before;

	(void)state;
	put(&key, "compiled");
	find_entry(path, sizeof(path));
	before = peak_kib();
	/* with the head of a true one */
	assert_int_equal(truncate(path, size), 0);
	assert_replaced(&key);
	/* and with nothing in it */
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(truncate(path, size), 0);
	assert_replaced(&key);
	assert_true(peak_kib() - before < 100 << 10);
	/* more than any kernel has */
	find_entry(path, sizeof(path));
	assert_int_equal(truncate(path, ((off_t)1 << 30) + 100), 0);
	assert_replaced(&key);
}

static void more_than_an_entry_may_have_is_not_kept(void **state)
{
	struct disk_cache_key key = key_of("p", "d");

	(void)state;
	disk_cache_put("sort", &key, (struct tenon_slice){ "x", (size_t)1 << 30 });
	assert_false(get(&key, ""));
}

static void a_cache_may_lie_in_the_current_folder(void **state)
{
	struct disk_cache_key key = key_of("p", "d");
	char path[1024];

	(void)state;
	assert_int_equal(chdir(root), 0);
	setenv("TENON_CACHE_DIR", "here", 1);
	put(&key, "compiled");
	assert_true(get(&key, "compiled"));
	snprintf(kind, sizeof(kind), "%s/here/sort", root);
	find_entry(path, sizeof(path));
	assert_true(*path);
	unlink(path);
	rmdir(kind);
	snprintf(kind, sizeof(kind), "%s/here", root);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_put_is_got_by_its_key_alone, make_root,
						remove_root),
		cmocka_unit_test(parts_of_a_key_do_not_run_into_each_other),
		cmocka_unit_test_setup_teardown(more_than_an_entry_may_have_is_not_kept, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_cache_may_lie_in_the_current_folder, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_damaged_entry_counts_as_absent_and_goes,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(an_entry_under_another_name_is_not_believed,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(more_than_the_limit_is_not_kept, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(an_entry_that_was_read_was_used, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_cache_that_cannot_be_written_is_no_failure,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(
			without_a_place_of_its_own_it_lies_in_the_users_cache, make_root,
			remove_root),
		cmocka_unit_test_setup_teardown(an_entry_that_others_can_write_is_made_anew,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(an_entry_of_another_user_is_made_anew, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_folder_that_others_can_write_is_closed_to_them,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(a_folder_of_another_user_is_left_alone, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(no_folder_is_made_in_one_of_another_user, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_replaced, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_link_to_an_entry_is_not_followed, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_huge_entry_is_not_read, make_root, remove_root),
	};

	return cmocka_run_group_tests_name("compiled kernels on disk", tests, NULL, NULL);
}
