/* SPDX-License-Identifier: MIT */
/*
 * Make one kind of system call fail as often as a case says, for tests of a server's error paths.
 *
 * A program that is linked with --wrap for the calls below includes this in its one source.
 */
#ifndef TESTS_REMOTE_FAILING_CALL_H
#define TESTS_REMOTE_FAILING_CALL_H

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	const char *name;
	int error;
	unsigned int times;
} failing;

/* From here on, the next @times calls of @name fail with @error. */
static inline void fail_calls(const char *name, int error, unsigned int times)
{
	failing.name = name;
	failing.error = error;
	failing.times = times;
}

static inline bool call_fails(const char *name)
{
	if (!failing.times || strcmp(failing.name, name) != 0)
		return false;
	failing.times--;
	errno = failing.error;
	return true;
}

/* glibc of 32 bits has calls with times of 64 bits under names of their own */
#if defined(__GLIBC__) && defined(__USE_TIME_BITS64) && __TIMESIZE == 32
#define __real_getsockopt __real___getsockopt64
#define __wrap_getsockopt __wrap___getsockopt64
#define __real_sendmsg	  __real___sendmsg64
#define __wrap_sendmsg	  __wrap___sendmsg64
#endif

#define FAILING_CALL(type, name, parameters, arguments)                                            \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return call_fails(#name) ? -1 : __real_##name arguments;                           \
	}

FAILING_CALL(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILING_CALL(int, socketpair, (int domain, int type, int protocol, int pair[2]),
	     (domain, type, protocol, pair))
FAILING_CALL(int, bind, (int fd, const struct sockaddr *address, socklen_t size),
	     (fd, address, size))
FAILING_CALL(int, listen, (int fd, int backlog), (fd, backlog))
FAILING_CALL(int, connect, (int fd, const struct sockaddr *address, socklen_t size),
	     (fd, address, size))
FAILING_CALL(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *size),
	     (fd, level, name, value, size))
FAILING_CALL(int, poll, (struct pollfd * polled, nfds_t count, int timeout),
	     (polled, count, timeout))
FAILING_CALL(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
FAILING_CALL(ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
FAILING_CALL(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
FAILING_CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
	     (fd, message, flags))
FAILING_CALL(pid_t, fork, (void), ())
FAILING_CALL(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
FAILING_CALL(int, getppid, (void), ())
FAILING_CALL(int, pipe2, (int ends[2], int flags), (ends, flags))
FAILING_CALL(ssize_t, send, (int fd, const void *data, size_t size, int flags),
	     (fd, data, size, flags))

#endif /* TESTS_REMOTE_FAILING_CALL_H */
