/* SPDX-License-Identifier: MIT */
/* Compare two paths by device and inode. */
#include "lib/file_same.h"

#include <sys/stat.h>

bool file_is_same(const char *a, const char *b)
{
	struct stat left, right;

	return !stat(a, &left) && !stat(b, &right) && S_ISREG(left.st_mode) &&
	       left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}
