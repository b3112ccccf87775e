/* SPDX-License-Identifier: MIT */
/* Run the command as a child with pipes and a deadline, and kill it if it hangs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/spawn_signals.h"
#include "runtime/probe/probe.h"

#define MILLISECOND UINT64_C(1000000)
/* milliseconds between checks for the child's exit, while another process holds its pipes open */
#define LOOK_EVERY 20
/* how long a killed child may take to end */
#define KILL_TIME (2000 * MILLISECOND)
/* reads of 4 KiB: more than a pipe holds */
#define DRAIN_PIECES 256

extern char **environ;

enum { REPORT, WORDS, PIPES };

struct pipes {
	int read[PIPES];
	int write[PIPES];
};

static void close_all(int fds[PIPES])
{
	int i;

	for (i = 0; i < PIPES; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

/* The child's ends get numbers above 3, so that dup2() to 0..3 does not replace them. */
static int open_pipes(struct pipes *p)
{
	int fds[2], i;

	memset(p, 0xff, sizeof(*p)); /* -1 */
	for (i = 0; i < PIPES; i++) {
		if (pipe2(fds, O_CLOEXEC))
			goto failed;
		p->read[i] = fds[0];
		p->write[i] = fcntl(fds[1], F_DUPFD_CLOEXEC, PROBE_REPORT_FD + 1);
		close(fds[1]);
		if (p->write[i] < 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK))
			goto failed;
	}
	return 0;

failed:
	i = errno;
	close_all(p->read);
	close_all(p->write);
	return tenon_error(-TENON_E_UNSUPPORTED, "no pipes to ask a driver with: %s", strerror(i));
}

static int describe_child(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
			  const int write[PIPES])
{
	int err, fd;

	err = spawn_reset_signals(attributes);
	/* standard input too: reading from the write end fails, and needs no /dev/null */
	for (fd = 0; fd <= STDERR_FILENO && !err; fd++)
		err = posix_spawn_file_actions_adddup2(actions, write[WORDS], fd);
	if (!err)
		err = posix_spawn_file_actions_adddup2(actions, write[REPORT], PROBE_REPORT_FD);
	return err;
}

static int start_child(const char *command, const char *backend, const int write[PIPES], pid_t *pid)
{
	char *const words[] = { (char *)(uintptr_t)command, (char *)(uintptr_t)PROBE_OPTION,
				(char *)(uintptr_t)backend, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int err;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		goto failed;
	err = posix_spawnattr_init(&attributes);
	if (err)
		goto destroy_actions;
	err = describe_child(&actions, &attributes, write);
	if (!err)
		err = posix_spawn(pid, command, &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
destroy_actions:
	posix_spawn_file_actions_destroy(&actions);
failed:
	return err ? tenon_error(
			     -TENON_E_UNSUPPORTED,
			     "%s cannot be started to ask a driver: %s. Install the tenon command, "
			     "or name it in the request",
			     command, strerror(err))
		   : 0;
}

/* Keep the end of the output, which tells most about a crash. */
static void keep_words(struct probe_child *child, const char *bytes, size_t size)
{
	size_t most = PROBE_WORDS, drop;

	if (size > most) {
		bytes += size - most;
		size = most;
	}
	drop = child->word_count + size > most ? child->word_count + size - most : 0;
	memmove(child->words, child->words + drop, child->word_count - drop);
	child->word_count -= drop;
	memcpy(child->words + child->word_count, bytes, size);
	child->word_count += size;
}

/*
 * Read once from a pipe, and close it at its end. Return: whether there was data.
 */
static bool read_piece(struct probe_child *child, int fds[PIPES], int which)
{
	char bytes[4096];
	ssize_t n;

	if (fds[which] < 0)
		return false;
	n = read(fds[which], bytes, sizeof(bytes));
	if (n > 0 && which == WORDS)
		keep_words(child, bytes, (size_t)n);
	else if (n > 0 && child->report.size < PROBE_REPORT_MOST)
		tenon_buffer_append(&child->report, bytes, (size_t)n);
	if (n > 0)
		return true;
	if (!n || (errno != EAGAIN && errno != EINTR)) {
		close(fds[which]);
		fds[which] = -1;
	}
	return false;
}

/* Test whether the child exited. An unknown status means yes: other code waited for it. */
static bool has_ended(struct probe_child *child, pid_t pid)
{
	const pid_t ended = waitpid(pid, &child->status, WNOHANG);

	child->is_known = ended == pid;
	return ended != 0;
}

static void sleep_a_little(int fds[PIPES], int milliseconds)
{
	struct pollfd polls[PIPES] = { { fds[REPORT], POLLIN, 0 }, { fds[WORDS], POLLIN, 0 } };

	poll(polls, PIPES, milliseconds);
}

/* Return: whether it ended before the deadline. */
static bool wait_for_child(struct probe_child *child, int fds[PIPES], pid_t pid, uint64_t deadline)
{
	uint64_t now = clock_now();
	bool any;

	while (now < deadline) {
		uint64_t left = (deadline - now) / MILLISECOND + 1;
		/* both pipes are closed: the child is about to exit */
		uint64_t most = fds[REPORT] < 0 && fds[WORDS] < 0 ? 1 : LOOK_EVERY;

		any = read_piece(child, fds, REPORT);
		any |= read_piece(child, fds, WORDS);
		if (!any && has_ended(child, pid))
			return true;
		if (!any)
			sleep_a_little(fds, (int)(left < most ? left : most));
		now = clock_now();
	}
	return has_ended(child, pid);
}

/*
 * Read the rest of the output, with a limit: processes started by the driver may hold the pipes
 * open and keep writing.
 */
static void drain(struct probe_child *child, int fds[PIPES])
{
	int which, pieces;

	for (which = 0; which < PIPES; which++)
		for (pieces = 0; pieces < DRAIN_PIECES; pieces++)
			if (!read_piece(child, fds, which))
				break;
}

static void kill_child(struct probe_child *child, int fds[PIPES], pid_t pid)
{
	uint64_t deadline = clock_now() + KILL_TIME;

	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	/* a process that hangs in the kernel cannot be killed, so wait with a limit */
	while (!has_ended(child, pid) && clock_now() < deadline)
		sleep_a_little((int[PIPES]){ -1, -1 }, 1);
	drain(child, fds);
}

int probe_child_run(const char *command, const char *backend, uint64_t timeout,
		    struct probe_child *child)
{
	uint64_t now = clock_now();
	uint64_t deadline = timeout < UINT64_MAX - now ? now + timeout : UINT64_MAX;
	struct pipes pipes;
	pid_t pid;
	int err;

	memset(child, 0, sizeof(*child));
	err = open_pipes(&pipes);
	if (err)
		return err;
	err = start_child(command, backend, pipes.write, &pid);
	close_all(pipes.write);
	if (!err) {
		child->hung = !wait_for_child(child, pipes.read, pid, deadline);
		if (child->hung)
			kill_child(child, pipes.read, pid);
		else
			drain(child, pipes.read);
		err = child->report.status;
	}
	close_all(pipes.read);
	if (err)
		tenon_buffer_fini(&child->report);
	return err;
}
