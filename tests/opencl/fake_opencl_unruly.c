/* SPDX-License-Identifier: MIT */
/*
 * A library that misbehaves as soon as it is opened, as UNRULY says. It does so as the library of any API; as that
 * of OpenCL it works where it comes so far.
 */
#include "fake_opencl.c"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		_exit(99);
}

/* Keeps all that is open for a while, as a daemon would. */
static void leave_process_behind(void)
{
	if (!fork()) {
		sleep(30);
		_exit(0);
	}
}

/* Kills the processes that the program has started, and waits until they have ended; the program can still do so, too. */
static void kill_children(void)
{
	FILE *list = fopen("/proc/thread-self/children", "re");
	siginfo_t info;
	int child;

	while (list && fscanf(list, "%d", &child) == 1) {
		kill(child, SIGKILL);
		waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
		say(STDERR_FILENO, "killed a child\n");
	}
	if (list)
		fclose(list);
}

__attribute__((constructor)) static void misbehave(void)
{
	const char *how = getenv("UNRULY");

	if (!how)
		return;
	say(STDERR_FILENO, "words on standard error\n");
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "answer"))
		say(3, "\1\0\0\0\0\0\0\0");
	while (!strcmp(how, "hang"))
		pause();
	while (!strcmp(how, "spew"))
		say(STDERR_FILENO, "and on \033[31m and on\n");
	if (!strcmp(how, "daemon"))
		leave_process_behind();
	if (!strcmp(how, "kill-children"))
		kill_children();
	say(STDOUT_FILENO, "words on standard output\n");
	printf("and more\n");
	if (!strcmp(how, "answer"))
		_exit(0);
}
