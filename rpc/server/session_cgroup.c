/* SPDX-License-Identifier: MIT */
/* The cgroup of one session. */
#include "rpc/server/session_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool cgroup_write(int folder, const char *file, const char *text)
{
	const size_t size = strlen(text);
	int fd = openat(folder, file, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, size) == (ssize_t)size;
	const int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return ok;
}

static void name_of(const struct server_cgroup *g, uint64_t serial, char path[PATH_MAX + 48])
{
	snprintf(path, PATH_MAX + 48, "%s/tenon-%d-%llu", g->path, (int)getpid(),
		 (unsigned long long)serial);
}

/* The limit is for memory and swap together, so there is no swap. A kernel without swap has no such file. */
static bool limit_memory(int cgroup, uint64_t memory)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)memory);
	return cgroup_write(cgroup, "memory.max", text) &&
	       cgroup_write(cgroup, "memory.oom.group", "1") &&
	       (cgroup_write(cgroup, "memory.swap.max", "0") || errno == ENOENT);
}

int session_cgroup_make(const struct server_cgroup *g, uint64_t serial, uint64_t memory,
			unsigned int processes)
{
	char path[PATH_MAX + 48], text[24];
	int fd, saved;

	name_of(g, serial, path);
	if (mkdir(path, 0700))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* one more, for the process that starts the session's first (session_cgroup_fork) */
	snprintf(text, sizeof(text), "%u", processes + 1);
	if (fd >= 0 && (!memory || limit_memory(fd, memory)) &&
	    (!processes || !g->pids || cgroup_write(fd, "pids.max", text)))
		return fd;
	saved = errno;
	if (fd >= 0)
		close(fd);
	rmdir(path);
	errno = saved;
	return -1;
}

/* ---- starting a process */

#define INTO_CGROUP 0x200000000ULL /* CLONE_INTO_CGROUP of linux/sched.h, which may be older */

/* as struct clone_args */
struct clone_arguments {
	uint64_t flags;
	uint64_t pidfd;
	uint64_t child_tid;
	uint64_t parent_tid;
	uint64_t exit_signal;
	uint64_t stack;
	uint64_t stack_size;
	uint64_t tls;
	uint64_t set_tid;
	uint64_t set_tid_size;
	uint64_t cgroup;
};

static pid_t clone_into(int cgroup)
{
#ifdef SYS_clone3
	const struct clone_arguments a = {
		.flags = INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)cgroup,
	};

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
#else
	errno = ENOSYS;
	return -1;
#endif
}

/*
 * Fork the session's process and exit, so that the subreaper becomes its parent. Returns only in
 * the session's process.
 */
static void start_and_end(const int ends[2])
{
	const pid_t own = getpid();
	const pid_t pid = fork();

	if (pid) {
		const bool told = pid > 0 && write(ends[1], &pid, sizeof(pid)) == sizeof(pid);

		_exit(told ? 0 : pid < 0 ? errno : EIO);
	}
	close(ends[0]);
	close(ends[1]);
	while (getppid() == own)
		usleep(50);
}

/* Receive the number of the session's process. Returns 0, or the errno why there is none. */
static int receive(int fd, pid_t between, pid_t *pid)
{
	int status = 0;
	ssize_t n;

	do
		n = read(fd, pid, sizeof(*pid));
	while (n < 0 && errno == EINTR);
	while (waitpid(between, &status, 0) < 0 && errno == EINTR)
		;
	if (n == sizeof(*pid))
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : ENOMEM;
}

/*
 * Start the session in its cgroup. Moving an existing process there takes 10 ms or more (the kernel
 * waits for an RCU grace period); creating it there with clone3() takes none. But the C library
 * knows only processes of fork(). So clone3() creates an intermediate process in the cgroup, and
 * that calls fork().
 */
pid_t session_cgroup_fork(int cgroup)
{
	pid_t between, pid = -1;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	between = clone_into(cgroup);
	if (!between) {
		start_and_end(ends);
		return 0;
	}
	err = between < 0 ? errno : 0;
	close(ends[1]);
	if (!err)
		err = receive(ends[0], between, &pid);
	close(ends[0]);
	errno = err;
	return err ? -1 : pid;
}

/* ---- its end */

void session_cgroup_kill(int cgroup)
{
	(void)cgroup_write(cgroup, "cgroup.kill", "1");
}

bool session_cgroup_ran_out(int cgroup)
{
	char text[512], *at;
	int fd = openat(cgroup, "memory.events", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strstr(text, "oom_kill ");
	return at && strtoull(at + strlen("oom_kill "), NULL, 10);
}

void session_cgroup_remove(struct server_cgroup *g, uint64_t serial, int cgroup)
{
	char path[PATH_MAX + 48];

	session_cgroup_kill(cgroup);
	close(cgroup);
	name_of(g, serial, path);
	if (rmdir(path))
		g->leftover = true;
}
