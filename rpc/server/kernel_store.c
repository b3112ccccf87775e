/* SPDX-License-Identifier: MIT */
/* Keep built kernels as an entry of the disk cache and hand them to sessions. */
#include "rpc/server/kernel_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/whole_io.h"

#define FOLDER	     "kernels"
#define KERNELS_MOST 4096
/* digits of an entry's name in the cache of compiled kernels */
#define NAME 32

/* folders of the cache of compiled kernels */
static const char *const kinds[] = { "opencl", "vulkan", "cuda" };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/**
 * struct entry - what is before each kernel in the file
 * @kind: index in @kinds
 * @size: bytes that follow
 * @name: of its file
 * @end: 0
 */
struct entry {
	uint64_t kind;
	uint64_t size;
	char name[NAME];
	uint64_t end;
};

static int open_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_file(int at, const char *name, struct stat *st)
{
	/* O_NONBLOCK: opening a FIFO must not wait */
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void kernels_path(const char *cache, const char *name, char path[PATH_MAX + 80])
{
	snprintf(path, PATH_MAX + 80, "%s/" FOLDER "/%s", cache, name);
}

bool kernel_store_make(const struct file_cache *c)
{
	char path[PATH_MAX + 80];

	kernels_path(c->path, "", path);
	return !mkdir(path, 0700) || errno == EEXIST;
}

bool kernel_store_has(const char *cache, const char *hash)
{
	char path[PATH_MAX + 80];

	kernels_path(cache, hash, path);
	return !access(path, F_OK) || errno != ENOENT;
}

uint64_t kernel_store_number(const char *hash)
{
	char digits[17];

	snprintf(digits, sizeof(digits), "%.16s", hash);
	return strtoull(digits, NULL, 16);
}

/* A file in the cache. */
struct cached {
	char name[SHA256_TEXT];
	struct timespec time;
};

static bool look_at(DIR *dir, const char *name, struct cached *out)
{
	struct stat st;

	if (!file_cache_is_name(name) || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	memcpy(out->name, name, SHA256_TEXT);
	out->time = st.st_mtim;
	return true;
}

/* The newest file comes first; of files with one time, the last name. */
static bool follows(const struct cached *a, const struct cached *b)
{
	return file_cache_is_before(&a->time, &b->time) ||
	       (!file_cache_is_before(&b->time, &a->time) && strcmp(a->name, b->name) < 0);
}

bool kernel_store_next(const struct file_cache *c, const char *last, char hash[SHA256_TEXT])
{
	DIR *dir = opendir(c->path);
	struct cached before, first, file;
	struct dirent *entry;
	bool limited, found = false;

	if (!dir)
		return false;
	limited = look_at(dir, last, &before);
	while ((entry = readdir(dir))) {
		if (!look_at(dir, entry->d_name, &file) || kernel_store_has(c->path, file.name) ||
		    (limited && !follows(&file, &before)) || (found && follows(&file, &first)))
			continue;
		first = file;
		found = true;
	}
	closedir(dir);
	if (found)
		memcpy(hash, first.name, SHA256_TEXT);
	return found;
}

/* ---- keeping */

/* Remove the kernels of files that have left the cache; the bytes of the others. */
static uint64_t remove_orphans(int cache, int kernels)
{
	int fd = open_folder(kernels, ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint64_t size = 0;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!file_cache_is_name(entry->d_name))
			continue;
		if (faccessat(cache, entry->d_name, F_OK, 0))
			unlinkat(kernels, entry->d_name, 0);
		else if (!fstatat(kernels, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			size += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return size;
}

static bool is_entry_name(const char *text)
{
	return strlen(text) == NAME && strspn(text, "0123456789abcdef") == NAME;
}

/* Append a file; @left is what may be appended. */
static bool append(int to, int from, const char *name, uint64_t kind, uint64_t size, uint64_t *left)
{
	struct entry e = { .kind = kind, .size = size };
	char hash[SHA256_TEXT];

	if (*left < sizeof(e) || size > *left - sizeof(e))
		return false;
	*left -= sizeof(e) + size;
	memcpy(e.name, name, NAME);
	/* if the file changes while it is copied, kernel_store_take() stops at this entry */
	return write_whole(to, &e, sizeof(e)) && !file_cache_copy(from, to, size, hash);
}

static bool append_kind(int to, int folder, uint64_t kind, uint64_t *left)
{
	unsigned int most = KERNELS_MOST;
	struct dirent *entry;
	struct stat st;
	bool ok = true;
	DIR *dir;
	int fd;

	fd = open_folder(folder, kinds[kind]);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	while (ok && most-- && (entry = readdir(dir))) {
		fd = is_entry_name(entry->d_name) ? open_file(dirfd(dir), entry->d_name, &st) : -1;
		if (fd < 0)
			continue;
		ok = append(to, fd, entry->d_name, kind, (uint64_t)st.st_size, left);
		close(fd);
	}
	closedir(dir);
	return ok;
}

/* Folders one by one: none may be a link. Without room the file stays empty: no kernels. */
static bool write_kernels(int to, const char *folder, uint64_t left)
{
	int fd = open_folder(AT_FDCWD, folder), built = fd < 0 ? -1 : open_folder(fd, "tenon");
	bool ok = built >= 0;
	uint64_t kind;

	for (kind = 0; ok && kind < KINDS; kind++)
		ok = append_kind(to, built, kind, &left);
	if (built >= 0)
		close(built);
	if (fd >= 0)
		close(fd);
	return ok || !ftruncate(to, 0);
}

static void keep(const struct file_cache *c, int kernels, const char *hash, const char *folder,
		 uint64_t left)
{
	bool ok;
	int fd;

	unlink(c->temporary);
	fd = open(c->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return;
	ok = write_kernels(fd, folder, left);
	ok = !close(fd) && ok && !renameat(AT_FDCWD, c->temporary, kernels, hash);
	if (!ok)
		unlink(c->temporary);
}

void kernel_store_keep(const struct file_cache *c, const char *hash, const char *folder)
{
	int cache = open_folder(AT_FDCWD, c->path),
	    kernels = cache < 0 ? -1 : open_folder(cache, FOLDER);
	const uint64_t most = c->most / 4;
	uint64_t size;

	if (kernels >= 0) {
		size = remove_orphans(cache, kernels);
		keep(c, kernels, hash, folder, size < most ? most - size : 0);
		close(kernels);
	}
	if (cache >= 0)
		close(cache);
}

/* ---- taking */

static bool copy(int from, int to, uint64_t size)
{
	char part[8192];
	ssize_t n;

	for (; size; size -= (uint64_t)n) {
		n = read(from, part, size < sizeof(part) ? (size_t)size : sizeof(part));
		if (n <= 0 || (to >= 0 && !write_whole(to, part, (size_t)n)))
			return false;
	}
	return true;
}

static bool read_entry(int from, struct entry *e)
{
	return read(from, e, sizeof(*e)) == sizeof(*e) && e->kind < KINDS && !e->end &&
	       is_entry_name(e->name);
}

/* The cache of compiled kernels checks each entry when it reads it. */
static bool take_entry(int from, const struct entry *e, int folder)
{
	char path[80];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "tenon/%s", kinds[e->kind]);
	mkdirat(folder, path, 0700);
	snprintf(path, sizeof(path), "tenon/%s/%.*s", kinds[e->kind], NAME, e->name);
	/* one that is there already is skipped */
	fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ok = copy(from, fd, e->size);
	if (fd >= 0)
		close(fd);
	return ok;
}

void kernel_store_take(const char *cache, const char *hash, int folder)
{
	char path[PATH_MAX + 80];
	size_t most = KINDS * KERNELS_MOST;
	struct entry e;
	struct stat st;
	int fd;

	kernels_path(cache, hash, path);
	fd = open_file(AT_FDCWD, path, &st);
	if (fd < 0)
		return;
	mkdirat(folder, "tenon", 0700);
	while (most-- && read_entry(fd, &e) && take_entry(fd, &e, folder))
		;
	close(fd);
}
