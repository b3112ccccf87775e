/* SPDX-License-Identifier: MIT */
/*
 * Files are read, written, kept and trusted, once for each system call that this makes, with that call failing: the answer is
 * right or an error that says so, a file is whole, what others can write is never trusted, and no descriptor is left.
 */
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disk_cache.h"
#include "lib/disk_cache_trim.h"
#include "lib/elf.h"
#include "lib/file_map.h"
#include "lib/file_trust.h"

/* ---- calls that fail: the linker's --wrap puts these before the C library's (Kbuild) */

/* in place of an errno: a byte less is read or written than there is */
#define SHORT (-1)

static long seen, failing;
static int failure;
static bool watched;
static bool retried; /* what failed moves bytes, and has to be called again */

static void begin(void)
{
	seen = 0;
	watched = true;
	retried = false;
}

static bool fails(void)
{
	if (!watched || ++seen != failing || failure == SHORT)
		return false;
	errno = failure;
	return true;
}

/* How much of @size bytes a call may move; 0: it fails. */
static size_t moved(size_t size)
{
	if (fails()) {
		retried = failure == EINTR;
		return 0;
	}
	if (!watched || seen != failing || failure != SHORT || size < 2)
		return size;
	retried = true;
	return size - 1;
}

static void cut(void);

#define CALL(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails() ? (type)-1 : __real_##name arguments;                               \
	}

#define MOVE(name, pointer, last, arguments)                                                       \
	ssize_t __real_##name(int fd, pointer p, size_t size last);                                \
	ssize_t __wrap_##name(int fd, pointer p, size_t size last);                                \
	ssize_t __wrap_##name(int fd, pointer p, size_t size last)                                 \
	{                                                                                          \
		const size_t part = moved(size);                                                   \
                                                                                                   \
		return size && !part ? -1 : __real_##name arguments;                               \
	}
#define COMMA ,

MOVE(read, void *, , (fd, p, part))
MOVE(write, const void *, , (fd, p, part))

/* without the disk's time */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	return fails() ? -1 : 0;
}

CALL(int, flock, (int fd, int what), (fd, what))
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode))
CALL(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CALL(int, rename, (const char *from, const char *to), (from, to))
CALL(int, renameat, (int at, const char *from, int to_at, const char *to), (at, from, to_at, to))
CALL(ssize_t, readlinkat, (int at, const char *path, char *to, size_t room), (at, path, to, room))
CALL(int, unlinkat, (int at, const char *path, int flags), (at, path, flags))

/* it fails and the descriptor is closed all the same */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	const int err = __real_close(fd);

	return fails() ? -1 : err;
}

#define POINTER(type, name, parameters, arguments)                                                 \
	type *__real_##name parameters;                                                            \
	type *__wrap_##name parameters;                                                            \
	type *__wrap_##name parameters                                                             \
	{                                                                                          \
		return fails() ? NULL : __real_##name arguments;                                   \
	}

POINTER(void, malloc, (size_t size), (size))
POINTER(void, realloc, (void *old, size_t size), (old, size))
POINTER(char, strdup, (const char *text), (text))
POINTER(char, strndup, (const char *text, size_t size), (text, size))
POINTER(char, realpath, (const char *path, char *to), (path, to))
POINTER(char, getcwd, (char *to, size_t room), (to, room))
POINTER(DIR, opendir, (const char *path), (path))
POINTER(DIR, fdopendir, (int fd), (fd))
#ifdef __GLIBC__
/* whose names for offsets of 64 bits are others */
MOVE(pread64, void *, COMMA off64_t offset, (fd, p, part, offset))
CALL(int, fstat64, (int fd, struct stat64 *st), (fd, st))
CALL(int, lstat64, (const char *path, struct stat64 *st), (path, st))

/* who makes the file shorter before it is looked for data */
static bool is_cut;

off64_t __real_lseek64(int fd, off64_t offset, int from);
off64_t __wrap_lseek64(int fd, off64_t offset, int from);
off64_t __wrap_lseek64(int fd, off64_t offset, int from)
{
	if (is_cut)
		cut();
	return fails() ? -1 : __real_lseek64(fd, offset, from);
}

CALL(void *, mmap64, (void *to, size_t size, int access, int flags, int fd, off64_t offset),
     (to, size, access, flags, fd, offset))
CALL(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
CALL(int, openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode))
CALL(int, mkostemp64, (char *path, int flags), (path, flags))
CALL(int, fcntl64, (int fd, int what, int from), (fd, what, from))
CALL(int, fstatat64, (int at, const char *path, struct stat64 *st, int flags),
     (at, path, st, flags))
#endif

/* ---- what is done */

#define OLD "what was there before"
#define NEW "first part, second part"

static char folder[PATH_MAX], path[PATH_MAX + 64], open_folder[PATH_MAX + 64];

static void put_text(const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void cut(void)
{
	assert_int_equal(truncate(path, 0), 0);
}

static bool holds(const char *text)
{
	char got[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof(got) - 1);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) && !strcmp(got, text);
}

/* Ends the failures. Returns whether a status may be that: one with a message, or 0. */
static bool settled(int err)
{
	watched = false;
	if (retried && err)
		return false;
	return !err || (err < 0 && *tenon_error_message());
}

static const struct tenon_slice parts[] = { { NEW, 12 }, { &NEW[12], sizeof(NEW) - 13 } };

/* what writers left in the folder is removed, so that each call fails where it did not the time before */
static int remove_temporaries(void)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (strstr(e->d_name, ".tenon-")) {
			assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
			n++;
		}
	closedir(d);
	return n;
}

/* Beside @left files of writers that were killed, which may stay when their removal fails. */
static bool writes_beside(int left)
{
	bool good;
	int err;

	put_text(OLD);
	begin();
	err = file_write(path, parts, 2);
	good = settled(err) && (holds(NEW) || (err && holds(OLD)));
	return remove_temporaries() <= left && good;
}

static bool writes(void)
{
	return writes_beside(0);
}

/* Beside what a killed writer left. */
static bool writes_beside_another(void)
{
	char left[PATH_MAX + 128];
	int fd;

	snprintf(left, sizeof(left), "%s.tenon-ABCDEF", path);
	fd = open(left, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	return writes_beside(1);
}

/* The file that a link leads to. */
static bool writes_through_a_link(void)
{
	char link[PATH_MAX + 128];
	int err;

	put_text(OLD);
	snprintf(link, sizeof(link), "%s/link", folder);
	unlink(link);
	assert_int_equal(symlink("file", link), 0);
	begin();
	err = file_write(link, parts, 2);
	/* a link that cannot be looked at is replaced as a file is */
	return settled(err) && (holds(NEW) || holds(OLD));
}

/* What is no file is written where it is. */
static bool writes_straight(void)
{
	char link[PATH_MAX + 128];
	struct stat st;

	snprintf(link, sizeof(link), "%s/straight", folder);
	unlink(link);
	assert_int_equal(symlink("/dev/null", link), 0);
	begin();
	return settled(file_write(link, parts, 2)) && !stat("/dev/null", &st) &&
	       S_ISCHR(st.st_mode);
}

/* A device that takes nothing: an error, whatever else fails. */
static bool writes_to_a_full_device(void)
{
	char link[PATH_MAX + 128];
	bool good;
	int err;

	snprintf(link, sizeof(link), "%s/full", folder);
	unlink(link);
	assert_int_equal(symlink("/dev/full", link), 0);
	begin();
	err = file_write(link, parts, 2);
	watched = false;
	good = err < 0 && *tenon_error_message();
	tenon_error_clear();
	return good;
}

static bool replaces(void)
{
	int err;

	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	begin();
	err = file_replace(path, parts, 2);
	return settled(err) && (holds(NEW) || (err && holds("")));
}

static bool reads(void)
{
	struct tenon_slice bytes;
	bool good;
	int err;

	put_text(OLD);
	begin();
	err = file_map_open(path, &bytes);
	good = settled(err) &&
	       (err ? !bytes.size
		    : bytes.size == strlen(OLD) && !memcmp(bytes.data, OLD, bytes.size));
	if (!err)
		file_map_close(&bytes);
	return good;
}

static bool reads_ends(void)
{
	struct tenon_slice bytes;
	bool good;
	int err;

	put_text(OLD);
	begin();
	err = file_map_ends(path, 4, 6, &bytes);
	good = settled(err) && (err || (bytes.size == 10 && !memcmp(bytes.data, OLD, 4) &&
					!memcmp(bytes.data + 4, &OLD[sizeof(OLD) - 7], 6)));
	if (!err)
		file_map_close(&bytes);
	return good;
}

/* Text, a hole, and text. */
static bool reads_around_a_hole(void)
{
	const off_t behind = 1 << 20;
	struct tenon_slice bytes;
	bool good;
	int err, fd;

	put_text(OLD);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, OLD, strlen(OLD), behind), strlen(OLD));
	close(fd);
	begin();
	err = file_map_open(path, &bytes);
	good = settled(err) && (err || (bytes.size == (size_t)behind + strlen(OLD) &&
					!memcmp(bytes.data, OLD, strlen(OLD)) &&
					!memcmp(bytes.data + behind, OLD, strlen(OLD))));
	if (!err)
		file_map_close(&bytes);
	return good;
}

static bool maps(void)
{
	struct tenon_slice bytes = { NULL, 0 };
	size_t size = 0;
	int err, fd;
	bool good;

	put_text(OLD);
	begin();
	err = file_open(path, &fd, &size);
	if (!err) {
		err = file_map(fd, path, size, &bytes);
		good = err ? !bytes.size : !memcmp(bytes.data, OLD, strlen(OLD));
		file_map_close(&bytes);
		watched = false;
		close(fd);
		return good && settled(err);
	}
	return settled(err) && fd == -1;
}

/* Before it is opened as a library: what cannot be looked at is left to the dynamic linker. */
static bool checks(void)
{
	bool inert;
	int err;

	put_text(OLD);
	begin();
	err = elf_check_opening(path, &inert);
	return settled(err) && !err && !inert;
}

static bool trusts_by_a_link(void)
{
	char link[PATH_MAX + 128], real[PATH_MAX];
	int err;

	put_text(OLD);
	snprintf(link, sizeof(link), "%s/trusted", folder);
	unlink(link);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(chdir(folder), 0);
	begin();
	err = file_trust_path("./trusted", real);
	return settled(err) && (err || !strcmp(real, path));
}

static bool trusts_above(void)
{
	char within[PATH_MAX + 128], real[PATH_MAX];
	int err;

	put_text(OLD);
	snprintf(within, sizeof(within), "%s/within", folder);
	mkdir(within, 0700);
	snprintf(within, sizeof(within), "%s/within/../file", folder);
	begin();
	err = file_trust_path(within, real);
	return settled(err) && (err || !strcmp(real, path));
}

static bool trusts_no_open_folder(void)
{
	char real[PATH_MAX];
	int err;

	begin();
	err = file_trust_path(open_folder, real);
	watched = false;
	return err && *tenon_error_message();
}

static bool trusts_its_own(void)
{
	char real[PATH_MAX];
	int err;

	put_text(OLD);
	begin();
	err = file_trust_path(path, real);
	return settled(err) && (err || !strcmp(real, path));
}

#ifdef CONFIG_KERNEL_CACHE
static char kind[PATH_MAX + 64];

static void remove_kind(void)
{
	DIR *d = opendir(kind);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
	if (d)
		closedir(d);
	rmdir(kind);
}

static void make_kind(mode_t mode)
{
	remove_kind();
	assert_int_equal(mkdir(kind, 0700), 0);
	assert_int_equal(chmod(kind, mode), 0);
}

static void put_entry(const char *digit)
{
	char name[33], entry[PATH_MAX + 128];
	int fd;

	memset(name, *digit, sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	snprintf(entry, sizeof(entry), "%s/%s", kind, name);
	fd = open(entry, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1000), 0);
	close(fd);
}

/* What cannot be removed stays. */
static bool trims(void)
{
	int fd;

	make_kind(0700);
	put_entry("1");
	put_entry("2");
	fd = open(kind, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	begin();
	disk_cache_trim(fd, 100);
	watched = false;
	close(fd);
	return !*tenon_error_message();
}

/* One that fails is as one that was not there; the next is kept again. */
static bool puts_and_gets(void)
{
	struct tenon_buffer found = TENON_BUFFER_INIT;
	static unsigned int serial;
	const struct tenon_slice number = { (const char *)&serial, sizeof(serial) };
	struct disk_cache_key key;
	bool got, good;

	serial++;
	disk_cache_key(&number, 1, &key);
	begin();
	disk_cache_put("sort", &key, parts[0]);
	got = disk_cache_get("sort", &key, &found);
	good = settled(got || !retried ? 0 : -1) &&
	       (!got || (found.size == parts[0].size && !memcmp(found.data, NEW, found.size)));
	tenon_buffer_fini(&found);
	disk_cache_put("sort", &key, parts[0]);
	good = good && disk_cache_get("sort", &key, &found);
	tenon_buffer_fini(&found);
	return good;
}

static bool keeps(void)
{
	make_kind(0700);
	return puts_and_gets();
}

static bool keeps_in_a_new_folder(void)
{
	remove_kind();
	return puts_and_gets();
}

/* It is closed to others. */
static bool keeps_in_an_open_folder(void)
{
	make_kind(0777);
	return puts_and_gets();
}
#endif

/* ---- once for each call */

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

struct deed {
	bool (*act)(void);
	long least; /* as many calls are found with glibc */
};

static void a_call_that_fails_is_an_error_or_makes_no_difference(void **state)
{
	static const int failures[] = { EIO,   ENOENT, EACCES, EPERM, ENOSPC,
					ENXIO, EEXIST, ENOMEM, EINTR, SHORT };
	const struct deed *deed = *state;
	const int before = descriptors();
	long n, all;
	size_t i;

	failing = 0;
	tenon_error_clear();
	assert_true(deed->act());
	assert_string_equal(tenon_error_message(),
			    deed->act == trusts_no_open_folder ? tenon_error_message() : "");
	all = seen;
	print_message("# %ld calls\n", all);
#if defined(__GLIBC__) && defined(__x86_64__)
	assert_true(all >= deed->least);
#endif
	for (i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		/* of lseek() it is an answer: no data behind */
		if (failures[i] == ENXIO &&
		    (deed->act == reads || deed->act == reads_around_a_hole))
			continue;
		for (n = 1; n <= all; n++) {
			tenon_error_clear();
			failure = failures[i];
			failing = n;
			if (!deed->act())
				fail_msg("call %ld fails with %d: %s", n, failures[i],
					 tenon_error_message());
			if (descriptors() != before)
				fail_msg("call %ld fails with %d: %d descriptors more", n,
					 failures[i], descriptors() - before);
		}
	}
	tenon_error_clear();
}

#ifdef __GLIBC__
static void a_file_that_is_cut_while_it_is_read_is_refused(void **state)
{
	struct tenon_slice bytes;

	(void)state;
	put_text(OLD);
	is_cut = true;
	assert_int_equal(file_map_open(path, &bytes), -TENON_E_IO);
	is_cut = false;
	assert_int_equal(bytes.size, 0);
	assert_error_has("became shorter");
}
#endif

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char name[512], real[PATH_MAX];

	(void)state;
	/* the build may lie in a folder of another user */
	if (!tmp || file_trust_path(tmp, real))
		tmp = "/tmp";
	tenon_error_clear();
	snprintf(name, sizeof(name), "%s/calls-XXXXXX", tmp);
	if (!mkdtemp(name) || !realpath(name, folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(open_folder, sizeof(open_folder), "%s/open", folder);
	setenv("TENON_CACHE_DIR", folder, 1);
#ifdef CONFIG_KERNEL_CACHE
	snprintf(kind, sizeof(kind), "%s/sort", folder);
#endif
	return mkdir(open_folder, 0700) || chmod(open_folder, 0777);
}

static int tear_down(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

#define CASE(name, act, least)                                                                     \
	{                                                                                          \
		name, a_call_that_fails_is_an_error_or_makes_no_difference, NULL, NULL,            \
			&(struct deed)                                                             \
		{                                                                                  \
			act, least                                                                 \
		}                                                                                  \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("a_file_is_written", writes, 5),
		CASE("a_file_is_written_beside_what_another_left", writes_beside_another, 9),
		CASE("a_file_is_written_through_a_link", writes_through_a_link, 5),
		CASE("a_device_is_written", writes_straight, 3),
		CASE("a_full_device_is_an_error", writes_to_a_full_device, 4),
		CASE("a_link_is_replaced", replaces, 4),
		CASE("a_file_is_read", reads, 3),
		CASE("a_file_with_a_hole_is_read", reads_around_a_hole, 5),
		CASE("a_file_is_mapped", maps, 3),
		CASE("a_library_is_looked_at", checks, 3),
#ifdef __GLIBC__
		cmocka_unit_test(a_file_that_is_cut_while_it_is_read_is_refused),
#endif
		CASE("the_ends_of_a_file_are_read", reads_ends, 4),
		CASE("a_folder_that_others_can_write_is_not_trusted", trusts_no_open_folder, 3),
		CASE("a_folder_of_ones_own_is", trusts_its_own, 3),
		CASE("a_path_from_here_with_a_link_is", trusts_by_a_link, 5),
		CASE("a_path_that_leads_up_is", trusts_above, 5),
#ifdef CONFIG_KERNEL_CACHE
		CASE("an_entry_is_kept_in_a_new_folder", keeps_in_a_new_folder, 9),
		CASE("an_entry_is_kept", keeps, 6),
		CASE("an_entry_is_kept_in_a_folder_that_was_open", keeps_in_an_open_folder, 7),
		CASE("old_entries_go", trims, 5),
#endif
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
