/* SPDX-License-Identifier: MIT */
/* Questions to a tracker, ours or TVM's, over a connection of their own. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/backend/buffer.h>
#include <tenon/rpc.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "rpc/tracker/tracker_message.h"
#include "rpc/wire/dial.h"

/* as TVM's peers */
#define REPLY_MOST (1U << 20)

/* a question while it is asked */
struct asking {
	int fd;
	const char *address;
	uint64_t deadline;
};

static int wait_for(const struct asking *a, short events)
{
	struct pollfd polled = { a->fd, events, 0 };
	uint64_t now;
	int n;

	do {
		now = clock_ms();
		n = now >= a->deadline ? 0 : poll(&polled, 1, (int)(a->deadline - now) + 1);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		return 0;
	return tenon_error(-TENON_E_TIMEOUT, "%s did not answer in time", a->address);
}

static int send_all(const struct asking *a, const char *data, size_t size)
{
	ssize_t n;
	int err;

	while (size) {
		n = send(a->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return tenon_error(-TENON_E_IO, "cannot write to %s: %s", a->address,
					   strerror(errno));
		if (n < 0) {
			err = wait_for(a, POLLOUT);
			if (err)
				return err;
			continue;
		}
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int receive_all(const struct asking *a, char *data, size_t size)
{
	ssize_t n;
	int err;

	while (size) {
		err = wait_for(a, POLLIN);
		if (err)
			return err;
		n = recv(a->fd, data, size, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return tenon_error(-TENON_E_IO, "cannot read from %s: %s", a->address,
					   strerror(errno));
		if (!n)
			return tenon_error(-TENON_E_IO, "%s closed the connection", a->address);
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int receive_u32(const struct asking *a, uint32_t *out)
{
	uint8_t b[4];
	int err = receive_all(a, (char *)b, sizeof(b));

	if (!err)
		*out = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return err;
}

static int receive_frame(const struct asking *a, struct tenon_buffer *reply)
{
	char piece[4096];
	uint32_t size;
	size_t n;
	int err = receive_u32(a, &size);

	if (!err && (!size || size > REPLY_MOST))
		err = tenon_error(-TENON_E_FORMAT,
				  "%s sent a frame of %u bytes, at most %u are accepted",
				  a->address, size, REPLY_MOST);
	/* in pieces: the length alone reserves nothing */
	while (!err && size) {
		n = size < sizeof(piece) ? size : sizeof(piece);
		err = receive_all(a, piece, n);
		if (!err)
			err = tenon_buffer_append(reply, piece, n);
		size -= (uint32_t)n;
	}
	return err;
}

static int greet(const struct asking *a)
{
	static const char magic[4] = { 0x71, (char)0xf2, 0x02, 0x00 };
	uint32_t answer = 0;
	/* alone: TVM's tracker accepts nothing with it */
	int err = send_all(a, magic, sizeof(magic));

	if (!err)
		err = receive_u32(a, &answer);
	if (!err && answer != TRACKER_MAGIC)
		err = tenon_error(
			-TENON_E_FORMAT,
			"%s is no tracker: it sent 0x%x, expected 0x%x. A tracker listens on "
			"port 9190 by default",
			a->address, answer, TRACKER_MAGIC);
	return err;
}

int tenon_rpc_ask_tracker(const char *address, const char *message, uint64_t timeout_ms,
			  struct tenon_buffer *reply)
{
	struct asking a = { -1, address, clock_ms() + timeout_ms };
	struct tenon_buffer frame = TENON_BUFFER_INIT;
	int err = dial(address, timeout_ms, &a.fd);

	if (err)
		return err;
	tenon_buffer_u32(&frame, (uint32_t)strlen(message));
	err = tenon_buffer_append(&frame, message, strlen(message));
	if (!err)
		err = greet(&a);
	if (!err)
		err = send_all(&a, frame.data, frame.size);
	if (!err)
		err = receive_frame(&a, reply);
	tenon_buffer_fini(&frame);
	close(a.fd);
	return err;
}
