/* SPDX-License-Identifier: MIT */
/* Check that a file with a secret belongs to its user alone. */
#ifndef LIB_FILE_SECRET_H
#define LIB_FILE_SECRET_H

#include <sys/stat.h>

#include "lib/brief_errors.h"

/**
 * file_secret_check - refuse a file with a secret that other users can read or change
 * @st: from fstat() of the open file, so that what is checked is what is read; from stat() where a
 *	library opens the file by its name
 * @path: its name, for the message
 * @what: what it holds: "key", "secret"
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

#endif /* LIB_FILE_SECRET_H */
