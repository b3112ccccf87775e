/* SPDX-License-Identifier: MIT */
/* opens FILE PROGRAM [ARGUMENT]...: run a program, and print how often FILE was opened meanwhile. */
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	_Alignas(struct inotify_event) char events[1 << 16];
	int fd, opened = 0;
	ssize_t size, at;
	pid_t pid;

	if (argc < 3)
		return 2;
	/* The kernel merges equal events in a row: without closings two openings would be one. */
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0 || inotify_add_watch(fd, argv[1], IN_OPEN | IN_CLOSE) < 0)
		return 77;
	pid = fork();
	if (!pid) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	while ((size = read(fd, events, sizeof(events))) > 0) {
		for (at = 0; at < size;) {
			const struct inotify_event *e = (void *)(events + at);

			opened += (e->mask & IN_OPEN) != 0;
			at += (ssize_t)sizeof(*e) + e->len;
		}
	}
	printf("%d\n", opened);
	return 0;
}
