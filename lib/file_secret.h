/* SPDX-License-Identifier: MIT */
/* Check that a file with a secret is one, and belongs to its user alone. */
#ifndef LIB_FILE_SECRET_H
#define LIB_FILE_SECRET_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/brief_errors.h"

/**
 * file_secret_check - refuse a file with a secret that is no regular file, or that other users can read or change
 * @st: from fstat() of the open file, so that what is checked is what is read; from stat() where a
 *	library opens the file by its name
 * @path: its name, for the message
 * @what: what it holds: "key", "secret"
 *
 * Return: 0; -TENON_E_VALUE with the mode and the remedy.
 */
static inline int file_secret_check(const struct stat *st, const char *path, const char *what)
{
	if (!S_ISREG(st->st_mode))
		return tenon_error(-TENON_E_VALUE,
				   "%s: the %s is read from a file, and this is none", path, what);
	if (!(st->st_mode & 077))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: other users can use this %s (mode %04o): chmod 600 %s", path, what,
			   (unsigned int)st->st_mode & 07777, path);
}

/**
 * file_secret_open - open a file with a secret for reading, if file_secret_check() accepts it
 * @path: its name
 * @what: what it holds, as there
 * @fd: receives the descriptor
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE as there.
 */
static inline int file_secret_open(const char *path, const char *what, int *fd)
{
	struct stat st;
	int err;

	/* without O_NONBLOCK, open() of a named pipe waits for a writer before the pipe can be refused */
	*fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &st))
		err = tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	else
		err = file_secret_check(&st, path, what);
	if (err && *fd >= 0)
		close(*fd);
	return err;
}

#endif /* LIB_FILE_SECRET_H */
