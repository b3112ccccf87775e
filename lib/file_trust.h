/* SPDX-License-Identifier: MIT */
#ifndef LIB_FILE_TRUST_H
#define LIB_FILE_TRUST_H

/**
 * DOC: files that only trusted users can change
 *
 * Code that this process runs without further checks (plug-ins, compiled kernels) is taken only from files
 * that root and the user of the process (its effective user) alone can change. The rule is that of sshd's
 * StrictModes: owned by one of the two, and not writable for others or for a group. A group that has the
 * number of the owner counts as the owner's private one, which many systems give to each user.
 */

#include <limits.h>
#include <sys/stat.h>

/**
 * file_trust_fault - why a file is not trusted
 * @st: from fstat() or lstat() of the file or folder
 *
 * Return: NULL for a file that is trusted; else "belongs to another user", "anybody can write to it" or
 *	"its group can write to it".
 */
const char *file_trust_fault(const struct stat *st);

/**
 * file_trust_path - resolve a path and check every part of it
 * @path: file or folder; relative to the current folder where it does not begin with '/'
 * @real: receives the path without links, "." and ".."
 *
 * Every folder from / on, and every link on the way, has to be trusted: who can write to a folder can put
 * another file in its place. A folder with the sticky bit, such as /tmp, may be writable for others
 * where it is not the last part: what lies in it can be replaced only by its owner, who is checked too.
 * Since nobody else can change the parts that were checked, @real leads to the same file until root or the
 * user changes it.
 *
 * Return: 0; -TENON_E_IO for a path that does not exist; -TENON_E_USAGE for one that is not trusted, with the
 *	part, the reason and the remedy.
 */
int file_trust_path(const char *path, char real[PATH_MAX]);

#endif /* LIB_FILE_TRUST_H */
