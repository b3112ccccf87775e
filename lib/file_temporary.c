/* SPDX-License-Identifier: MIT */
/* Create a locked temporary, rename it, and delete what killed writers left. */
#include "lib/file_temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".tenon-"
#define RANDOM "XXXXXX"

static bool is_temporary_of(const char *name, const char *base, size_t size)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	if (strncmp(name, base, size) || strncmp(name + size, SUFFIX, strlen(SUFFIX)))
		return false;
	name += size + strlen(SUFFIX);
	return strlen(name) == strlen(RANDOM) && strspn(name, letters) == strlen(RANDOM);
}

/* Unlink under the lock: a writer that opened the file meanwhile finds it without a name. */
static void remove_unlocked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(folder, name, 0);
	close(fd);
}

static void remove_stale(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	DIR *d = folder ? opendir(folder) : NULL;
	struct dirent *e;

	free(folder);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (is_temporary_of(e->d_name, base, strlen(base)))
			remove_unlocked(dirfd(d), e->d_name);
	closedir(d);
}

/* One that cannot be looked at counts as one with a name: it is not left behind. */
static bool has_name(int fd)
{
	struct stat st;

	return fstat(fd, &st) || st.st_nlink;
}

/* Create and lock a file. Return: 0; -1; 1 when another writer removed it before it was locked. */
static int make(struct file_temporary *t)
{
	t->fd = mkostemp(t->name, O_CLOEXEC);
	if (t->fd < 0)
		return -1;
	/*
	 * on a file system without locks, files of dead writers remain: remove_unlocked() skips
	 * them
	 */
	if (!flock(t->fd, LOCK_EX) && !has_name(t->fd)) {
		close(t->fd);
		return 1;
	}
	/* close(t->fd) reports write errors before the rename; the duplicate keeps the lock */
	t->lock = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
	if (t->lock >= 0)
		return 0;
	unlinkat(AT_FDCWD, t->name, 0);
	close(t->fd);
	return -1;
}

int file_temporary_open(const char *path, struct file_temporary *out)
{
	static const char suffix[] = SUFFIX RANDOM;
	size_t length = strlen(path);
	int made;

	out->name = malloc(length + sizeof(suffix));
	if (!out->name)
		return -1;
	remove_stale(path);
	do {
		memcpy(out->name, path, length);
		memcpy(out->name + length, suffix, sizeof(suffix));
		made = make(out);
	} while (made > 0);
	if (made < 0) {
		free(out->name);
		out->name = NULL;
	}
	return made;
}

static void fini(struct file_temporary *t)
{
	close(t->lock);
	free(t->name);
	t->name = NULL;
}

int file_temporary_rename(struct file_temporary *t, const char *path)
{
	/* network file systems report a full disk only here */
	int err = close(t->fd);

	t->fd = -1;
	if (err || renameat(AT_FDCWD, t->name, AT_FDCWD, path)) {
		file_temporary_drop(t);
		return -1;
	}
	fini(t);
	return 0;
}

void file_temporary_drop(struct file_temporary *t)
{
	int saved = errno;

	unlinkat(AT_FDCWD, t->name, 0);
	if (t->fd >= 0)
		close(t->fd);
	fini(t);
	errno = saved;
}
