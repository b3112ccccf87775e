/* SPDX-License-Identifier: MIT */
/* Expected failures run in a process of their own: one that passes by now has to leave its list. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cts/cts.h"

#define SECONDS_MOST 60

extern char **environ;

/* A failure that never ends is one too. */
static int wait_for(pid_t child)
{
	const struct timespec nap = { 0, 10 * 1000 * 1000 };
	int status, i;

	for (i = 0; i < SECONDS_MOST * 100; i++) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
		if (ended < 0 && errno != EINTR)
			return 128;
		nanosleep(&nap, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return 128;
}

bool cts_passes(const char *name)
{
	char *arguments[] = { (char *)(uintptr_t) "cts", NULL };
	posix_spawn_file_actions_t quiet;
	pid_t child;
	int failed;

	setenv("CTS_ONLY", name, 1);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	failed = posix_spawn(&child, "/proc/self/exe", &quiet, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&quiet);
	unsetenv("CTS_ONLY");
	return !failed && !wait_for(child);
}
