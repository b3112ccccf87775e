/* SPDX-License-Identifier: MIT */
/* Read a file with a key or a certificate, and check that one with a secret belongs to its user alone. */
#ifndef LIB_FILE_SECRET_H
#define LIB_FILE_SECRET_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/brief_errors.h"

/**
 * file_secret_check - refuse a file with a secret that other users can read or change
 * @st: from fstat() of the open file, so that what is checked is what is read
 * @path: its name, for the message
 * @what: what it holds: "key", "secret", "certificate"
 *
 * Return: 0; -TENON_E_VALUE with the mode and the remedy.
 */
static inline int file_secret_check(const struct stat *st, const char *path, const char *what)
{
	if (!(st->st_mode & 077))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: other users can use this %s (mode %04o): chmod 600 %s", path, what,
			   (unsigned int)st->st_mode & 07777, path);
}

/**
 * file_secret_open_any - open a regular file that may hold a secret, or what belongs to one, whoever can use it
 * @path: its name
 * @what: what it holds, as there
 * @fd: receives the descriptor
 * @st: receives what file_secret_check() looks at, once it is known that the file holds a secret
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE for a file that is not regular.
 */
static inline int file_secret_open_any(const char *path, const char *what, int *fd, struct stat *st)
{
	int err;

	/* without O_NONBLOCK, open() of a named pipe waits for a writer before the pipe can be refused */
	*fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, st))
		err = tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st->st_mode))
		err = tenon_error(-TENON_E_VALUE,
				  "%s: the %s is read from a file, and this is none", path, what);
	else
		return 0;
	if (*fd >= 0)
		close(*fd);
	return err;
}

/**
 * file_secret_open - open a file with a secret for reading, if it is regular and file_secret_check() accepts it
 * @path: its name
 * @what: what it holds, as there
 * @fd: receives the descriptor
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE as there.
 */
static inline int file_secret_open(const char *path, const char *what, int *fd)
{
	struct stat st;
	int err = file_secret_open_any(path, what, fd, &st);

	if (err)
		return err;
	err = file_secret_check(&st, path, what);
	if (err)
		close(*fd);
	return err;
}

/* no key is larger; of certificates there may be many: those that a distribution trusts have 220 KB */
#define FILE_SECRET_MOST       (64 << 10)
#define FILE_CERTIFICATES_MOST (4 << 20)

/**
 * file_secret_read - read a file that file_secret_open() opened, for a library that would open it by its name
 * @fd: the file; is closed
 * @path: its name, for the message
 * @what: what it holds, as there
 * @most: bytes that it may have
 * @out: receives the bytes, and a NUL that does not count; file_secret_free() frees them
 * @size: receives their number
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE for more than @most; -TENON_E_NOMEM.
 */
static inline int file_secret_read(int fd, const char *path, const char *what, size_t most,
				   char **out, size_t *size)
{
	const size_t room = most + 1;
	char *bytes = malloc(room);
	ssize_t n = 1;
	int err = 0;

	*out = bytes;
	*size = 0;
	if (!bytes)
		err = tenon_error(-TENON_E_NOMEM, "%s: out of memory", path);
	while (!err && n && *size < room) {
		n = read(fd, bytes + *size, room - *size);
		if (n < 0)
			err = tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
		else
			*size += (size_t)n;
	}
	close(fd);
	if (!err && *size == room)
		err = tenon_error(-TENON_E_VALUE, "%s: more than %zu bytes, too many for a %s",
				  path, most, what);
	if (!err)
		bytes[*size] = '\0';
	return err;
}

/**
 * file_secret_read_any - open a file as file_secret_open_any() does, and read it
 * @path: its name
 * @what: what it holds, as there
 * @most: bytes that it may have
 * @st: receives what file_secret_check() looks at
 * @out: receives the bytes as file_secret_read() gives them; NULL if the file cannot be opened
 * @size: receives their number
 *
 * Return: as both.
 */
static inline int file_secret_read_any(const char *path, const char *what, size_t most,
				       struct stat *st, char **out, size_t *size)
{
	int fd, err = file_secret_open_any(path, what, &fd, st);

	*out = NULL;
	*size = 0;
	return err ? err : file_secret_read(fd, path, what, most, out, size);
}

/** file_secret_free - free what file_secret_read() gave, also when it failed, and leave no trace of it */
static inline void file_secret_free(char *bytes, size_t size)
{
	if (bytes)
		explicit_bzero(bytes, size);
	free(bytes);
}

#endif /* LIB_FILE_SECRET_H */
