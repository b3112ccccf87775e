/* SPDX-License-Identifier: MIT */
/*
 * The processes and threads of a session as a whole, which limits of single processes do not bound. The
 * filter of seccomp has the server decide of each clone(): that holds for root too, and RLIMIT_NPROC does not.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpc/server/notification.h"
#include "rpc/server/process_list.h"
#include "rpc/server/server_state.h"

/* how often processes may be counted, and how long one that is denied waits for its answer */
#define COUNT_MS 100
/* rounds of killing what has left its group */
#define SWEEPS 1000

/* ---- the descriptors, from the session's process */

bool peer_limits_begin(struct peer *p, int *child)
{
	int fds[2];

	*child = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return false;
	p->limits = (struct peer_limits){ .fd = fds[0] };
	*child = fds[1];
	return true;
}

void peer_limits_end(struct peer *p)
{
	if (p->limits.fd >= 0)
		close(p->limits.fd);
	p->limits.fd = -1;
}

/* a message of one byte, and the descriptors that it names, in this order */
#define HAS_LISTENER 1
#define HAS_FOLDER   2

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(2 * sizeof(int))];
};

void peer_limits_send(int socket, int listener, int folder)
{
	union control control = { .room = { 0 } };
	char byte = (char)((listener < 0 ? 0 : HAS_LISTENER) | (folder < 0 ? 0 : HAS_FOLDER));
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int sent[2];
	size_t count = 0;

	if (listener >= 0)
		sent[count++] = listener;
	if (folder >= 0)
		sent[count++] = folder;
	if (count) {
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof(int));
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		memcpy(CMSG_DATA(header), sent, count * sizeof(int));
		/* if the server does not get the listener, each clone() would block forever */
		if (sendmsg(socket, &message, MSG_NOSIGNAL) != 1)
			_exit(1);
	}
	while (count)
		close(sent[--count]);
	close(socket);
}

static void receive_descriptors(struct peer *p)
{
	union control control = { .room = { 0 } };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	ssize_t n = recvmsg(p->limits.fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	const size_t want = (size_t)((byte & HAS_LISTENER) != 0) + ((byte & HAS_FOLDER) != 0);
	size_t have = 0, used = 0;
	int fds[2];

	peer_limits_end(p);
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return;
	have = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(header), (have < 2 ? have : 2) * sizeof(int));
	/* a server that may open no more files gets fewer; a session without its listener would wait in clone() */
	if (have != want || message.msg_flags & MSG_CTRUNC) {
		while (have--)
			close(fds[have]);
		peer_kill(p);
		return;
	}
	if (byte & HAS_LISTENER) {
		p->limits.fd = fds[used++];
		p->limits.listens = true;
	}
	if (byte & HAS_FOLDER)
		p->mounted = fds[used];
}

/* ---- processes and threads */

struct group {
	pid_t number;
	unsigned int tasks;
};

static void add_process(void *context, const struct process *process)
{
	struct group *g = context;

	if (process->group == g->number)
		g->tasks += process->threads;
}

/*
 * Decide whether one more process or thread may start. @count includes all that were started since
 * the last count, so it is never too small; without /proc it is not corrected.
 */
static bool may_start(struct peer *p, unsigned int most)
{
	struct group g = { .number = p->pid };
	const uint64_t now = now_ms();

	if (p->limits.count + 1 >= most && now >= p->limits.counted + COUNT_MS) {
		p->limits.counted = now;
		if (process_list(add_process, &g))
			p->limits.count = g.tasks;
	}
	/* + 1: the session's first thread is not in the count */
	if (p->limits.count + 1 >= most)
		return false;
	p->limits.count++;
	return true;
}

static void answer_listener(struct server *s, struct peer *p)
{
	struct notification n = { 0 };
	struct notification_answer a = { 0 };

	if (ioctl(p->limits.fd, NOTIFICATION_RECEIVE, &n))
		return;
	a.id = n.id;
	if (!peer_calls_is_start(&n)) {
		peer_calls_answer(s, p, &n, &a);
	} else if (may_start(p, s->options.processes_most)) {
		p->limits.used = true;
		a.flags = NOTIFICATION_CONTINUE;
	} else {
		/* code that tries again and again must not keep the server from others */
		p->limits.later = now_ms() + COUNT_MS;
		a.error = -EAGAIN;
	}
	/* fails if the caller was killed in the meantime: it needs no answer */
	ioctl(p->limits.fd, NOTIFICATION_SEND, &a);
}

int peer_limits_polled(struct peer *p)
{
	if (p->limits.later && now_ms() < p->limits.later)
		return -1;
	p->limits.later = 0;
	return p->limits.fd;
}

void peer_limits_serve(struct server *s, struct peer *p, short events)
{
	if (p->limits.fd < 0)
		return;
	if (!p->limits.listens)
		receive_descriptors(p);
	else if (events & POLLIN)
		answer_listener(s, p);
	else
		peer_limits_end(p);
}

/* ---- what left its group, without the filter of seccomp */

struct sweep {
	const struct server *server;
	pid_t own;
	unsigned int found;
};

static bool is_known(const struct server *s, const struct process *process)
{
	unsigned int i;

	/* relays and the keeper are in the server's group */
	if (process->group == getpgrp())
		return true;
	if (s->registered && s->registration.check_pid == process->group)
		return true;
	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].pid && s->peers[i].pid == process->group)
			return true;
	return false;
}

static void kill_unknown(void *context, const struct process *process)
{
	struct sweep *sweep = context;

	if (process->parent != sweep->own || is_known(sweep->server, process))
		return;
	sweep->found++;
	kill(process->pid, SIGKILL);
	while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The server is the parent of what its sessions left behind; children of what is killed come next. */
void server_sweep(const struct server *s)
{
	struct sweep sweep = { .server = s, .own = getpid() };
	int i;

	for (i = 0; i < SWEEPS; i++) {
		sweep.found = 0;
		if (!process_list(kill_unknown, &sweep) || !sweep.found)
			return;
	}
}
