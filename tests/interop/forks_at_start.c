/* SPDX-License-Identifier: MIT */
/* A module whose constructor forks, and waits for the child. */
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}
