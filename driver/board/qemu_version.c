/* SPDX-License-Identifier: MIT */
/* Run an emulator with --version and read its answer within a time limit. */
#include "driver/board/qemu_version.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/fence_fd.h"
#include "lib/spawn_signals.h"

/* a busy machine starts an emulator within this */
#define PATIENCE_NS UINT64_C(10000000000)

extern char **environ;

static int spawn(const char *command, int output, pid_t *pid)
{
	char *const words[] = { (char *)(uintptr_t)command, (char *)(uintptr_t) "--version", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawnattr_init(&attributes);
	if (err)
		goto destroy_actions;
	err = spawn_reset_signals(&attributes);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
						       O_RDONLY, 0);
	if (!err)
		err = posix_spawn(pid, command, &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
destroy_actions:
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* Read to the end of what the emulator says, or to the deadline; returns the bytes. */
static size_t read_answer(int fd, char *out, size_t size)
{
	uint64_t deadline = clock_now() + PATIENCE_NS;
	size_t used = 0;
	ssize_t n;

	while (used < size && fence_fd_wait(fd, deadline)) {
		n = read(fd, out + used, size - used);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		used += n > 0 ? (size_t)n : 0;
	}
	return used;
}

/* "QEMU emulator version 7.2.22 (Debian …)" */
static void take_version(const char *answer, char *out, size_t size)
{
	const char *word = strstr(answer, "version ");
	size_t n;

	if (!word)
		return;
	word += strlen("version ");
	n = strspn(word, "0123456789.");
	if (n >= size)
		n = size - 1;
	memcpy(out, word, n);
	out[n] = 0;
}

int qemu_version(const char *command, char *out, size_t size)
{
	char answer[256] = "";
	int fd[2], err;
	pid_t pid;

	*out = 0;
	if (pipe2(fd, O_CLOEXEC))
		return 0;
	err = spawn(command, fd[1], &pid);
	close(fd[1]);
	if (!err) {
		read_answer(fd[0], answer, sizeof(answer) - 1);
		kill(-pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		take_version(answer, out, size);
	}
	close(fd[0]);
	return err == ENOMEM ? tenon_error(-TENON_E_NOMEM, "no memory to start %s", command) : 0;
}
