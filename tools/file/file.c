/* SPDX-License-Identifier: MIT */
/* Read a file or standard input, up to a limit. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/file/file.h"

#define READ_STEP (64u * 1024)
#define TEXT_MOST (256u << 20)

static int io_error(const char *path, const char *what)
{
	return tenon_error(-TENON_E_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Read more; reserve more room than read() needs, so that the buffer rarely grows. */
static int read_more(int fd, const char *path, struct tenon_buffer *out, uint64_t hint,
		     uint64_t most)
{
	size_t want = hint > out->size && hint - out->size < SIZE_MAX / 2
			      ? (size_t)(hint - out->size) + 1
			      : READ_STEP;
	size_t used = out->size;
	ssize_t got;

	/* Reading one byte more than wanted shows that the file is longer. */
	if (want > most - used)
		want = (size_t)(most - used) + 1;
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

static int read_wanted(int fd, const char *path, const struct file_want *want, uint64_t hint,
		       struct tenon_buffer *out)
{
	uint64_t most;
	int more;

	do {
		most = want->bytes(want->context, (struct tenon_slice){ out->data, out->size });
		if (most < out->size)
			return 0;
		more = read_more(fd, path, out, hint, most);
	} while (more > 0);
	return more;
}

int file_read(const char *path, const struct file_want *want, struct tenon_buffer *out)
{
	struct stat st;
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return io_error(path, "open");
	if (fstat(fd, &st)) {
		err = io_error(path, "look at");
	} else if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		err = io_error(path, "read");
	} else {
		err = read_wanted(fd, path, want, (uint64_t)st.st_size, out);
	}
	close(fd);
	return err;
}

static uint64_t text_most(void *context, struct tenon_slice have)
{
	return TEXT_MOST;
}

int file_read_text(const char *path, struct tenon_buffer *out)
{
	static const struct file_want want = { text_most, NULL };
	int err = file_read(path, &want, out);

	if (!err && out->size > TEXT_MOST)
		return tenon_error(-TENON_E_OVERFLOW, "%s: more than %u bytes of text", path,
				   TEXT_MOST);
	return err;
}
