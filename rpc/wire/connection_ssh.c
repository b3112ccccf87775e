/* SPDX-License-Identifier: MIT */
/* Start ssh with a target and options, and use its pipes. */
#include "rpc/wire/connection_ssh.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "rpc/wire/address.h"

/* words of ssh's command line */
struct ssh_target {
	char host[ADDRESS_HOST];
	char port[ADDRESS_PORT];
};

static int read_target(const char *text, struct ssh_target *t)
{
	size_t size = strcspn(text, "/");
	char address[ADDRESS_TEXT];

	*t->port = '\0';
	if (!size || size >= sizeof(t->host) || *text == '-')
		return tenon_error(-TENON_E_VALUE, "rpc+ssh://%s names no host", text);
	memcpy(address, text, size);
	address[size] = '\0';
	if (strchr(address, ':'))
		return address_split(address, t->host, t->port);
	strcpy(t->host, address);
	return 0;
}

/* In the child of a child: the parent need not wait for it. */
static void run_ssh(const struct ssh_target *t, int fd)
{
	const char *program = secure_getenv("TENON_RPC_SSH");
	const char *argv[10] = { "ssh", "-T", "-o", "BatchMode=yes" };
	sigset_t none;
	size_t n = 4;

	/* without a port, ssh's configuration decides */
	if (*t->port) {
		argv[n++] = "-p";
		argv[n++] = t->port;
	}
	argv[n++] = "--";
	argv[n++] = t->host;
	argv[n++] = "tenon rpc serve --stdio";
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(fd, 0);
	dup2(fd, 1);
	execvp(program && *program ? program : "ssh", (char *const *)(uintptr_t)argv);
	_exit(127);
}

int connection_open_ssh(const char *text, uint64_t deadline, struct connection **out)
{
	struct ssh_target t;
	int pair[2], err = read_target(text, &t);
	pid_t pid;

	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return tenon_error(-TENON_E_IO, "socketpair: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		if (!fork())
			run_ssh(&t, pair[1]);
		_exit(0);
	}
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	close(pair[1]);
	err = pid < 0 ? tenon_error(-TENON_E_IO, "cannot start ssh: %s", strerror(errno))
		      : connection_of_fds(pair[0], pair[0], text, out);
	if (err)
		close(pair[0]);
	return err;
}
