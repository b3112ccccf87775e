/* SPDX-License-Identifier: MIT */
/* Ways out of a sandbox: sockets of others, and the network. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "escape_calls.h"

static struct sockaddr_un outside_socket(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	strcpy(to.sun_path, OUTSIDE_SOCKET);
	return to;
}

static int64_t connects(struct sockaddr_un to, socklen_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : stopped(connect(fd, (struct sockaddr *)&to, size));
}

int64_t connects_to_a_socket(void)
{
	return connects(outside_socket(), sizeof(struct sockaddr_un));
}

int64_t connects_to_an_abstract_socket(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "\0tenon-escape" };

	return connects(to, offsetof(struct sockaddr_un, sun_path) + 13);
}

int64_t sends_to_a_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_un to = outside_socket();

	if (fd < 0)
		return errno;
	/* ECONNREFUSED or EPROTOTYPE: it was asked */
	return sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof(to)) < 0 &&
			       (errno == EPERM || errno == EACCES)
		       ? errno
		       : 0;
}

/* a pair of datagram sockets can send to others than each other */
int64_t sends_to_a_socket_from_a_pair(void)
{
	int fds[2];

	return stopped(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));
}

static int64_t opens_socket(long family, long type)
{
	return stopped(syscall(SYS_socket, family, type, 0L));
}

int64_t opens_the_network(void)
{
	return opens_socket(AF_INET, SOCK_STREAM);
}

int64_t opens_the_network_with_a_long_number(void)
{
	return opens_socket((long)(UINT64_C(0x100000000) | AF_INET), SOCK_STREAM);
}

int64_t opens_netlink(void)
{
	return opens_socket(AF_NETLINK, SOCK_RAW);
}

int64_t opens_the_host_of_a_machine(void)
{
	return opens_socket(40, SOCK_STREAM);
}

int64_t opens_a_packet_socket(void)
{
	return opens_socket(AF_PACKET, SOCK_RAW);
}

int64_t opens_the_kernels_ciphers(void)
{
	return opens_socket(38, SOCK_SEQPACKET);
}

static int find_socket(void)
{
	struct stat st;
	int fd;

	for (fd = 3; fd < 1024; fd++)
		if (!fstat(fd, &st) && S_ISSOCK(st.st_mode))
			return fd;
	return -1;
}

int64_t dials_on_the_clients_connection(void)
{
	const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	/* a TCP connection can be ended so, and begun to another address */
	return connect(find_socket(), &nowhere, sizeof(nowhere)) < 0 && errno == EPERM ? EPERM : 0;
}

int64_t dials_fast_on_the_clients_connection(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = 1 };

	return sendto(find_socket(), "", 0, 0x20000000, (struct sockaddr *)&to, sizeof(to)) < 0 &&
			       errno == EPERM
		       ? EPERM
		       : 0;
}

int64_t loads_a_filter_for_a_socket(void)
{
	static struct {
		uint16_t code;
		uint8_t yes, no;
		uint32_t k;
	} all = { 0x06, 0, 0, 0xffffffff };
	struct {
		unsigned short length;
		void *filter;
	} program = { 1, &all };

	return stopped(setsockopt(find_socket(), SOL_SOCKET, 26, &program, sizeof(program)));
}
