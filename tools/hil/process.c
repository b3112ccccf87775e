/* SPDX-License-Identifier: MIT */
/* Start shells, wait for them until a deadline, kill what they left. */
#include "tools/hil/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"

#define STEP_MS 20

bool stop_is_requested(const struct stop *stop)
{
	struct pollfd poll_fd = { .fd = stop->fd, .events = POLLIN };

	return *stop->signalled || (stop->fd >= 0 && poll(&poll_fd, 1, 0) > 0);
}

void process_pause(const struct stop *stop, int milliseconds)
{
	struct pollfd poll_fd = { .fd = stop->fd, .events = POLLIN };

	if (!*stop->signalled)
		poll(&poll_fd, 1, milliseconds);
}

/* ---- start */

static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child. */
static void run_shell(const char *command, const char *word, int in, int out, pid_t parent)
{
	const struct rlimit size = { PROCESS_OUTPUT_MOST, PROCESS_OUTPUT_MOST };

	reset_signals();
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
	    setrlimit(RLIMIT_FSIZE, &size) || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", command, "sh", word, (char *)NULL);
	_exit(127);
}

int process_start(const char *command, const char *word, const char *in, const char *out,
		  struct process *process)
{
	int from = open(in ? in : "/dev/null", O_RDONLY | O_CLOEXEC);
	int to = open(out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	pid_t parent = getpid(), pid = -1;
	int err = 0;

	process->pid = 0;
	if (from < 0 || to < 0)
		err = tenon_error(-TENON_E_IO, "%s: cannot open: %s", from < 0 ? in : out,
				  strerror(errno));
	if (!err) {
		pid = fork();
		if (!pid)
			run_shell(command, word, from, to, parent);
		if (pid < 0)
			err = tenon_error(-TENON_E_IO, "cannot start a process: %s",
					  strerror(errno));
	}
	if (!err) {
		setpgid(pid, pid);
		process->pid = pid;
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return err;
}

/* ---- end */

bool process_has_ended(struct process *process, int *status)
{
	pid_t pid = process->pid;
	int how;

	if (!pid)
		return true;
	if (waitpid(pid, &how, WNOHANG) != pid)
		return false;
	process->pid = 0;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	/* what the command left behind in its group */
	kill(-pid, SIGKILL);
	return true;
}

int process_wait(struct process *process, uint64_t deadline, const struct stop *stop, int *status)
{
	while (!process_has_ended(process, status)) {
		if (stop_is_requested(stop))
			return -TENON_E_CALL;
		if (clock_now() >= deadline)
			return -TENON_E_TIMEOUT;
		process_pause(stop, STEP_MS);
	}
	return 0;
}

void process_end(struct process *process, uint64_t grace)
{
	uint64_t end = clock_now() + grace;
	pid_t pid = process->pid;
	int status;

	if (!pid)
		return;
	kill(-pid, SIGTERM);
	while (clock_now() < end) {
		if (process_has_ended(process, &status))
			return;
		poll(NULL, 0, STEP_MS);
	}
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	process->pid = 0;
}

/* ---- all children */

/* The parent of a process, from the fourth field of its stat; the name before may have blanks. */
static pid_t parent_of(const char *number)
{
	char path[64], text[512];
	const char *after;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return -1;
	text[size] = '\0';
	after = strrchr(text, ')');
	return after && strlen(after) > 4 ? (pid_t)strtol(after + 4, NULL, 10) : -1;
}

static void kill_present_children(void)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	pid_t self = getpid();

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    parent_of(entry->d_name) == self)
			kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
	}
	closedir(folder);
}

/*
 * This process is a subreaper, so descendants whose parent is killed become its children. A process
 * in an uninterruptible system call does not die, so the number of rounds is limited.
 */
void process_kill_children(void)
{
	for (int round = 0; round < 500; round++) {
		kill_present_children();
		poll(NULL, 0, 10);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return;
	}
}
