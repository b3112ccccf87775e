/* SPDX-License-Identifier: MIT */
/* Read and write entries of the cache, after checks of their owner, key and checksum. */
#include "lib/disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/disk_cache_trim.h"
#include "lib/file_trust.h"
#include "lib/whole_io.h"

/* head of an entry: magic, key, size and hash of the bytes that follow */
#define MAGIC	  "TENONKC2"
#define HASH_AT	  (8 + DISK_CACHE_KEY + 8)
#define HEAD_SIZE (HASH_AT + DISK_CACHE_KEY)

#define TEMPORARY_TRIES 100

/* compiled kernels are smaller; a file with a larger size is not an entry */
#define SIZE_MOST (UINT64_C(1) << 30)

/* Get the folder of a kind; false when the cache is off or no folder is known. */
static bool folder(const char *kind, char *path, size_t room)
{
	const char *base = secure_getenv("TENON_CACHE_DIR"), *home;
	int n;

	if (base) {
		n = *base ? snprintf(path, room, "%s/%s", base, kind) : -1;
	} else {
		base = secure_getenv("XDG_CACHE_HOME");
		home = secure_getenv("HOME");
		if (base && *base == '/')
			n = snprintf(path, room, "%s/tenon/%s", base, kind);
		else if (home && *home == '/')
			n = snprintf(path, room, "%s/.cache/tenon/%s", home, kind);
		else
			n = -1;
	}
	return n > 0 && (size_t)n < room;
}

static void entry_name(const struct disk_cache_key *key, char name[DISK_CACHE_NAME + 1])
{
	size_t i;

	_Static_assert(DISK_CACHE_NAME == 2 * DISK_CACHE_KEY, "a name is a key");
	for (i = 0; i < DISK_CACHE_KEY; i++)
		snprintf(name + 2 * i, 3, "%02x", key->bytes[i]);
}

static bool owner_is_trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (!st.st_uid || st.st_uid == geteuid());
}

/*
 * mkdir -p with mode 0700; modifies @path. Does not create folders in a folder of another user:
 * root with the environment of a user would create folders that the user cannot write to.
 */
static void make_folders(char *path)
{
	int at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char *name, *rest = NULL;

	for (name = strtok_r(path, "/", &rest); name && at >= 0;
	     name = strtok_r(NULL, "/", &rest)) {
		next = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (next < 0 && errno == ENOENT && owner_is_trusted(at)) {
			mkdirat(at, name, 0700);
			next = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		}
		close(at);
		at = next;
	}
	if (at >= 0)
		close(at);
}

/*
 * Only this user may replace entries: remove others' write permission from the user's own folder.
 */
static bool folder_is_trusted(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (!file_trust_fault(&st))
		return true;
	return st.st_uid == geteuid() && !fchmod(fd, st.st_mode & 07755);
}

/* Open the folder of a kind; -1 when the cache is off or the folder is not trusted. */
static int open_folder(const char *kind, bool make)
{
	char path[PATH_MAX];
	int fd;

	if (!folder(kind, path, sizeof(path)))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && make) {
		make_folders(path);
		if (folder(kind, path, sizeof(path)))
			fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd >= 0 && !folder_is_trusted(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void make_head(const struct disk_cache_key *key, uint64_t size, uint8_t head[HASH_AT])
{
	size_t i;

	memcpy(head, MAGIC, 8);
	memcpy(head + 8, key->bytes, DISK_CACHE_KEY);
	for (i = 0; i < 8; i++)
		head[8 + DISK_CACHE_KEY + i] = (uint8_t)(size >> 8 * i);
}

/* Read and check the bytes after a valid head. */
static bool read_bytes(int fd, const uint8_t *hash, size_t size, struct tenon_buffer *out)
{
	struct disk_cache_key found;
	void *data = malloc(size + 1);
	bool good;

	if (!data)
		return false;
	good = read_whole(fd, data, size);
	if (good) {
		disk_cache_key(&(struct tenon_slice){ data, size }, 1, &found);
		good = !memcmp(found.bytes, hash, DISK_CACHE_KEY) &&
		       !tenon_buffer_append(out, data, size);
	}
	free(data);
	return good;
}

/* Read and check an entry; false if it is damaged, foreign, or writable by others. */
static bool read_entry(int fd, const struct disk_cache_key *key, struct tenon_buffer *out)
{
	uint8_t head[HEAD_SIZE], want[HASH_AT];
	struct stat st;
	uint64_t size;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || file_trust_fault(&st) ||
	    st.st_size < HEAD_SIZE || (uint64_t)st.st_size > SIZE_MOST ||
	    !read_whole(fd, head, sizeof(head)))
		return false;
	size = (uint64_t)st.st_size - HEAD_SIZE;
	/* compare the size in the head too, so that junk is not read completely */
	make_head(key, size, want);
	return !memcmp(head, want, HASH_AT) && read_bytes(fd, head + HASH_AT, (size_t)size, out);
}

/* Remove a bad entry, which may also be an empty folder. */
static void remove_entry(int folder, const char *name)
{
	if (unlinkat(folder, name, 0))
		unlinkat(folder, name, AT_REMOVEDIR);
}

static bool get_entry(int folder, const struct disk_cache_key *key, struct tenon_buffer *out)
{
	char name[DISK_CACHE_NAME + 1];
	bool good;
	int fd;

	entry_name(key, name);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0) {
		/*
		 * a link, a socket, or an unreadable file: not written by disk_cache_put()
		 */
		if (errno == ELOOP || errno == ENXIO || errno == EACCES)
			remove_entry(folder, name);
		return false;
	}
	good = read_entry(fd, key, out);
	/* mark the entry as used; fails without harm in a read-only folder */
	if (good)
		futimens(fd, NULL);
	close(fd);
	if (!good)
		remove_entry(folder, name);
	return good;
}

bool disk_cache_get(const char *kind, const struct disk_cache_key *key, struct tenon_buffer *out)
{
	int folder = open_folder(kind, false);
	bool good;

	if (folder < 0)
		return false;
	good = get_entry(folder, key, out);
	close(folder);
	return good;
}

/* mkostemp() relative to an open folder: @name receives "….a1b2c3". */
static int make_temporary(int folder, const char *entry, char name[DISK_CACHE_NAME + 8])
{
	uint32_t number = (uint32_t)clock_now() ^ (uint32_t)getpid() << 12;
	int fd = -1, tries;

	for (tries = 0; fd < 0 && tries < TEMPORARY_TRIES; tries++) {
		snprintf(name, DISK_CACHE_NAME + 8, "%s.%06x", entry,
			 (number + (uint32_t)tries) & 0xffffff);
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static bool put_entry(int folder, const struct disk_cache_key *key, struct tenon_slice bytes)
{
	char name[DISK_CACHE_NAME + 1], temporary[DISK_CACHE_NAME + 8];
	struct disk_cache_key hash;
	uint8_t head[HEAD_SIZE];
	bool good;
	int fd;

	entry_name(key, name);
	fd = make_temporary(folder, name, temporary);
	if (fd < 0)
		return false;
	make_head(key, bytes.size, head);
	disk_cache_key(&bytes, 1, &hash);
	memcpy(head + HASH_AT, hash.bytes, sizeof(hash.bytes));
	good = write_whole(fd, head, sizeof(head)) && write_whole(fd, bytes.data, bytes.size);
	/* no sync: an entry torn by a crash has a wrong hash, and the kernel is compiled again */
	good = !close(fd) && good && !renameat(folder, temporary, folder, name);
	if (!good)
		unlinkat(folder, temporary, 0);
	return good;
}

void disk_cache_put(const char *kind, const struct disk_cache_key *key, struct tenon_slice bytes)
{
	const uint64_t most = disk_cache_limit();
	int folder;

	if (bytes.size > SIZE_MOST - HEAD_SIZE || bytes.size + HEAD_SIZE > most)
		return;
	folder = open_folder(kind, true);
	if (folder < 0)
		return;
	if (put_entry(folder, key, bytes))
		disk_cache_trim(folder, most);
	close(folder);
}
