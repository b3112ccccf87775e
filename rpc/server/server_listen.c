/* SPDX-License-Identifier: MIT */
/*
 * Where clients come from: addresses, sockets that a service manager passed (LISTEN_FDS, as sd_listen_fds(3)
 * describes it), and standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "rpc/server/relay.h"
#include "rpc/server/server_state.h"
#include "rpc/wire/address.h"

#define FIRST_PASSED 3
#define HANDSHAKE_MS 10000

/* whether clients on other machines are trusted, or must prove that they may connect */
static bool network_allowed(const struct server *s)
{
	return s->options.trust_network || s->secret.size;
}

static bool is_socket(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_STREAM;
}

static bool is_listening(int fd)
{
	int listening = 0;
	socklen_t size = sizeof(listening);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) && listening;
}

static int add_listener(struct server *s, int fd, const char *path)
{
	char bound[ADDRESS_TEXT];

	if (s->listener_count == LISTEN_MOST)
		return tenon_error(-TENON_E_VALUE, "more than %d addresses", LISTEN_MOST);
	s->listeners[s->listener_count++] = (struct listener){ fd, path, address_is_local(fd) };
	address_bound(fd, bound);
	server_say(s, "listening on %s", bound);
	return 0;
}

static int add_peer(struct server *s, struct peer *p)
{
	return server_add_peer(s, p, HANDSHAKE_MS)
		       ? 0
		       : tenon_error(-TENON_E_NOMEM, "no memory for a connection");
}

/* A connection whose peer is already there. */
static int add_connected(struct server *s, int fd)
{
	struct peer p = { PEER_NONE, .fd = fd };

	if (!s->options.trust_network && !unix_peer_allowed(&s->allowed, fd))
		return tenon_error(-TENON_E_VALUE,
				   "the peer's user may not connect (--allow-user)");
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	p.state = server_first_state(s, fd);
	return add_peer(s, &p);
}

/* A socket that was opened by others: to listen on, or with a client. */
static int add_passed(struct server *s, int fd)
{
	char bound[ADDRESS_TEXT];

	if (!is_socket(fd))
		return tenon_error(-TENON_E_VALUE, "descriptor %d is no stream socket", fd);
	if (!network_allowed(s) && !address_is_local(fd)) {
		address_bound(fd, bound);
		return tenon_error(
			-TENON_E_VALUE,
			"the socket %s that was passed can be reached by other machines: "
			"add --secret-file or --trust-network",
			bound);
	}
	if (!is_listening(fd))
		return add_connected(s, fd);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return add_listener(s, fd, NULL);
}

static long number_in(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

/* Returns the number of sockets that a service manager passed, or an error. */
static int take_passed(struct server *s)
{
	long count = number_in("LISTEN_PID") == getpid() ? number_in("LISTEN_FDS") : 0;
	int fd, err;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (count < 0 || count > LISTEN_MOST)
		return tenon_error(-TENON_E_VALUE, "LISTEN_FDS is %ld: 1 to %d are possible", count,
				   LISTEN_MOST);
	for (fd = FIRST_PASSED; fd < FIRST_PASSED + count; fd++) {
		err = add_passed(s, fd);
		if (err)
			return err;
	}
	return (int)count;
}

/* ---- standard input and output */

/* inetd connects standard error to the client too: messages would be bytes of the protocol */
void server_keep_messages_out(void)
{
	struct stat in, error;
	int null;

	if (fstat(0, &in) || fstat(2, &error) || in.st_dev != error.st_dev ||
	    in.st_ino != error.st_ino)
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, 2);
	close(null);
}

/* Pipes and terminals: a process copies between them and a socket. */
static int add_pipes(struct server *s, int in, int out)
{
	struct peer p = { PEER_NONE, .state = PEER_HANDSHAKE };

	if (!server_start_relay(s, &p, (struct relay_ends){ in, out }, NULL))
		return tenon_error(-TENON_E_IO, "cannot start a relay: %s", strerror(errno));
	s->relay = p.relay;
	return add_peer(s, &p);
}

static int take_stdio(struct server *s)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), in, out;

	if (null < 0)
		return tenon_error(-TENON_E_IO, "/dev/null: %s", strerror(errno));
	in = fcntl(0, F_DUPFD_CLOEXEC, FIRST_PASSED);
	out = fcntl(1, F_DUPFD_CLOEXEC, FIRST_PASSED);
	dup2(null, 0);
	dup2(null, 1);
	close(null);
	if (in < 0 || out < 0)
		return tenon_error(-TENON_E_IO, "standard input and output: %s", strerror(errno));
	if (!is_socket(in))
		return add_pipes(s, in, out);
	close(out);
	return add_passed(s, in);
}

/* ---- addresses */

static int open_address(struct server *s, const char *text)
{
	char bound[ADDRESS_TEXT];
	int fd, err;

	if (s->listener_count == LISTEN_MOST)
		return tenon_error(-TENON_E_VALUE, "more than %d addresses", LISTEN_MOST);
	err = address_listen(text, network_allowed(s), &fd, bound);
	return err ? err : add_listener(s, fd, text);
}

int server_listen(struct server *s)
{
	const char *const *text;
	int err;

	if (s->options.stdio)
		return take_stdio(s);
	err = take_passed(s);
	if (err)
		return err < 0 ? err : 0;
	for (text = s->options.listen; *text; text++) {
		err = open_address(s, *text);
		if (err)
			return err;
	}
	if (!s->listener_count && !s->options.proxy)
		return tenon_error(-TENON_E_USAGE, "a server without an address has no clients");
	return 0;
}

void server_unlisten(struct server *s)
{
	while (s->listener_count) {
		const struct listener *l = &s->listeners[--s->listener_count];

		close(l->fd);
		if (l->path)
			address_unlink(l->path);
	}
}
