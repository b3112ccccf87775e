/* SPDX-License-Identifier: MIT */
/* The file of a trace: opened when the trace begins, written when it ends. */
#include "runtime/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/error.h>

#include "lib/brief_errors.h"

static bool is_regular(int fd, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

/* Test whether a file begins as traces do; it was opened for writing alone. */
static bool begins_as_trace(const char *path)
{
	char head[sizeof(TRACE_HEAD) - 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(head) && !memcmp(head, TRACE_HEAD, sizeof(head));
}

int trace_file_open(const char *path, int *fd)
{
	uint64_t size = 0;

	*fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (*fd < 0)
		return tenon_error(-TENON_E_IO, "%s: cannot be created: %s", path, strerror(errno));
	if (!is_regular(*fd, &size) || !size || begins_as_trace(path))
		return 0;
	close(*fd);
	*fd = -1;
	return tenon_error(-TENON_E_EXISTS,
			   "%s: is there and is no trace; remove it or give another name", path);
}

int trace_file_write(const struct trace *t)
{
	uint64_t size;
	bool regular = is_regular(t->fd, &size);
	int err = 0;

	if (regular && size && ftruncate(t->fd, 0))
		err = tenon_error(-TENON_E_IO, "%s: %s", t->path, strerror(errno));
	if (!err)
		err = trace_write(t);
	if (!err && regular && fsync(t->fd) && errno != EINVAL && errno != EROFS)
		err = tenon_error(-TENON_E_IO, "%s: %s", t->path, strerror(errno));
	/* a part is no trace, and the next one can be written to an empty file */
	if (err && regular && ftruncate(t->fd, 0))
		tenon_error_in(err, "%s: holds a part of the trace", t->path);
	if (close(t->fd) && !err)
		err = tenon_error(-TENON_E_IO, "%s: %s", t->path, strerror(errno));
	return err;
}
