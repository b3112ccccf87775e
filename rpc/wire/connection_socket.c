/* SPDX-License-Identifier: MIT */
/* Connect to TCP and Unix sockets within a deadline. */
#include "rpc/wire/connection_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "rpc/wire/address.h"

/* Finish a connect() that goes on in the background. */
static int finish(const struct connection *c, int fd)
{
	socklen_t size = sizeof(int);
	int error = 0, err = connection_wait(c, fd, POLLOUT);

	if (err)
		return err;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) || error)
		return tenon_error(-TENON_E_IO, "cannot connect to %s: %s", c->name,
				   strerror(error ? error : errno));
	return 0;
}

static int connect_to(const struct connection *c, const struct sockaddr *address, socklen_t size,
		      int *out)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, err = 0;

	*out = -1;
	if (fd < 0)
		return tenon_error(-TENON_E_IO, "%s: socket: %s", c->name, strerror(errno));
	if (connect(fd, address, size)) {
		if (errno == EINPROGRESS || errno == EINTR)
			err = finish(c, fd);
		else
			err = tenon_error(-TENON_E_IO, "cannot connect to %s: %s", c->name,
					  strerror(errno));
	}
	if (err) {
		close(fd);
		return err;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	/* requests are small, and each waits for its reply */
	if (address->sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*out = fd;
	return 0;
}

static int wrap(int fd, const struct connection *c, struct connection **out)
{
	int err = connection_of_fds(fd, fd, c->name, out);

	if (err)
		close(fd);
	else
		(*out)->deadline = c->deadline;
	return err;
}

int connection_open_unix(const char *path, uint64_t deadline, struct connection **out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct connection c = { .deadline = deadline };
	int fd, err;

	*out = NULL;
	snprintf(c.name, sizeof(c.name), "unix:%s", path);
	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return tenon_error(-TENON_E_VALUE,
				   "%s: the path has %zu bytes, 1 to %zu are possible", c.name,
				   strlen(path), sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	err = connect_to(&c, (const struct sockaddr *)&address, sizeof(address), &fd);
	return err ? err : wrap(fd, &c, out);
}

int connection_open_socket(const char *text, uint64_t deadline, struct connection **out)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct connection c = { .deadline = deadline };
	struct addrinfo *found, *a;
	char host[ADDRESS_HOST], port[ADDRESS_PORT];
	int fd = -1, err = address_split(text, host, port);

	*out = NULL;
	if (err)
		return err;
	snprintf(c.name, sizeof(c.name), "%s", text);
	err = getaddrinfo(host, port, &hints, &found);
	if (err)
		return address_unknown(text, -TENON_E_IO, err);
	for (a = found; a && fd < 0; a = a->ai_next) {
		tenon_error_clear();
		err = connect_to(&c, a->ai_addr, a->ai_addrlen, &fd);
	}
	freeaddrinfo(found);
	return err ? err : wrap(fd, &c, out);
}
