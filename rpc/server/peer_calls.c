/* SPDX-License-Identifier: MIT */
/*
 * System calls of a session that the filter does not decide by itself: calls on a thread, which must be one of the
 * caller's process, and connect() to a socket that the operator allowed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "rpc/server/notification.h"
#include "rpc/server/sandbox_calls.h"
#include "rpc/server/server_state.h"

/* ---- threads */

/*
 * The argument is a number, not a pointer, so the kernel continues with the value that is checked
 * here.
 */
static bool is_thread_of_caller(const struct notification *n, uint64_t thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%d", n->pid, (int)thread);
	return !access(path, F_OK);
}

/* ---- sockets */

/* Copy an address out of the caller's memory once. Empty when it is none of this machine. */
static void read_address(const struct notification *n, struct sockaddr_un *address)
{
	struct iovec here = { address, sizeof(*address) };
	struct iovec there = { (void *)(uintptr_t)n->arguments[1], sizeof(*address) };
	const size_t path = offsetof(struct sockaddr_un, sun_path);

	memset(address, 0, sizeof(*address));
	if (n->arguments[2] < there.iov_len)
		there.iov_len = (size_t)n->arguments[2];
	if (there.iov_len <= path || process_vm_readv((pid_t)n->pid, &here, 1, &there, 1, 0) < 0 ||
	    address->sun_family != AF_UNIX)
		memset(address, 0, sizeof(*address));
}

static const char *find_allowed(const char *const *allowed, const struct sockaddr_un *address)
{
	const size_t most = sizeof(address->sun_path);

	for (; allowed && *allowed; allowed++)
		if (strlen(*allowed) < most && !strncmp(*allowed, address->sun_path, most))
			return *allowed;
	return NULL;
}

/* A socket that is connected to a path; a negative errno. Does not wait. */
static int connect_to(const char *path)
{
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd, err = EPROTOTYPE;
	size_t i;

	strcpy(to.sun_path, path);
	for (i = 0; i < 2 && err == EPROTOTYPE; i++) {
		fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd < 0)
			return -errno;
		if (!connect(fd, (const struct sockaddr *)&to, sizeof(to)))
			return fd;
		err = errno;
		close(fd);
	}
	return -err;
}

/* Flags of a descriptor of the caller, as /proc shows them. */
static int flags_of(const struct notification *n, int fd)
{
	char path[64], text[256] = "", *at;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%d", n->pid, fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	if (read(file, text, sizeof(text) - 1) < 0)
		*text = '\0';
	close(file);
	at = strstr(text, "flags:");
	return at ? (int)strtol(at + strlen("flags:"), NULL, 8) : 0;
}

/*
 * The caller's memory may change at any time, so the kernel does not go on with its address: the server connects a
 * socket of its own to the operator's path, and puts it in the place of the caller's.
 */
static int connect_for(const struct server *s, const struct peer *p, const struct notification *n)
{
	const int socket = (int)n->arguments[0], flags = flags_of(n, socket);
	struct notification_descriptor give = { .id = n->id,
						.flags = NOTIFICATION_SET_FD,
						.to = (uint32_t)socket,
						.to_flags = (uint32_t)(flags & O_CLOEXEC) };
	struct sockaddr_un address;
	const char *path;
	int fd, err = 0;

	read_address(n, &address);
	path = find_allowed(s->options.sockets, &address);
	if (!path)
		return -EPERM;
	fd = connect_to(path);
	if (fd < 0)
		return fd;
	if (!(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, 0);
	give.from = (uint32_t)fd;
	if (ioctl(p->limits.fd, NOTIFICATION_GIVE, &give) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* ---- all of them */

bool peer_calls_is_start(const struct notification *n)
{
#ifdef SYS_fork
	if (n->number == SYS_fork || n->number == SYS_vfork)
		return true;
#endif
	return n->number == SYS_clone && !(n->arguments[0] & CLONE_REFUSED);
}

/* Test whether a call is one of those on a thread, and on one that the caller may choose. */
static bool is_on_own_thread(const struct notification *n)
{
	switch (n->number) {
	case SYS_tkill:
	case SYS_sched_setaffinity:
	case SYS_sched_setscheduler:
	case SYS_sched_setparam:
		return is_thread_of_caller(n, n->arguments[0]);
	case SYS_setpriority:
		return !n->arguments[0] && is_thread_of_caller(n, n->arguments[1]);
	case SYS_ioprio_set:
		return n->arguments[0] == 1 && is_thread_of_caller(n, n->arguments[1]);
	}
	return false;
}

void peer_calls_answer(struct server *s, const struct peer *p, const struct notification *n,
		       struct notification_answer *a)
{
	if (is_on_own_thread(n)) {
		a->flags = NOTIFICATION_CONTINUE;
	} else if (n->number == SYS_connect && s->options.sockets) {
		a->error = connect_for(s, p, n);
	} else if (!s->options.learn) {
		a->error = -EPERM;
	} else {
		peer_learn(s, p, n);
		if (n->number < CALLS_NEWER)
			a->flags = NOTIFICATION_CONTINUE;
		else
			a->error = -ENOSYS;
	}
}
