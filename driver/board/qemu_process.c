/* SPDX-License-Identifier: MIT */
/* Spawn the emulator below a shell that kills it when this process ends. */
#include "driver/board/qemu_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/spawn_signals.h"

#define SHELL "/bin/sh"
/* the shell ends when the emulator does or when we do; its standard input is the leash */
#define SCRIPT                                                                                     \
	"exec 5<&0; (exec 3<&- 4<&-; read -r word <&5; kill -9 0) & exec \"$@\" 5<&- < /dev/null"
#define WORDS_MOST 48

enum { MEMORY = 3, UART = 4, FIRST_FREE = 10 };

extern char **environ;

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* descriptors above those that the child is given: dup2() in the child then replaces none that it needs */
static int above(int *fd)
{
	int copy = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE);

	if (copy < 0)
		return -1;
	close(*fd);
	*fd = copy;
	return 0;
}

static int describe_child(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
			  int memory, int leash, int uart)
{
	int err = spawn_reset_signals(attributes);

	if (!err)
		err = posix_spawn_file_actions_adddup2(actions, leash, STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null",
						       O_WRONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(actions, memory, MEMORY);
	if (!err)
		err = posix_spawn_file_actions_adddup2(actions, uart, UART);
	return err;
}

static int spawn(const char *const *words, int memory, int leash, int uart, pid_t *pid)
{
	const char *line[WORDS_MOST] = { SHELL, "-c", SCRIPT, "mortise" };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	size_t i;
	int err;

	for (i = 0; words[i] && i + 5 < WORDS_MOST; i++)
		line[i + 4] = words[i];
	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return err;
	err = posix_spawnattr_init(&attributes);
	if (err)
		goto destroy_actions;
	err = describe_child(&actions, &attributes, memory, leash, uart);
	if (!err)
		err = posix_spawn(pid, SHELL, &actions, &attributes, (char *const *)(uintptr_t)line,
				  environ);
	posix_spawnattr_destroy(&attributes);
destroy_actions:
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

int qemu_process_start(const char *const *words, int memory, struct qemu_process *out)
{
	int leash[2] = { -1, -1 }, uart[2] = { -1, -1 }, copy = -1, err = 0;

	*out = (struct qemu_process){ -1, -1, -1 };
	if (pipe2(leash, O_CLOEXEC) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, uart) ||
	    above(&leash[0]) || above(&uart[1]))
		err = errno;
	if (!err) {
		copy = fcntl(memory, F_DUPFD_CLOEXEC, FIRST_FREE);
		err = copy < 0 ? errno : spawn(words, copy, leash[0], uart[1], &out->group);
	}
	close_if_open(&copy);
	close_if_open(&leash[0]);
	close_if_open(&uart[1]);
	if (err) {
		close_if_open(&leash[1]);
		close_if_open(&uart[0]);
		return tenon_error(-TENON_E_IO, "%s cannot be started: %s", words[0],
				   strerror(err));
	}
	out->leash = leash[1];
	out->uart = uart[0];
	return 0;
}

void qemu_process_signal(const struct qemu_process *p, int signal)
{
	if (p->group > 0)
		kill(-p->group, signal);
}

void qemu_process_await_stop(const struct qemu_process *p)
{
	while (waitpid(p->group, NULL, WUNTRACED) < 0 && errno == EINTR)
		;
}

void qemu_process_stop(struct qemu_process *p)
{
	pid_t pid;

	qemu_process_signal(p, SIGKILL);
	do
		pid = waitpid(p->group, NULL, 0);
	while (pid < 0 && errno == EINTR);
	qemu_process_forget(p);
}

void qemu_process_forget(struct qemu_process *p)
{
	close_if_open(&p->leash);
	close_if_open(&p->uart);
	p->group = -1;
}
