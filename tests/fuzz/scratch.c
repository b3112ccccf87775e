/* SPDX-License-Identifier: MIT */
/* Files for commands in a folder that goes with the process. */
#include "tests/fuzz/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];
static pid_t owner;

static void stop(const char *path)
{
	perror(path);
	abort();
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(path);
}

static void remove_all(void)
{
	if (getpid() == owner)
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(void)
{
	const char *place = getenv("FUZZ_SCRATCH");

	if (!place)
		place = access("/dev/shm", W_OK) ? getenv("TMPDIR") : "/dev/shm";
	snprintf(folder, sizeof(folder), "%s/tenon-fuzz-XXXXXX", place ? place : "/tmp");
	if (!mkdtemp(folder))
		stop(folder);
	owner = getpid();
	atexit(remove_all);
}

const char *scratch_path(const char *name)
{
	static char paths[8][512];
	static unsigned int next;
	char *path = paths[next++ % 8];

	if (!*folder)
		make_folder();
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

const char *scratch_write(const char *name, const void *bytes, size_t size)
{
	const char *path = scratch_path(name);
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
		stop(path);
	return path;
}

void scratch_remove(const char *name)
{
	const char *path = scratch_path(name);
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(dirfd(dir), entry->d_name, 0))
			stop(entry->d_name);
	closedir(dir);
	if (rmdir(path))
		stop(path);
}
