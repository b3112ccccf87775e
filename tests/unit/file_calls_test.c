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
CALL(int, fsync, (int fd), (fd))
CALL(int, flock, (int fd, int what), (fd, what))
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode))
CALL(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CALL(int, rename, (const char *from, const char *to), (from, to))
CALL(int, renameat, (int at, const char *from, int to_at, const char *to), (at, from, to_at, to))
CALL(ssize_t, readlinkat, (int at, const char *path, char *to, size_t room), (at, path, to, room))
#ifdef __GLIBC__
/* whose names for offsets of 64 bits are others */
MOVE(pread64, void *, COMMA off64_t offset, (fd, p, part, offset))
CALL(int, fstat64, (int fd, struct stat64 *st), (fd, st))
CALL(int, lstat64, (const char *path, struct stat64 *st), (path, st))
CALL(off64_t, lseek64, (int fd, off64_t offset, int from), (fd, offset, from))
CALL(void *, mmap64, (void *to, size_t size, int access, int flags, int fd, off64_t offset),
     (to, size, access, flags, fd, offset))
CALL(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
CALL(int, openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode))
CALL(int, mkostemp64, (char *path, int flags), (path, flags))
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

static bool writes(void)
{
	int err;

	put_text(OLD);
	begin();
	err = file_write(path, parts, 2);
	return settled(err) && (holds(NEW) || (err && holds(OLD)));
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
/* One that fails is as one that was not there; the next is kept again. */
static bool keeps(void)
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
	static const int failures[] = { EIO, ENOENT, EACCES, ENOSPC, EINTR, SHORT };
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
		CASE("a_link_is_replaced", replaces, 4),
		CASE("a_file_is_read", reads, 3),
		CASE("the_ends_of_a_file_are_read", reads_ends, 4),
		CASE("a_folder_that_others_can_write_is_not_trusted", trusts_no_open_folder, 3),
		CASE("a_folder_of_ones_own_is", trusts_its_own, 3),
#ifdef CONFIG_KERNEL_CACHE
		CASE("an_entry_is_kept", keeps, 6),
#endif
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
