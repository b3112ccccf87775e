/* SPDX-License-Identifier: MIT */
/* Run a program, and keep what it wrote and how it ended. */
#include "spawn.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void spawn_command(struct spawn *s)
{
	static char words[1024];
	const char *emulator = getenv("EMULATOR");
	const char *command = getenv("TENON_COMMAND");
	char *word, *rest;

	memset(s, 0, sizeof(*s));
	snprintf(words, sizeof(words), "%s", emulator ? emulator : "");
	for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		spawn_arg(s, word);
	spawn_arg(s, command ? command : "build/tenon");
}

void spawn_arg(struct spawn *s, const char *arg)
{
	if (s->argc < SPAWN_ARGS_MAX - 1)
		s->argv[s->argc++] = arg;
}

/* one end of a pipe, read until the other closes */
struct capture {
	int fd;
	char *text;
	size_t size;
};

static int capture_more(struct capture *c)
{
	ssize_t n;
	char *grown = realloc(c->text, c->size + 4097);

	if (!grown)
		return 0;
	c->text = grown;
	n = read(c->fd, c->text + c->size, 4096);
	if (n > 0)
		c->size += (size_t)n;
	c->text[c->size] = '\0';
	return n > 0;
}

static void capture_both(struct capture *out, struct capture *err)
{
	struct pollfd fds[2] = { { .fd = out->fd, .events = POLLIN },
				 { .fd = err->fd, .events = POLLIN } };
	struct capture *captures[2] = { out, err };
	int i;

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, -1) < 0)
			break;
		for (i = 0; i < 2; i++)
			if (fds[i].fd >= 0 && fds[i].revents && !capture_more(captures[i]))
				fds[i].fd = -1;
	}
}

static void become(struct spawn *s, const char *folder, const int out[2], const int err[2])
{
	if (dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0)
		_exit(125);
	close(out[0]);
	close(out[1]);
	close(err[0]);
	close(err[1]);
	if (folder && chdir(folder) < 0)
		_exit(125);
	s->argv[s->argc] = NULL;
	execvp(s->argv[0], (char *const *)s->argv);
	_exit(125);
}

void spawn_run(struct spawn *s, const char *folder)
{
	struct capture out = { -1, NULL, 0 }, err = { -1, NULL, 0 };
	int out_fds[2], err_fds[2], status = 0;
	pid_t child;

	s->status = -1;
	if (pipe(out_fds) < 0)
		return;
	if (pipe(err_fds) < 0)
		goto close_out;
	fflush(NULL);
	child = fork();
	if (child == 0)
		become(s, folder, out_fds, err_fds);
	close(out_fds[1]);
	close(err_fds[1]);
	out.fd = out_fds[0];
	err.fd = err_fds[0];
	if (child > 0) {
		capture_both(&out, &err);
		waitpid(child, &status, 0);
		s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	s->out = out.text ? out.text : calloc(1, 1);
	s->err = err.text ? err.text : calloc(1, 1);
	close(err_fds[0]);
	close(out_fds[0]);
	return;

close_out:
	close(out_fds[0]);
	close(out_fds[1]);
}

const char *spawn_line(const struct spawn *s)
{
	static char line[4096];
	size_t used = 0;
	int i;

	line[0] = '\0';
	for (i = 0; i < s->argc && used < sizeof(line) - 1; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", i ? " " : "",
					 s->argv[i]);
	return line;
}

void spawn_fini(struct spawn *s)
{
	free(s->out);
	free(s->err);
	s->out = s->err = NULL;
}
