/* SPDX-License-Identifier: MIT */
/* The tracker and the servers of command_test, which are commands in child processes (command_servers.h). */
#include "tests/nomem/command_servers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commands.h"

char command_server[] = "unix:/tmp/tenon-test-XXXXXX/socket", command_tracker[64];

#ifdef CONFIG_REMOTE
static pid_t processes[3];
static char messages[16 * 1024];

/* Run a command until the suite ends; its messages go to a file. */
static pid_t start_command(char *const *line, const char *log)
{
	char *words[32];
	int count = 0;
	pid_t child;

	while ((words[count] = line[count]))
		count++;
	fflush(NULL);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
		_exit(cli_main(count, words, stdout, stderr));
	}
	return child;
}

/* Wait until a file of messages has a text. Return: 0 once it has */
static int await_text(const char *path, const char *text)
{
	ssize_t n;
	int fd = -1;

	for (int i = 0; i < 2000; i++) {
		fd = fd < 0 ? open(path, O_RDONLY | O_CLOEXEC) : fd;
		n = fd >= 0 ? pread(fd, messages, sizeof(messages) - 1, 0) : 0;
		messages[n > 0 ? n : 0] = '\0';
		if (strstr(messages, text))
			break;
		poll(NULL, 0, 10);
	}
	if (fd >= 0)
		close(fd);
	return !strstr(messages, text);
}

/* A tracker, and what it listens at. */
static int start_tracker(const char *folder)
{
	static const char listens[] = "listening on ";
	char log[300], *words[] = { "tenon", "rpc", "tracker", "--listen", "127.0.0.1:0", NULL };
	char *at;

	snprintf(log, sizeof(log), "%s/tracker.log", folder);
	processes[0] = start_command(words, log);
	if (await_text(log, "\n"))
		return 1;
	at = strstr(messages, listens);
	if (!at)
		return 1;
	snprintf(command_tracker, sizeof(command_tracker), "%.*s",
		 (int)strcspn(at + strlen(listens), "\n"), at + strlen(listens));
	return 0;
}

/* A server for the lines with @SERVER, and one that the tracker offers. */
static int start_servers(const char *folder)
{
	char *const slash = strrchr(command_server, '/'), log[300], place[256];
	char *here[] = { "tenon",    "rpc", "serve",	    "--listen", command_server,
			 "--folder", place, "--cache-size", "0",	NULL };
	char *offered[] = { "tenon",	     "rpc",	 "serve", "--listen",
			    "127.0.0.1:0",   "--key",	 "board", "--tracker",
			    command_tracker, "--folder", place,	  NULL };
	bool made;

	snprintf(place, sizeof(place), "%s", folder);
	*slash = '\0';
	made = mkdtemp(command_server + 5) != NULL;
	*slash = '/';
	if (!made)
		return 1;
	snprintf(log, sizeof(log), "%s/server.log", folder);
	processes[1] = start_command(here, log);
	if (await_text(log, command_server))
		return 1;
	snprintf(log, sizeof(log), "%s/offered.log", folder);
	processes[2] = start_command(offered, log);
	return await_text(log, "registered as");
}

int command_servers_start(const char *folder)
{
	return start_tracker(folder) || start_servers(folder);
}

int command_servers_stop(void)
{
	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++)
		if (processes[i] > 0) {
			kill(processes[i], SIGTERM);
			waitpid(processes[i], NULL, 0);
		}
	*strrchr(command_server, '/') = '\0';
	return rmdir(command_server + 5);
}
#else
int command_servers_start(const char *folder)
{
	return 0;
}

int command_servers_stop(void)
{
	return 0;
}
#endif
