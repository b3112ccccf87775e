/* SPDX-License-Identifier: MIT */
/* Modules by a descriptor: files that a sandboxed program was given, and files in memory. */
#include "runtime/library/load_fd.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tenon/module.h>
#include <unistd.h>

#include "lib/brief_errors.h"

void fd_path(int fd, char path[FD_PATH])
{
	static uint32_t serials; /* atomic */
	uint32_t serial = __atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
	size_t n = (size_t)sprintf(path, "/proc/self/fd");
	int bit;

	for (bit = 0; bit < 32; bit++) {
		path[n++] = '/';
		if (serial >> bit & 1)
			path[n++] = '.';
	}
	snprintf(path + n, FD_PATH - n, "/%d", fd);
}

int tenon_module_load_fd(int fd, struct tenon_module **out)
{
	char path[FD_PATH];
	struct stat s;
	int err;

	*out = NULL;
	if (fstat(fd, &s) || !S_ISREG(s.st_mode))
		return tenon_error(-TENON_E_VALUE, "descriptor %d is no open file", fd);
	fd_path(fd, path);
	if (access(path, R_OK))
		return tenon_error(-TENON_E_IO,
				   "descriptor %d cannot be read below /proc/self/fd: is /proc "
				   "mounted?",
				   fd);
	err = tenon_module_load(path, out);
	return err ? tenon_error_in(err, "descriptor %d", fd) : 0;
}
