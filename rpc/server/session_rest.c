/* SPDX-License-Identifier: MIT */
/* Replies that are too large to be made as a whole: their last bytes are read while they are sent. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/memory.h>
#include "lib/brief_errors.h"
#include "lib/whole_io.h"
#include "rpc/server/session_link.h"

/* bytes that are read at a time */
#define PART (UINT64_C(1) << 20)

void session_rest_drop(struct session *s)
{
	struct session_rest *rest = &s->rest;

	if (rest->next && rest->fd >= 0)
		close(rest->fd);
	free(rest->part);
	*rest = (struct session_rest){ .fd = -1 };
}

/* The first part is read before anything is sent: an error is the reply then. */
static int begin(struct session *s, uint64_t size)
{
	struct session_rest *rest = &s->rest;
	size_t n = size < PART ? (size_t)size : (size_t)PART;
	int err;

	rest->part = malloc(n ? n : 1);
	if (!rest->part)
		return tenon_error(-TENON_E_NOMEM, "no memory for a session");
	err = n ? rest->next(s, rest->part, n) : 0;
	if (err)
		return err;
	rest->left = size - n;
	s->reply_data = (struct tenon_slice){ rest->part, n };
	return 0;
}

int session_rest_send(struct session *s)
{
	struct session_rest *rest = &s->rest;
	int err = 0;

	while (rest->left && !err) {
		const size_t n = rest->left < PART ? (size_t)rest->left : (size_t)PART;

		err = rest->next(s, rest->part, n);
		if (!err)
			err = stream_write(&s->stream, (struct tenon_slice){ rest->part, n },
					   (struct tenon_slice){ 0 });
		rest->left -= n;
	}
	return err;
}

/* ---- of a device */

static int next_of_device(struct session *s, void *part, size_t size)
{
	int64_t extent = (int64_t)size;
	DLTensor *from = &s->rest.from;
	DLTensor to = tenon_dltensor(part, &extent, 1, from->dtype);
	int err;

	from->shape = &extent;
	err = tenon_tensor_copy(from, &to);
	from->byte_offset += size;
	return err;
}

int session_rest_of_device(struct session *s, const DLTensor *from, uint64_t size)
{
	s->rest.next = next_of_device;
	s->rest.from = *from;
	return begin(s, size);
}

/* ---- of a file */

static int next_of_file(struct session *s, void *part, size_t size)
{
	if (read_whole(s->rest.fd, part, size))
		return 0;
	return tenon_error(-TENON_E_IO, "%s", errno ? strerror(errno) : "the file became shorter");
}

static int open_file(struct session *s, const char *path, uint64_t *size)
{
	struct stat st;

	s->rest.next = next_of_file;
	/* O_NONBLOCK: opening a FIFO that uploaded code made must not wait */
	s->rest.fd = openat(s->folder_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (s->rest.fd < 0 && errno == ENOENT)
		return tenon_error(-TENON_E_IO, "cannot find file %s", path);
	if (s->rest.fd < 0 || fstat(s->rest.fd, &st))
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return tenon_error(-TENON_E_IO, "%s is no file", path);
	*size = (uint64_t)st.st_size;
	if (*size > s->options->packet_most)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%s has more than %" PRIu64 " bytes, which a packet may have",
				   path, s->options->packet_most);
	return 0;
}

int session_rest_of_file(struct session *s, bool linked)
{
	const struct wire_sequence *args = &s->packet.args;
	char path[PATH_MAX];
	uint64_t size = 0;
	int err;

	if (args->count != 1 ||
	    (args->values[0].kind != WIRE_STRING && args->values[0].kind != WIRE_BYTES))
		return tenon_error(-TENON_E_TYPE, "expected the name of a file");
	err = session_check_path(args->values[0].as.text, path, sizeof(path));
	if (!err && linked && session_is_linked(path))
		err = session_link(s, path);
	if (!err && linked)
		err = session_check_linked(path);
	if (!err)
		err = open_file(s, path, &size);
	if (!err)
		err = begin(s, size);
	if (!err)
		session_reply_bytes(s, size);
	return err;
}
