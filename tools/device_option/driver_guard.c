/* SPDX-License-Identifier: MIT */
/* A child process that waits while a driver opens a device. */
#include "tools/device_option/driver_guard.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/cli.h"

/* A driver's own child processes may keep the socket open, so also poll for the parent. */
#define LOOK_EVERY 200

static struct driver_guard *on_guard; /* set while a driver is called */
static pid_t own_pid;

static void wait_for_guard(struct driver_guard *guard)
{
	while (guard->pid > 0 && waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Registered with atexit(): a driver that calls exit() must not set the command's exit status. */
static void on_exit_called(void)
{
	/* Ignore exits of child processes that a driver starts. */
	if (!on_guard || getpid() != own_pid)
		return;
	close(on_guard->fd);
	wait_for_guard(on_guard);
	_exit(CLI_UNAVAILABLE);
}

/* Waits. Return: whether the command ended while the driver was called; no, if that cannot be found out */
static bool ends_early(int fd, pid_t parent)
{
	struct pollfd end = { fd, POLLIN, 0 };
	char byte;
	int n;

	do
		n = poll(&end, 1, LOOK_EVERY);
	while ((!n || (n < 0 && errno == EINTR)) && getppid() == parent);
	return n > 0 ? !read(fd, &byte, 1) : getppid() != parent;
}

/* The child process: other threads of the command do not exist here, so do not use stdio. */
static void wait_for_end(int fd, pid_t parent, const char *text, size_t size)
{
	_exit(ends_early(fd, parent) && write(STDERR_FILENO, text, size) < 0 ? 1 : 0);
}

void driver_guard_begin(struct driver_guard *guard, const char *name)
{
	static int registered;
	pid_t parent = getpid();
	int fds[2], size;
	char text[512];

	*guard = (struct driver_guard){ 0, -1 };
	if (!registered)
		registered = !atexit(on_exit_called);
	size = snprintf(
		text, sizeof(text),
		"tenon: the command ended while the driver of %.200s opened it. Ask drivers "
		"in processes of their own: tenon doctor\n",
		name);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		return;
	guard->pid = fork();
	if (!guard->pid) {
		close(fds[1]);
		wait_for_end(fds[0], parent, text, (size_t)size);
	}
	close(fds[0]);
	guard->fd = fds[1];
	on_guard = guard;
	own_pid = parent;
}

void driver_guard_end(struct driver_guard *guard)
{
	on_guard = NULL;
	if (guard->fd < 0)
		return;
	/* the child process may have ended: no signal then */
	send(guard->fd, "", 1, MSG_NOSIGNAL);
	close(guard->fd);
	wait_for_guard(guard);
}
