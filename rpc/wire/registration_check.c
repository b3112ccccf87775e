/* SPDX-License-Identifier: MIT */
/* The health check: a command whose exit status says whether the server may offer itself. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/wire/registration.h"
#include "rpc/wire/utf8.h"

#define CHECK_MS 60000
/* a server that is listed is checked again, and so is one that failed */
#define CHECK_EACH 30000

static void run_command(const char *command, int output, pid_t server)
{
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), i;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server)
		_exit(127);
	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, 0);
	dup2(output, 1);
	dup2(output, 2);
	/* all other descriptors are closed by exec */
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void start_check(struct registration *r, uint64_t now)
{
	pid_t server = getpid();
	int ends[2];

	r->check_at = now + CHECK_EACH;
	if (pipe2(ends, O_CLOEXEC))
		return;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	r->check_pid = fork();
	if (!r->check_pid)
		run_command(r->options.check, ends[1], server);
	close(ends[1]);
	if (r->check_pid < 0) {
		r->check_pid = 0;
		close(ends[0]);
		return;
	}
	setpgid(r->check_pid, r->check_pid);
	r->check_fd = ends[0];
	r->check_at = now + CHECK_MS;
}

/* The last line of the output. */
static void last_line(int fd, char *line, size_t size)
{
	char text[4096];
	size_t used = 0;
	char *at;
	ssize_t n;

	/* the pipe holds 64 KiB: keep the end */
	while ((n = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		used += (size_t)n;
		if (used > sizeof(text) / 2) {
			memmove(text, text + used - 512, 512);
			used = 512;
		}
	}
	while (used && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	at = strrchr(text, '\n');
	at = at ? at + 1 : text;
	snprintf(line, size, "%.*s", (int)size - 1, at);
	utf8_repair(line, strlen(line));
}

static void set_health(struct registration *r, const char *text)
{
	unsigned int i;
	bool listed = false;

	for (i = 0; i < r->options.slots; i++)
		listed |= r->slots[i].state == SLOT_LISTED || r->slots[i].state == SLOT_PUTTING;
	if (strcmp(r->health, text)) {
		char line[500];

		snprintf(line, sizeof(line), *text ? "taken out: %s" : "healthy again%s", text);
		r->options.say(r->options.context, line);
		snprintf(r->health, sizeof(r->health), "%s", text);
		r->updated = r->told = false;
	}
	/* a tracker withdraws offers only when the connection closes */
	if (*text && listed)
		registration_disconnect(r, 0);
	for (i = 0; !*text && i < r->options.slots; i++)
		if (r->slots[i].state == SLOT_UNCHECKED)
			r->slots[i].state = SLOT_FREE;
}

bool registration_reap(struct registration *r, pid_t pid)
{
	char line[200], text[300] = "";
	int status;

	if (!r->check_pid || pid != r->check_pid)
		return false;
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	last_line(r->check_fd, line, sizeof(line));
	close(r->check_fd);
	r->check_fd = -1;
	if (WIFSIGNALED(status) && clock_ms() >= r->check_at)
		snprintf(text, sizeof(text), "the health check took longer than %d s",
			 CHECK_MS / 1000);
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "the health check was killed by signal %d",
			 WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(text, sizeof(text), "the health check failed with status %d%s%s",
			 WEXITSTATUS(status), *line ? ": " : "", line);
	r->check_pid = 0;
	r->check_at = clock_ms() + CHECK_EACH;
	set_health(r, text);
	return true;
}

void registration_check_step(struct registration *r, uint64_t now)
{
	bool unchecked = false, busy = true;
	unsigned int i;

	if (r->check_pid) {
		if (now >= r->check_at)
			kill(-r->check_pid, SIGKILL);
		return;
	}
	for (i = 0; i < r->options.slots; i++) {
		unchecked |= r->slots[i].state == SLOT_UNCHECKED;
		busy &= r->slots[i].state == SLOT_BUSY;
	}
	/* a check must not disturb a session that has the board for itself */
	if (busy)
		r->check_at = now + CHECK_EACH;
	else if ((unchecked && !*r->health) || now >= r->check_at)
		start_check(r, now);
}

void registration_check_kill(struct registration *r)
{
	if (!r->check_pid)
		return;
	kill(-r->check_pid, SIGKILL);
	while (waitpid(r->check_pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(r->check_fd);
	r->check_pid = 0;
}
