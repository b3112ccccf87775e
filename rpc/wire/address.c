/* SPDX-License-Identifier: MIT */
/* Listen on addresses of TCP and Unix sockets, and print the bound one. */
#include "rpc/wire/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"

#define UNIX "unix:"

/* the kernel lowers it to net.core.somaxconn; beyond it, clients try again after a second */
#define BACKLOG 4096

static bool is_unix(const char *text)
{
	return !strncmp(text, UNIX, strlen(UNIX));
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;

	if (address->sa_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static int failed(const char *text)
{
	return tenon_error(-TENON_E_IO, "cannot listen on %s: %s", text, strerror(errno));
}

/* A socket file without a listener is left over from a server that was killed. */
static void remove_stale(const struct sockaddr_un *address)
{
	struct stat st;
	int fd;

	if (lstat(address->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	    errno == ECONNREFUSED)
		unlink(address->sun_path);
	close(fd);
}

static int listen_unix(const char *text, int *fd, char bound[ADDRESS_TEXT])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = text + strlen(UNIX);
	mode_t mask;
	int err;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return tenon_error(-TENON_E_VALUE,
				   "%s: the path has %zu bytes, 1 to %zu are possible", text,
				   strlen(path), sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	remove_stale(&address);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return failed(text);
	/* for this user alone from the first moment */
	mask = umask(0177);
	err = bind(*fd, (const struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (err || listen(*fd, BACKLOG)) {
		err = failed(text);
		close(*fd);
		return err;
	}
	snprintf(bound, ADDRESS_TEXT, "%s", text);
	return 0;
}

static int port_of(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)address)->sin_port);
	return address->ss_family == AF_INET6
		       ? ntohs(((const struct sockaddr_in6 *)address)->sin6_port)
		       : -1;
}

/* Return: whether the address is known; else the text is "?" */
static bool print_bound(int fd, char bound[ADDRESS_TEXT])
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t size = sizeof(address);
	char host[100];

	strcpy(bound, "?");
	if (getsockname(fd, (struct sockaddr *)&address, &size))
		return false;
	address_of_peer(&address, size, host, sizeof(host));
	snprintf(bound, ADDRESS_TEXT, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host,
		 port_of(&address));
	return true;
}

static int listen_tcp(const char *text, bool trust_network, int *fd, char bound[ADDRESS_TEXT])
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *found;
	char host[ADDRESS_HOST], port[ADDRESS_PORT];
	int on = 1, err = address_split(text, host, port);

	if (err)
		return err;
	err = getaddrinfo(host, port, &hints, &found);
	if (err)
		return address_unknown(text, -TENON_E_VALUE, err);
	if (!trust_network && !is_loopback(found->ai_addr)) {
		freeaddrinfo(found);
		return tenon_error(
			-TENON_E_VALUE,
			"%s can be reached by other machines, and the protocol has no "
			"authentication: each could run code here. Listen on 127.0.0.1 and "
			"use an ssh tunnel, or pass --trust-network",
			text);
	}
	*fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd >= 0)
		setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* a server whose port getsockname() does not tell cannot announce it to clients */
	if (*fd < 0 || bind(*fd, found->ai_addr, found->ai_addrlen) || listen(*fd, BACKLOG) ||
	    !print_bound(*fd, bound)) {
		err = failed(text);
		if (*fd >= 0)
			close(*fd);
	}
	freeaddrinfo(found);
	return err;
}

bool address_is_local(int fd)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t size = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &size))
		return false;
	return address.ss_family == AF_UNIX || is_loopback((struct sockaddr *)&address);
}

void address_bound(int fd, char bound[ADDRESS_TEXT])
{
	struct sockaddr_un address;
	socklen_t size = sizeof(address);

	memset(&address, 0, sizeof(address));
	if (!getsockname(fd, (struct sockaddr *)&address, &size) && address.sun_family == AF_UNIX)
		snprintf(bound, ADDRESS_TEXT, UNIX "%.100s", address.sun_path);
	else
		print_bound(fd, bound);
}

int address_port(int fd)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t size = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &size) ? -1 : port_of(&address);
}

int address_listen(const char *text, bool trust_network, int *fd, char bound[ADDRESS_TEXT])
{
	if (is_unix(text))
		return listen_unix(text, fd, bound);
	return listen_tcp(text, trust_network, fd, bound);
}

void address_unlink(const char *text)
{
	if (is_unix(text))
		unlink(text + strlen(UNIX));
}

/* Numbers alone: getnameinfo() brings a static program 2 KiB for names. */
void address_of_peer(const void *address, size_t address_size, char *text, size_t size)
{
	const char mapped[] = "::ffff:";
	const struct sockaddr_in6 *six = address;
	const struct sockaddr_in *four = address;
	char host[INET6_ADDRSTRLEN] = "?", scope[16] = "";

	if (address_size >= sizeof(*four) && four->sin_family == AF_INET)
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
	if (address_size >= sizeof(*six) && six->sin6_family == AF_INET6) {
		inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
		if (six->sin6_scope_id)
			snprintf(scope, sizeof(scope), "%%%u", (unsigned int)six->sin6_scope_id);
	}
	/* an IPv4 peer of a socket for both */
	if (!strncmp(host, mapped, strlen(mapped)) && strchr(host, '.'))
		memmove(host, host + strlen(mapped), strlen(host + strlen(mapped)) + 1);
	snprintf(text, size, "%s%s", host, scope);
}

void address_keep_alive(int fd, int idle, int count)
{
	int on = 1, interval = 10;

	if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)))
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}
