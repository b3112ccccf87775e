/* SPDX-License-Identifier: MIT */
/* Create, measure and remove the folders of sessions, and those of killed servers. */
#include "rpc/server/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"

#define PREFIX "tenon-rpc-"

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static DIR *open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* ---- size */

/* the count of a folder */
struct sum {
	uint64_t bytes;
	unsigned int entries;
};

static bool add_folder(int at, const char *name, unsigned int depth, struct sum *sum);

static bool add_entry(int at, const char *name, unsigned int depth, struct sum *sum)
{
	struct stat st;
	uint64_t size;

	if (++sum->entries > FOLDER_ENTRIES_MOST)
		return false;
	/* one that was removed meanwhile */
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	size = (uint64_t)st.st_blocks * 512;
	sum->bytes += size > 4096 ? size : 4096;
	return !S_ISDIR(st.st_mode) || add_folder(at, name, depth + 1, sum);
}

/*
 * Give this user all rights to a folder again: uploaded code may have removed them. It may also
 * replace the folder by a link at any time, so use the opened descriptor.
 */
static void take_rights(int at, const char *name)
{
	int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[40];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	chmod(path, 0700);
	close(fd);
}

static bool add_folder(int at, const char *name, unsigned int depth, struct sum *sum)
{
	struct dirent *entry;
	bool ok = true;
	DIR *dir;

	if (depth > FOLDER_DEPTH_MOST)
		return false;
	dir = open_folder(at, name);
	if (!dir && errno == EACCES) {
		take_rights(at, name);
		dir = open_folder(at, name);
	}
	if (!dir)
		return errno != EACCES;
	while (ok && (entry = readdir(dir)))
		ok = is_dots(entry->d_name) || add_entry(dirfd(dir), entry->d_name, depth, sum);
	closedir(dir);
	return ok;
}

bool folder_size(const char *path, uint64_t *bytes)
{
	struct sum sum = { 0 };
	bool ok = add_folder(AT_FDCWD, path, 0, &sum);

	*bytes += sum.bytes;
	return ok;
}

/* ---- removal */

/* Move the entries of a folder in @top to @top itself, under names that no other entry has. */
static void empty_into(int top, const char *name, unsigned long *serial)
{
	struct dirent *entry;
	char new_name[40];
	DIR *dir;

	/* uploaded code may have taken our rights */
	fchmodat(top, name, 0700, 0);
	dir = open_folder(top, name);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		if (!unlinkat(dirfd(dir), entry->d_name, 0))
			continue;
		fchmodat(dirfd(dir), entry->d_name, 0700, 0);
		do
			snprintf(new_name, sizeof(new_name), ".removed-%lu", (*serial)++);
		while (renameat(dirfd(dir), entry->d_name, top, new_name) &&
		       (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR));
	}
	closedir(dir);
}

/* Remove the entries of @top. Returns whether a pass removed or moved anything. */
static bool remove_entries(int top, unsigned long *serial)
{
	struct dirent *entry;
	DIR *dir = open_folder(top, ".");
	bool any = false;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		if (!unlinkat(top, entry->d_name, 0) ||
		    !unlinkat(top, entry->d_name, AT_REMOVEDIR)) {
			any = true;
			continue;
		}
		empty_into(top, entry->d_name, serial);
		any |= !unlinkat(top, entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
	return any;
}

void folder_remove(const char *path)
{
	unsigned long serial = 0;
	int top;

	chmod(path, 0700);
	top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (top < 0)
		return;
	while (remove_entries(top, &serial))
		;
	close(top);
	rmdir(path);
}

/* Remove a folder whose server does not run any more. */
static void remove_stale(const char *base, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", base, name) >= sizeof(path))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
		struct server_folder stale = { .fd = fd };

		strcpy(stale.path, path);
		server_folder_remove(&stale);
		return;
	}
	close(fd);
}

static void remove_all_stale(const char *base)
{
	struct dirent *entry;
	DIR *dir = opendir(base);

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			remove_stale(base, entry->d_name);
	closedir(dir);
}

static int failed(const char *path)
{
	return tenon_error(-TENON_E_IO, "cannot create a folder in %s: %s", path, strerror(errno));
}

int server_folder_create(const char *base, struct server_folder *f)
{
	char resolved[PATH_MAX];

	if (!realpath(base, resolved) ||
	    (size_t)snprintf(f->path, sizeof(f->path), "%s/" PREFIX "XXXXXX", resolved) >=
		    sizeof(f->path))
		return failed(base);
	remove_all_stale(resolved);
	/* Another server may remove the folder as stale before it is locked; then locking fails. */
	if (!mkdtemp(f->path))
		return failed(base);
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0 || flock(f->fd, LOCK_EX | LOCK_NB)) {
		if (f->fd >= 0)
			close(f->fd);
		return failed(base);
	}
	return 0;
}

void server_folder_remove(struct server_folder *f)
{
	folder_remove(f->path);
	close(f->fd);
}

int session_folder_create(const struct server_folder *f, char path[PATH_MAX])
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/session-XXXXXX", f->path) >= PATH_MAX ||
	    !mkdtemp(path))
		return failed(f->path);
	return 0;
}
