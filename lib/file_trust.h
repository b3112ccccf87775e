/* SPDX-License-Identifier: MIT */
/* Whether a file can be changed by users other than this one and root. */
#ifndef LIB_FILE_TRUST_H
#define LIB_FILE_TRUST_H

/*
 * Code that this process runs without further checks (plug-ins, compiled kernels) is taken only
 * from files that no user but root and the effective user of the process can change. The rule is
 * that of sshd's StrictModes: owned by one of the two, and not writable for others or for a group.
 * A group with the same number as the owner is taken to be the owner's private group.
 */

#include <limits.h>
#include <sys/stat.h>

/**
 * file_trust_fault - why a file is not trusted
 * @st: from fstat() or lstat() of the file or folder
 *
 * Return: NULL for a file that is trusted; else "belongs to another user", "anybody can write to
 *	it" or "its group can write to it".
 */
const char *file_trust_fault(const struct stat *st);

/**
 * file_trust_path - resolve a path and check every part of it
 * @path: file or folder; relative to the current folder where it does not begin with '/'
 * @real: receives the path without links, "." and ".."
 *
 * Every folder from / on and every link in the path must be trusted, because a user who can write
 * to a folder can replace the files in it. A folder with the sticky bit, such as /tmp, may be
 * writable by others unless it is the last part: only the owners of its entries can replace them,
 * and they are checked too. Since no other user can change the checked parts, @real names the same
 * file until root or the user changes it.
 *
 * Return: 0; -TENON_E_IO for a path that does not exist; -TENON_E_USAGE for one that is not
 *	trusted, with the part, the reason and the remedy.
 */
int file_trust_path(const char *path, char real[PATH_MAX]);

#endif /* LIB_FILE_TRUST_H */
