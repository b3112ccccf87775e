/* SPDX-License-Identifier: MIT */
#include "runtime/remote/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "lib/brief_errors.h"

/* memory of a packet that is kept for the next one, and the first step of a larger one */
#define KEPT (UINT64_C(1) << 20)

void stream_init(struct stream *s, int fd, uint64_t most)
{
	s->fd = fd;
	s->most = most;
	s->start = s->end = 0;
	s->packet = NULL;
	s->room = 0;
}

void stream_fini(struct stream *s)
{
	free(s->packet);
	s->packet = NULL;
	s->room = 0;
}

/* Returns the number of bytes; 0 at the end; -1 with the error set. */
static ssize_t receive(struct stream *s, void *data, size_t size)
{
	ssize_t n;

	do
		n = recv(s->fd, data, size, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		tenon_error(-TENON_E_IO, "cannot read from the peer: %s", strerror(errno));
	return n;
}

static size_t take_buffered(struct stream *s, char *data, size_t size)
{
	size_t n = s->end - s->start;

	if (n > size)
		n = size;
	memcpy(data, s->buffer + s->start, n);
	s->start += n;
	return n;
}

/* Fill the buffer until it has @size bytes. Returns 0 at the end of the stream, -1 on failure. */
static int buffer_at_least(struct stream *s, size_t size)
{
	ssize_t n;

	if (s->start == s->end)
		s->start = s->end = 0;
	if (s->start + size > sizeof(s->buffer)) {
		memmove(s->buffer, s->buffer + s->start, s->end - s->start);
		s->end -= s->start;
		s->start = 0;
	}
	while (s->end - s->start < size) {
		n = receive(s, s->buffer + s->end, sizeof(s->buffer) - s->end);
		if (n <= 0)
			return (int)n;
		s->end += (size_t)n;
	}
	return 1;
}

int stream_read(struct stream *s, void *data, size_t size)
{
	size_t got = take_buffered(s, data, size);
	ssize_t n;

	while (got < size) {
		n = receive(s, (char *)data + got, size - got);
		if (n < 0)
			return -TENON_E_IO;
		if (!n)
			return tenon_error(-TENON_E_IO, "the peer closed the connection");
		got += (size_t)n;
	}
	return 0;
}

static int make_room(struct stream *s, size_t size)
{
	char *grown;

	if (size <= s->room)
		return 0;
	grown = realloc(s->packet, size);
	if (!grown)
		return tenon_error(-TENON_E_NOMEM, "no memory for a packet of %zu bytes", size);
	s->packet = grown;
	s->room = size;
	return 0;
}

static enum stream_result read_body(struct stream *s, uint64_t size)
{
	size_t got = 0, step;

	while (got < size) {
		step = got ? 2 * got : KEPT;
		if (step > size)
			step = (size_t)size;
		if (make_room(s, step) || stream_read(s, s->packet + got, step - got))
			return STREAM_BROKEN;
		got = step;
	}
	return STREAM_PACKET;
}

enum stream_result stream_read_packet(struct stream *s, void (*started)(void *context),
				      void *context, struct tenon_slice *out)
{
	enum stream_result result;
	uint64_t size = 0;
	int i, n;

	if (s->room > KEPT)
		stream_fini(s);
	while (!size) {
		/* an end within the length is an end between packets, as stock peers see it */
		n = buffer_at_least(s, 8);
		if (n <= 0)
			return n ? STREAM_BROKEN : STREAM_END;
		for (i = 0; i < 8; i++)
			size |= (uint64_t)(uint8_t)s->buffer[s->start + (size_t)i] << 8 * i;
		s->start += 8;
	}
	if (started)
		started(context);
	if (size > s->most) {
		tenon_error(-TENON_E_FORMAT,
			    "a packet of %" PRIu64 " bytes, at most %" PRIu64 " are accepted", size,
			    s->most);
		return STREAM_TOO_LARGE;
	}
	result = read_body(s, size);
	out->data = s->packet;
	out->size = (size_t)size;
	return result;
}

int stream_write(struct stream *s, struct tenon_slice first, struct tenon_slice second)
{
	struct iovec parts[2] = { { (void *)(uintptr_t)first.data, first.size },
				  { (void *)(uintptr_t)second.data, second.size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t n;
	int i;

	while (parts[0].iov_len || parts[1].iov_len) {
		do
			n = sendmsg(s->fd, &message, MSG_NOSIGNAL);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return tenon_error(-TENON_E_IO, "cannot write to the peer: %s",
					   strerror(errno));
		for (i = 0; i < 2; i++) {
			size_t part = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;

			parts[i].iov_base = (char *)parts[i].iov_base + part;
			parts[i].iov_len -= part;
			n -= (ssize_t)part;
		}
	}
	return 0;
}
