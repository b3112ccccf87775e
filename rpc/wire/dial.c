/* SPDX-License-Identifier: MIT */
/* Resolve a host and connect to one of its addresses. */
#include "rpc/wire/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "rpc/wire/address.h"

int dial_resolve(const char *text, struct dial_target *out)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *found, *at;
	char host[ADDRESS_HOST], port[ADDRESS_PORT];
	int err = address_split(text, host, port);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	err = getaddrinfo(host, port, &hints, &found);
	if (err)
		return address_unknown(text, -TENON_E_VALUE, err);
	out->text = text;
	for (at = found; at && out->count < DIAL_ADDRESSES; at = at->ai_next) {
		memcpy(&out->addresses[out->count], at->ai_addr, at->ai_addrlen);
		out->sizes[out->count++] = at->ai_addrlen;
	}
	freeaddrinfo(found);
	return 0;
}

int dial_start(const struct dial_target *target, unsigned int i)
{
	const struct sockaddr *address = (const struct sockaddr *)&target->addresses[i];
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, saved;

	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	if (!connect(fd, address, target->sizes[i]) || errno == EINPROGRESS)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/* Returns 0 or an errno. */
static int wait_connected(int fd, uint64_t deadline)
{
	struct pollfd polled = { fd, POLLOUT, 0 };
	int error = ETIMEDOUT, n;
	socklen_t size = sizeof(error);
	uint64_t now;

	do {
		now = clock_ms();
		n = now >= deadline ? 0 : poll(&polled, 1, (int)(deadline - now) + 1);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	return error;
}

int dial(const char *text, uint64_t timeout_ms, int *fd)
{
	const uint64_t deadline = clock_ms() + timeout_ms;
	struct dial_target target;
	unsigned int i;
	int error = 0, err = dial_resolve(text, &target);

	if (err)
		return err;
	for (i = 0; i < target.count; i++) {
		*fd = dial_start(&target, i);
		error = *fd < 0 ? errno : wait_connected(*fd, deadline);
		if (!error) {
			fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
			return 0;
		}
		if (*fd >= 0)
			close(*fd);
	}
	return tenon_error(error == ETIMEDOUT ? -TENON_E_TIMEOUT : -TENON_E_IO,
			   "cannot connect to %s: %s", text, strerror(error));
}
