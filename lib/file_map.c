/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/error.h>
#include "lib/file_map.h"

static int map_descriptor(int fd, const char *path, struct tenon_slice *out)
{
	struct stat st;
	void *data;

	if (fstat(fd, &st))
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return tenon_error(-TENON_E_IO, "%s: is a directory, want a file", path);
	if (!S_ISREG(st.st_mode))
		return tenon_error(-TENON_E_IO, "%s: is not a regular file", path);
	if ((uint64_t)st.st_size > SIZE_MAX / 2)
		return tenon_error(-TENON_E_IO, "%s: too large to be mapped here", path);
	if (!st.st_size)
		return 0;

	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return tenon_error(-TENON_E_IO, "%s: cannot be mapped: %s", path, strerror(errno));
	out->data = data;
	out->size = (size_t)st.st_size;
	return 0;
}

int file_map_open(const char *path, struct tenon_slice *out)
{
	int fd, err;

	*out = (struct tenon_slice){ NULL, 0 };
	/* O_NONBLOCK: opening a pipe must not wait for a writer */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	err = map_descriptor(fd, path, out);
	close(fd);
	return err;
}

void file_map_close(struct tenon_slice *bytes)
{
	if (bytes->size)
		munmap((void *)(uintptr_t)bytes->data, bytes->size);
	*bytes = (struct tenon_slice){ NULL, 0 };
}
