/* SPDX-License-Identifier: MIT */
/* Calls of the C library that fail with EIO on demand: each asks whether it is its turn, and goes on to the real one. */
#include "tests/nomem/failing_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NO_STAND_IN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define NO_STAND_IN
#endif

#ifndef NO_STAND_IN

static atomic_long own_count, *seen = &own_count; /* perhaps shared with other processes */
static atomic_bool counting;
static long failing;

static bool fails(const char *name)
{
	if (!atomic_load(&counting) || atomic_fetch_add(seen, 1) + 1 != failing)
		return false;
	if (getenv("NOMEM_TRACE"))
		fprintf(stderr, "call %ld: %s\n", failing, name);
	errno = EIO;
	return true;
}

/* in the headers, functions with large offsets have names of their own */
#define TEXT(name)     #name
#define SYMBOL64(name) TEXT(name##64)
#define SYMBOL(name)   TEXT(name)

#define STAND_IN(type, failure, name, symbol, parameters, arguments)                               \
	__attribute__((visibility("default"))) type name parameters                                \
	{                                                                                          \
		static type(*real) parameters;                                                     \
                                                                                                   \
		if (!real)                                                                         \
			*(void **)&real = dlsym(RTLD_NEXT, symbol);                                \
		return fails(#name) ? failure : real arguments;                                    \
	}

#define CALL(type, failure, name, parameters, arguments)                                           \
	STAND_IN(type, failure, name, SYMBOL(name), parameters, arguments)
#define CALL64(type, failure, name, parameters, arguments)                                         \
	STAND_IN(type, failure, name, SYMBOL64(name), parameters, arguments)

/* ---- files */

static mode_t mode_of(int flags, va_list more)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	static int (*real)(const char *path, int flags, ...);
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = mode_of(flags, more);
	va_end(more);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "open64");
	return fails("open") ? -1 : real(path, flags, mode);
}

__attribute__((visibility("default"))) int openat(int at, const char *path, int flags, ...)
{
	static int (*real)(int at, const char *path, int flags, ...);
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = mode_of(flags, more);
	va_end(more);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "openat64");
	return fails("openat") ? -1 : real(at, path, flags, mode);
}

CALL(ssize_t, -1, read, (int fd, void *to, size_t size), (fd, to, size))
CALL(ssize_t, -1, write, (int fd, const void *from, size_t size), (fd, from, size))
CALL64(ssize_t, -1, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
CALL64(ssize_t, -1, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
CALL64(off_t, -1, lseek, (int fd, off_t at, int from), (fd, at, from))
CALL64(int, -1, ftruncate, (int fd, off_t size), (fd, size))
CALL(int, -1, flock, (int fd, int what), (fd, what))
CALL64(int, -1, stat, (const char *path, struct stat *st), (path, st))
CALL64(int, -1, lstat, (const char *path, struct stat *st), (path, st))
CALL64(int, -1, fstat, (int fd, struct stat *st), (fd, st))
CALL64(int, -1, fstatat, (int at, const char *path, struct stat *st, int flags),
       (at, path, st, flags))
CALL(int, -1, access, (const char *path, int mode), (path, mode))
CALL(int, -1, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags))
CALL(int, -1, chmod, (const char *path, mode_t mode), (path, mode))
CALL(int, -1, fchmod, (int fd, mode_t mode), (fd, mode))
CALL(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(int, -1, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CALL(int, -1, rename, (const char *from, const char *to), (from, to))
CALL(int, -1, renameat, (int at, const char *from, int to_at, const char *to),
     (at, from, to_at, to))
CALL(ssize_t, -1, readlink, (const char *path, char *to, size_t room), (path, to, room))
CALL(ssize_t, -1, readlinkat, (int at, const char *path, char *to, size_t room),
     (at, path, to, room))
CALL(char *, NULL, realpath, (const char *path, char *to), (path, to))
CALL(char *, NULL, getcwd, (char *to, size_t room), (to, room))
CALL(DIR *, NULL, opendir, (const char *path), (path))
CALL(DIR *, NULL, fdopendir, (int fd), (fd))
CALL64(int, -1, mkstemp, (char *path), (path))
CALL64(int, -1, mkostemp, (char *path, int flags), (path, flags))
CALL(char *, NULL, mkdtemp, (char *path), (path))
CALL(int, -1, memfd_create, (const char *name, unsigned int flags), (name, flags))

/* what tests write need not survive a power failure */
__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return fails("fsync") ? -1 : 0;
}

/* ---- streams */

CALL64(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
CALL(FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))
CALL(FILE *, NULL, open_memstream, (char **to, size_t *size), (to, size))
CALL(int, EOF, fflush, (FILE * stream), (stream))
CALL(int, -1, fseek, (FILE * stream, long at, int from), (stream, at, from))

/* ---- processes, sockets, libraries */

CALL(int, -1, pipe2, (int ends[2], int flags), (ends, flags))
CALL(pid_t, -1, fork, (void), ())
CALL(int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
CALL(int, -1, dup, (int fd), (fd))
CALL(int, -1, dup2, (int fd, int to), (fd, to))
CALL(int, -1, bind, (int fd, const struct sockaddr *at, socklen_t size), (fd, at, size))
CALL(int, -1, connect, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
CALL(int, -1, listen, (int fd, int waiting), (fd, waiting))
CALL(int, -1, accept4, (int fd, struct sockaddr *from, socklen_t *size, int flags),
     (fd, from, size, flags))
CALL(int, -1, getsockname, (int fd, struct sockaddr *at, socklen_t *size), (fd, at, size))
CALL(int, -1, getsockopt, (int fd, int level, int name, void *value, socklen_t *size),
     (fd, level, name, value, size))
CALL(int, -1, setsockopt, (int fd, int level, int name, const void *value, socklen_t size),
     (fd, level, name, value, size))
CALL(int, EAI_SYSTEM, getaddrinfo,
     (const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found),
     (host, port, hints, found))
CALL(int, -1, epoll_create1, (int flags), (flags))
CALL(int, -1, epoll_ctl, (int fd, int what, int watched, struct epoll_event *event),
     (fd, what, watched, event))
CALL(int, -1, epoll_wait, (int fd, struct epoll_event *events, int most, int timeout),
     (fd, events, most, timeout))
CALL(int, -1, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
CALL(int, -1, socketpair, (int domain, int type, int protocol, int pair[2]),
     (domain, type, protocol, pair))
CALL(ssize_t, -1, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags))
CALL(ssize_t, -1, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags))
CALL(ssize_t, -1, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
CALL(ssize_t, -1, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
CALL(int, -1, poll, (struct pollfd * polled, nfds_t count, int timeout), (polled, count, timeout))
CALL(void *, NULL, dlopen, (const char *path, int flags), (path, flags))

bool failing_calls_work(void)
{
	return true;
}

void failing_calls_start(long fails_at)
{
	failing = fails_at;
	atomic_store(seen, 0);
	atomic_store(&counting, true);
}

void failing_calls_share(atomic_long *count)
{
	atomic_store(count, atomic_load(seen));
	seen = count;
}

long failing_calls_stop(void)
{
	atomic_store(&counting, false);
	return atomic_load(seen);
}

#else

bool failing_calls_work(void)
{
	return false;
}

void failing_calls_start(long fails_at)
{
	(void)fails_at;
}

void failing_calls_share(atomic_long *count)
{
	(void)count;
}

long failing_calls_stop(void)
{
	return 0;
}

#endif
