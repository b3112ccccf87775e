/* SPDX-License-Identifier: MIT */
/* Open a connection by its scheme, and read and write descriptors with deadlines. */
#include "rpc/wire/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/error.h>
#include <time.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "rpc/wire/connection_socket.h"
#include "rpc/wire/connection_ssh.h"
#include "rpc/wire/tls.h"

#define NS_PER_MS UINT64_C(1000000)

/**
 * struct fd_connection - a connection of descriptors
 * @in: to read from
 * @out: to write to
 * @socket: @out is a socket
 */
struct fd_connection {
	struct connection base;
	int in;
	int out;
	bool socket;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

uint64_t connection_deadline(uint64_t ms)
{
	uint64_t now = now_ns();

	if (!ms || ms > (UINT64_MAX - now) / NS_PER_MS)
		return 0;
	return now + ms * NS_PER_MS;
}

/* Milliseconds for poll(), rounded up; -1 for no limit. */
static int poll_time(const struct connection *c)
{
	uint64_t now, ms = c->silence_ms ? c->silence_ms : UINT64_MAX;

	if (c->deadline) {
		now = now_ns();
		if (now >= c->deadline)
			return 0;
		if ((c->deadline - now + NS_PER_MS - 1) / NS_PER_MS < ms)
			ms = (c->deadline - now + NS_PER_MS - 1) / NS_PER_MS;
	}
	if (ms == UINT64_MAX)
		return -1;
	return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static int timed_out(const struct connection *c)
{
	if (c->deadline && now_ns() >= c->deadline)
		return tenon_error(-TENON_E_TIMEOUT, "%s: no answer within the time limit",
				   c->name);
	return tenon_error(-TENON_E_TIMEOUT, "%s: not a byte passed for %.9g s", c->name,
			   (double)c->silence_ms / 1000);
}

int connection_wait(const struct connection *c, int fd, short events)
{
	struct pollfd p = { fd, events, 0 };
	int n;

	do
		n = poll(&p, 1, poll_time(c));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		return 0;
	if (!n)
		return timed_out(c);
	return tenon_error(-TENON_E_IO, "%s: poll: %s", c->name, strerror(errno));
}

/* ---- descriptors */

static bool would_block(void)
{
	return errno == EAGAIN;
}

/* The kernel watches the silence on a socket: then each read is one call. */
static bool kernel_waits(const struct fd_connection *c)
{
	return c->socket && !c->base.deadline;
}

static ssize_t fd_read(struct connection *base, void *data, size_t size)
{
	struct fd_connection *c = (struct fd_connection *)base;
	bool wait = !kernel_waits(c) && (base->deadline || base->silence_ms);
	ssize_t n;
	int err;

	for (;;) {
		err = wait ? connection_wait(base, c->in, POLLIN) : 0;
		if (err)
			return err;
		n = read(c->in, data, size);
		if (n >= 0)
			return n;
		if (would_block() && kernel_waits(c) && base->silence_ms)
			return timed_out(base);
		wait = would_block();
		if (!wait && errno != EINTR)
			return tenon_error(-TENON_E_IO, "cannot read from %s: %s", base->name,
					   strerror(errno));
	}
}

/* write() to a pipe whose other end is closed raises SIGPIPE, which would end the program. */
static ssize_t write_quietly(int fd, const struct iovec *parts, int count)
{
	static const struct timespec at_once;
	sigset_t pipe_set, old, pending;
	ssize_t n;
	int error;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	n = writev(fd, parts, count);
	error = errno;
	if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_set, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = error;
	return n;
}

/*
 * A pipe that is ready takes PIPE_BUF bytes at once; a write of more blocks until all are taken, past every limit.
 */
static ssize_t write_ready(int fd, const struct iovec *parts)
{
	const struct iovec piece = { parts->iov_base,
				     parts->iov_len < PIPE_BUF ? parts->iov_len : PIPE_BUF };

	return write_quietly(fd, &piece, 1);
}

static ssize_t write_some(struct fd_connection *c, const struct iovec *parts, int count)
{
	struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)parts };

	message.msg_iovlen = (size_t)count;
	if (!c->socket)
		return c->base.deadline || c->base.silence_ms ? write_ready(c->out, parts)
							      : write_quietly(c->out, parts, count);
	return sendmsg(c->out, &message, MSG_NOSIGNAL | (c->base.deadline ? MSG_DONTWAIT : 0));
}

static ssize_t fd_write(struct connection *base, const struct iovec *parts, int count)
{
	struct fd_connection *c = (struct fd_connection *)base;
	bool wait = (base->deadline || base->silence_ms) && !c->socket;
	ssize_t n;
	int err;

	for (;;) {
		err = wait ? connection_wait(base, c->out, POLLOUT) : 0;
		if (err)
			return err;
		n = write_some(c, parts, count);
		if (n >= 0)
			return n;
		if (would_block() && kernel_waits(c) && base->silence_ms)
			return timed_out(base);
		wait = would_block();
		if (!wait && errno != EINTR)
			return tenon_error(-TENON_E_IO, "cannot write to %s: %s", base->name,
					   strerror(errno));
	}
}

/* Without a time limit, wait in a call that reads: so the server knows what its session does (process_list.h). */
static int fd_await(const struct connection *base)
{
	const struct fd_connection *c = (const struct fd_connection *)base;
	char byte;

	if (c->socket && !base->deadline && recv(c->in, &byte, 1, MSG_PEEK) >= 0)
		return 0;
	return connection_wait(base, c->in, POLLIN);
}

static void fd_silence(struct connection *base)
{
	const struct fd_connection *c = (const struct fd_connection *)base;
	const struct timeval limit = { (time_t)(base->silence_ms / 1000),
				       (suseconds_t)(base->silence_ms % 1000 * 1000) };

	if (!c->socket)
		return;
	setsockopt(c->in, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(c->out, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static void fd_close(struct connection *base)
{
	struct fd_connection *c = (struct fd_connection *)base;

	close(c->in);
	if (c->out != c->in)
		close(c->out);
	free(c);
}

int connection_of_fds(int in, int out_fd, const char *name, struct connection **out)
{
	static const struct connection_ops ops = { fd_read, fd_write, fd_close, fd_await,
						   fd_silence };
	struct fd_connection *c = calloc(1, sizeof(*c));
	socklen_t size = sizeof(int);
	int type;

	*out = NULL;
	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a connection");
	c->base.ops = &ops;
	snprintf(c->base.name, sizeof(c->base.name), "%s", name);
	c->in = in;
	c->out = out_fd;
	c->socket = !getsockopt(out_fd, SOL_SOCKET, SO_TYPE, &type, &size);
	*out = &c->base;
	return 0;
}

/* ---- any connection */

void connection_close(struct connection *c)
{
	if (c)
		c->ops->close(c);
}

int connection_read(struct connection *c, void *data, size_t size)
{
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		n = c->ops->read(c, (char *)data + got, size - got);
		if (n < 0)
			return (int)n;
		if (!n)
			return tenon_error(-TENON_E_IO, "%s closed the connection", c->name);
		got += (size_t)n;
	}
	return 0;
}

void connection_limit_silence(struct connection *c, uint64_t ms)
{
	c->silence_ms = ms;
	if (c->ops->silence)
		c->ops->silence(c);
}

int connection_await(const struct connection *c)
{
	return c->ops->await(c);
}

static void advance(struct iovec *parts, int count, size_t n)
{
	int i;

	for (i = 0; i < count && n; i++) {
		size_t part = n < parts[i].iov_len ? n : parts[i].iov_len;

		parts[i].iov_base = (char *)parts[i].iov_base + part;
		parts[i].iov_len -= part;
		n -= part;
	}
}

int connection_write(struct connection *c, struct iovec *parts, int count)
{
	ssize_t n;

	for (;;) {
		while (count && !parts->iov_len) {
			parts++;
			count--;
		}
		if (!count)
			return 0;
		n = c->ops->write(c, parts, count);
		if (n < 0)
			return (int)n;
		advance(parts, count, (size_t)n);
	}
}

/* ---- addresses */

/* fd:NUMBER: a socket of this process that is connected to a server */
static int open_descriptor(const char *rest, uint64_t deadline, struct connection **out)
{
	char *end;
	long fd;
	int err;

	errno = 0;
	fd = strtol(rest, &end, 10);
	if (errno || end == rest || *end || fd < 0 || fd > INT_MAX)
		return tenon_error(-TENON_E_VALUE, "\"%s\" is no number of a descriptor", rest);
	err = connection_of_fds((int)fd, (int)fd, "a socket of this process", out);
	if (err)
		close((int)fd);
	else
		(*out)->deadline = deadline;
	return err;
}

/* one row for each scheme; an address without a scheme is a socket */
static const struct scheme {
	const char *prefix;
	int (*open)(const char *rest, uint64_t deadline, struct connection **out);
} schemes[] = {
	{ "rpc://", connection_open_socket },  { "rpc+unix://", connection_open_unix },
	{ "rpc+ssh://", connection_open_ssh }, { "rpc+tls://", tls_connection_open },
	{ "unix:", connection_open_unix },     { "fd:", open_descriptor },
	{ "", connection_open_socket },
};

int connection_open(const char *text, uint64_t deadline, struct connection **out)
{
	const struct scheme *s = schemes;

	while (strncmp(text, s->prefix, strlen(s->prefix)) != 0)
		s++;
	*out = NULL;
	return s->open(text + strlen(s->prefix), deadline, out);
}
