/* SPDX-License-Identifier: MIT */
/* rpc.CreatePipeClient: a session with a server of TVM's RPC that is a child process, which gets its connection as descriptors. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "runtime/tvm/tvm.h"

#define FUNCTION "rpc.CreatePipeClient"

extern char **environ;

/**
 * struct child - what the thread of a session gets, and frees
 * @fd: the server's end of the connection
 * @number: that descriptor as text, which the server gets twice: to read from, and to write to
 * @argc: number of @argv
 * @argv: the command, allocated, and @number twice
 */
struct child {
	int fd;
	char number[16];
	int32_t argc;
	char **argv;
};

static void child_free(struct child *c)
{
	int32_t i;

	for (i = 0; c && c->argv && i < c->argc; i++)
		free(c->argv[i]);
	if (c)
		free(c->argv);
	free(c);
}

/*
 * Servers behind pipes know no greeting, so it is answered here, before the process starts. Its end is waited for, as
 * nothing else would.
 */
static void *relay_child(void *context)
{
	struct child *c = context;
	posix_spawn_file_actions_t actions;
	pid_t process;
	bool started = false;

	if (tvm_greet(c->fd) && !posix_spawn_file_actions_init(&actions)) {
		/* the copy to itself loses the flag that would close it */
		started = !posix_spawn_file_actions_adddup2(&actions, c->fd, c->fd) &&
			  !posix_spawnp(&process, c->argv[0], &actions, NULL, c->argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(c->fd);
	child_free(c);
	if (started)
		waitpid(process, NULL, 0);
	return NULL;
}

static int child_create(const struct tenon_value *args, int32_t count, struct child **out)
{
	struct child *c = calloc(1, sizeof(*c));
	struct tenon_slice word;
	int err = 0;

	*out = c;
	if (c)
		c->argv = calloc((size_t)count + 3, sizeof(*c->argv));
	if (!c || !c->argv)
		return tenon_error(-TENON_E_NOMEM, FUNCTION ": no memory");
	for (; !err && c->argc < count; c->argc++) {
		err = tvm_text(FUNCTION, args, c->argc, &word);
		if (err)
			break;
		c->argv[c->argc] = strndup(word.data, word.size);
		if (!c->argv[c->argc])
			err = tenon_error(-TENON_E_NOMEM, FUNCTION ": no memory");
	}
	return err;
}

static PACKED_CALL(create)
{
	struct child *c = NULL;
	int fds[2], err = arguments_check(FUNCTION, count, 1, INT32_MAX - 3);

	if (!err)
		err = child_create(args, count, &c);
	if (err)
		goto free_child;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		err = tenon_error(-TENON_E_IO, FUNCTION ": no sockets for the session");
		goto free_child;
	}
	c->fd = fds[1];
	snprintf(c->number, sizeof(c->number), "%d", fds[1]);
	c->argv[count] = c->argv[count + 1] = c->number;
	err = tvm_start_thread(relay_child, c);
	if (!err)
		return tvm_connect_over(fds[0], ret);
	close(fds[0]);
	close(fds[1]);
free_child:
	child_free(c);
	return err;
}

const struct global_function tvm_child_session_globals[] = {
	{ FUNCTION, create },
	{ NULL, NULL },
};
