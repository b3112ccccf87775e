/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/file.h"

#define READ_STEP (64u * 1024)

static int io_error(const char *path, const char *what)
{
	return tenon_error(-TENON_E_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Makes room for more bytes than read() will be asked for, so that growing stays rare. */
static int read_more(int fd, const char *path, struct tenon_buffer *out, uint64_t hint)
{
	size_t want = hint > out->size && hint - out->size < SIZE_MAX / 2
			      ? (size_t)(hint - out->size) + 1
			      : READ_STEP;
	size_t used = out->size;
	ssize_t got;

	if (out->room < used + want + 1) {
		char *data = realloc(out->data, used + want + 1);

		if (!data)
			return tenon_error(-TENON_E_NOMEM, "%s: no memory for %zu bytes", path,
					   used + want);
		out->data = data;
		out->room = used + want + 1;
	}
	do
		got = read(fd, out->data + used, want);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return io_error(path, "read");
	out->size += (size_t)got;
	out->data[out->size] = '\0';
	return got > 0;
}

int file_read(const char *path, struct tenon_buffer *out)
{
	struct stat st;
	int fd, more;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return io_error(path, "open");
	if (fstat(fd, &st)) {
		more = io_error(path, "look at");
	} else if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		more = io_error(path, "read");
	} else {
		do
			more = read_more(fd, path, out, (uint64_t)st.st_size);
		while (more > 0);
	}
	close(fd);
	return more;
}
