/* SPDX-License-Identifier: MIT */
/* The rule of trust: which owner and mode of a file are accepted. */
#include "lib/file_trust.h"

#include <unistd.h>

const char *file_trust_fault(const struct stat *st)
{
	if (st->st_uid && st->st_uid != geteuid())
		return "belongs to another user";
	/* the mode of a symbolic link has no effect */
	if (S_ISLNK(st->st_mode))
		return NULL;
	if (st->st_mode & S_IWOTH)
		return "anybody can write to it";
	if (st->st_mode & S_IWGRP && st->st_gid != st->st_uid)
		return "its group can write to it";
	return NULL;
}
