/* SPDX-License-Identifier: MIT */
/* Write a file under a temporary name, sync it, and rename it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/error.h>
#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/file_temporary.h"
#include "lib/whole_io.h"

#define OWN_MOST 9 /* highest descriptor that a shell can redirect */

/* bytes from one call of sync_file_range(), which lets the kernel begin to write to the disk, to the next */
#define STEP ((size_t)8 << 20)

/* Let the disk work while the rest is written: fsync() then waits for the end alone. */
static int write_file(int fd, const struct tenon_slice *parts, size_t count)
{
	struct tenon_slice left;
	size_t i;

	for (i = 0; i < count; i++) {
		left = parts[i];
		while (left.size > STEP) {
			if (!write_whole(fd, left.data, STEP))
				return -1;
			(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
			left.data += STEP;
			left.size -= STEP;
		}
		if (!write_whole(fd, left.data, left.size))
			return -1;
	}
	return 0;
}

static int write_error(const char *path)
{
	return tenon_error(-TENON_E_IO, "%s: cannot write: %s", path, strerror(errno));
}

/* Find the descriptor under which this process has the file open, to write at its offset; or -1. */
static int own_descriptor(const struct stat *st)
{
	struct stat own;
	int fd;

	for (fd = STDOUT_FILENO; fd <= OWN_MOST; fd++)
		if (!fstat(fd, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
			return fd;
	return -1;
}

/* Write in place to a terminal, a pipe, a device, or a file that is already open. */
static int write_straight(const char *path, int own, int flags, const struct tenon_slice *parts,
			  size_t count)
{
	int fd = own < 0 ? open(path, O_WRONLY | O_CLOEXEC | flags, 0666) : own, err = 0;
	size_t i;

	if (fd < 0)
		return write_error(path);
	for (i = 0; i < count && !err; i++)
		if (!write_whole(fd, parts[i].data, parts[i].size))
			err = write_error(path);
	if (own < 0 && close(fd) && !err)
		err = write_error(path);
	return err;
}

/* mkostemp() uses 0600: take the mode of the replaced file, or what the umask allows */
static mode_t mode_for(const char *path)
{
	struct stat st;
	mode_t mask;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		return st.st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* File systems without modes, and the sandbox of a session, refuse it: then the file is this user's alone. */
static bool set_mode(int fd, mode_t mode)
{
	return !fchmod(fd, mode) || errno == EPERM;
}

static void sync_folder(const char *path, size_t length)
{
	char *folder;
	int fd;

	folder = length ? strndup(path, length) : strdup(".");
	fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	free(folder);
	if (fd < 0)
		return;
	/* some file systems cannot sync a folder; the file itself is synced */
	(void)!fsync(fd);
	close(fd);
}

int file_replace(const char *path, const struct tenon_slice *parts, size_t count)
{
	const char *slash = strrchr(path, '/');
	struct file_temporary t;

	if (file_temporary_open(path, &t))
		return write_error(path);
	if (write_file(t.fd, parts, count) || !set_mode(t.fd, mode_for(path)) || fsync(t.fd)) {
		file_temporary_drop(&t);
		return write_error(path);
	}
	if (file_temporary_rename(&t, path))
		return write_error(path);
	sync_folder(path, slash ? (size_t)(slash - path) + 1 : 0);
	return 0;
}

int file_write(const char *path, const struct tenon_slice *parts, size_t count)
{
	struct stat st, target;
	bool is_link = !lstat(path, &st) && S_ISLNK(st.st_mode);
	bool is_there = !stat(path, &target);
	char *real;
	int own, err;

	/* /dev/stdout: write to the open file, do not replace it */
	own = is_link && is_there ? own_descriptor(&target) : -1;
	if (own >= 0 || (is_there ? !S_ISREG(target.st_mode) : is_link))
		return write_straight(path, own, is_there ? 0 : O_CREAT, parts, count);
	if (!is_link)
		return file_replace(path, parts, count);
	real = realpath(path, NULL);
	if (!real)
		return write_error(path);
	err = file_replace(real, parts, count);
	free(real);
	return err;
}
