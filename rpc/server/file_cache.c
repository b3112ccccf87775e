/* SPDX-License-Identifier: MIT */
/* Find cached files by their hash, and copy new ones in after their session. */
#include "rpc/server/file_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/whole_io.h"

/* files that a cache holds */
#define FILES_MOST 256

/* entries of a session's folder that are looked at: uploaded code may have made millions */
#define ENTRIES_MOST 4096

void file_cache_init(struct file_cache *c, const char *folder, uint64_t most)
{
	bool fits =
		(size_t)snprintf(c->path, sizeof(c->path), "%s/cache", folder) < sizeof(c->path) &&
		(size_t)snprintf(c->temporary, sizeof(c->temporary), "%s/cache.new", folder) <
			sizeof(c->temporary);

	c->most = fits ? most : 0;
}

bool file_cache_make(const struct file_cache *c)
{
	return !mkdir(c->path, 0700) || errno == EEXIST;
}

bool file_cache_is_name(const char *text)
{
	return strlen(text) == SHA256_TEXT - 1 &&
	       strspn(text, "0123456789abcdef") == SHA256_TEXT - 1;
}

int file_cache_open(const char *path, const char *hash, uint64_t size)
{
	char name[PATH_MAX + SHA256_TEXT + 1];
	struct stat st;
	int fd;

	if (!file_cache_is_name(hash))
		return -1;
	snprintf(name, sizeof(name), "%s/%s", path, hash);
	fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size)
		return fd;
	close(fd);
	return -1;
}

int file_cache_copy(int from, int to, uint64_t most, char text[SHA256_TEXT])
{
	struct sha256 hash;
	char part[8192];
	uint64_t size = 0;
	ssize_t n;

	sha256_init(&hash);
	while ((n = read(from, part, sizeof(part)))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		size += (uint64_t)n;
		if (size > most) {
			errno = EFBIG;
			return -1;
		}
		sha256_add(&hash, part, (size_t)n);
		if (!write_whole(to, part, (size_t)n))
			return -1;
	}
	sha256_text(&hash, text);
	return 0;
}

/* ---- keeping files */

/* What a cache holds: bytes, files, and the one that came first. */
struct contents {
	uint64_t size;
	unsigned int files;
	struct timespec first;
	char first_name[SHA256_TEXT];
};

bool file_cache_is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static bool read_contents(int cache, struct contents *out)
{
	int fd = openat(cache, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (!file_cache_is_name(entry->d_name) ||
		    fstatat(cache, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		out->size += (uint64_t)st.st_size;
		if (!out->files++ || file_cache_is_before(&st.st_mtim, &out->first)) {
			out->first = st.st_mtim;
			strcpy(out->first_name, entry->d_name);
		}
	}
	closedir(dir);
	return true;
}

/* Remove the oldest files until @size more bytes fit. */
static bool remove_oldest(int cache, uint64_t most, uint64_t size)
{
	struct contents c;

	while (read_contents(cache, &c)) {
		if (size <= most && c.size <= most - size && c.files < FILES_MOST)
			return true;
		if (!c.files || unlinkat(cache, c.first_name, 0))
			return false;
	}
	return false;
}

/* Returns false when no further file can be kept. */
static bool keep(const struct file_cache *c, int cache, int from, uint64_t size)
{
	char text[SHA256_TEXT];
	int fd, err;

	if (!remove_oldest(cache, c->most, size))
		return false;
	/* not in the cache: a session may read there whatever it can name */
	unlink(c->temporary);
	fd = open(c->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return false;
	err = file_cache_copy(from, fd, size, text);
	if (close(fd))
		err = -1;
	if (!err && !renameat(AT_FDCWD, c->temporary, cache, text))
		return true;
	/* the disk is full, or the file grew */
	unlink(c->temporary);
	return false;
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void keep_all(const struct file_cache *c, int cache, DIR *dir)
{
	unsigned int entries = ENTRIES_MOST;
	uint64_t left = c->most;
	struct dirent *entry;
	struct stat st;
	bool go_on = true;
	int fd;

	while (go_on && entries-- && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		/* O_NONBLOCK: opening a FIFO must not wait */
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & S_IWUSR &&
		    st.st_size > 0 && (uint64_t)st.st_size <= left) {
			left -= (uint64_t)st.st_size;
			go_on = keep(c, cache, fd, (uint64_t)st.st_size);
		}
		close(fd);
	}
}

void file_cache_keep(const struct file_cache *c, const char *folder)
{
	int cache = open_folder(c->path), fd = open_folder(folder);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (cache >= 0 && dir)
		keep_all(c, cache, dir);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (cache >= 0)
		close(cache);
}
