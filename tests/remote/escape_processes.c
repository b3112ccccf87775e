/* SPDX-License-Identifier: MIT */
/* Ways out of a sandbox: other processes, and leaving the group. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "escape_calls.h"

int64_t signals_the_server(void)
{
	return stopped(kill(getppid(), 0));
}

int64_t signals_all(void)
{
	return stopped(kill(-1, 0));
}

int64_t signals_a_thread_of_the_server(void)
{
	return stopped(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

int64_t signals_a_task(void)
{
	return stopped(syscall(SYS_tkill, getppid(), 0));
}

int64_t queues_a_signal(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	return stopped(syscall(SYS_rt_sigqueueinfo, getppid(), 0, &info));
}

static int one_of_a_pair(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ? -1 : fds[0];
}

int64_t has_a_signal_sent(void)
{
	return stopped(fcntl(one_of_a_pair(), F_SETOWN, getppid()));
}

int64_t has_a_signal_sent_newly(void)
{
	int owner[2] = { 1, getppid() };

	return stopped(fcntl(one_of_a_pair(), 15, owner));
}

int64_t chooses_a_signal(void)
{
	return stopped(fcntl(one_of_a_pair(), 10, SIGKILL));
}

int64_t has_signals_sent_for_input(void)
{
	return stopped(fcntl(one_of_a_pair(), F_SETFL, O_ASYNC));
}

int64_t has_signals_sent_by_ioctl(void)
{
	int on = 1;

	return stopped(ioctl(one_of_a_pair(), FIOASYNC, &on));
}

int64_t chooses_a_receiver_by_ioctl(void)
{
	int server = getppid();

	return stopped(ioctl(one_of_a_pair(), 0x8901, &server));
}

int64_t leases_a_file(void)
{
	int fd = open("leased", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return stopped(fcntl(fd, 1024, F_WRLCK));
}

int64_t outlives_the_server(void)
{
	return stopped(prctl(PR_SET_PDEATHSIG, 0));
}

int64_t traces_the_server(void)
{
	return stopped(syscall(SYS_ptrace, 0x4206, (long)getppid(), 0L, 0L));
}

int64_t lets_others_trace(void)
{
	return stopped(prctl(0x59616d61, -1L, 0, 0, 0));
}

static int64_t moves_memory(long call)
{
	static char here[8];
	struct {
		void *base;
		size_t size;
	} local = { here, 1 }, remote = { here, 1 };

	return stopped(syscall(call, (long)getppid(), &local, 1L, &remote, 1L, 0L));
}

int64_t reads_of_the_server(void)
{
	return moves_memory(SYS_process_vm_readv);
}

int64_t writes_to_the_server(void)
{
	return moves_memory(SYS_process_vm_writev);
}

int64_t compares_with_the_server(void)
{
	return stopped(syscall(SYS_kcmp, (long)getpid(), (long)getppid(), 0L, 2L, 2L));
}

/* pidfd_open(), and what comes with it */
int64_t refers_to_the_server(void)
{
	return stopped(syscall(434, (long)getppid(), 0L));
}

int64_t advises_the_server(void)
{
	long fd = syscall(434, (long)getpid(), 0L);

	if (fd < 0)
		return errno;
	return stopped(syscall(440, fd, NULL, 0L, 4L, 0L));
}

int64_t sets_a_priority(void)
{
	return stopped(setpriority(PRIO_PROCESS, (id_t)getppid(), 5));
}

int64_t sets_priorities_of_the_user(void)
{
	return stopped(setpriority(PRIO_USER, 0, 0));
}

int64_t sets_an_io_priority(void)
{
	return stopped(syscall(SYS_ioprio_set, 1L, (long)getppid(), 3L << 13));
}

int64_t pins_the_server(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	return stopped(sched_setaffinity(getppid(), sizeof(set), &set));
}

int64_t schedules_the_server(void)
{
	const struct sched_param none = { 0 };

	return stopped(syscall(SYS_sched_setscheduler, (long)getppid(), 0L, &none));
}

int64_t schedules_the_server_newly(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags, rest[5];
	} attributes = { .size = 48 };

	return stopped(syscall(SYS_sched_setattr, (long)getppid(), &attributes, 0L));
}

int64_t limits_the_server(void)
{
	struct rlimit limit = { 0, RLIM_INFINITY };

	if (getrlimit(RLIMIT_CORE, &limit))
		return EIO;
	return stopped(syscall(SYS_prlimit64, (long)getppid(), (long)RLIMIT_CORE, &limit, NULL));
}

int64_t reads_limits_of_the_server(void)
{
	uint64_t limit[2];

	return stopped(syscall(SYS_prlimit64, (long)getppid(), (long)RLIMIT_CORE, NULL, limit));
}

int64_t moves_pages_of_the_server(void)
{
	long from = 1, to = 1;

	return stopped(syscall(SYS_migrate_pages, (long)getppid(), 2L, &from, &to));
}

int64_t shares_a_core_with_the_server(void)
{
	/* PR_SCHED_CORE; a kernel without it says EINVAL, and that counts as reached */
	long answer = prctl(62, 2L, (long)getppid(), 0L, 0L);

	return answer < 0 && errno == EPERM ? EPERM : 0;
}

int64_t leaves_its_group(void)
{
	return stopped(setpgid(0, getpgid(getppid())));
}

int64_t leaves_its_session(void)
{
	/* the leader of a group cannot: a child tries */
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (!pid)
		_exit(setsid() < 0 ? errno : 0);
	while (syscall(SYS_wait4, (long)pid, &status, 0L, NULL) < 0 && errno == EINTR)
		;
	return status >> 8 & 0xff;
}

static int64_t clones(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, 0L, 0L, 0L, 0L);

	if (!pid)
		_exit(0);
	return stopped(pid);
}

int64_t makes_a_namespace(void)
{
	return clones(CLONE_NEWUSER);
}

int64_t makes_a_namespace_of_itself(void)
{
	return stopped(syscall(SYS_unshare, (long)CLONE_NEWUSER));
}

int64_t makes_a_namespace_newly(void)
{
	uint64_t arguments[8] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
	long pid = syscall(435, arguments, sizeof(arguments));

	if (!pid)
		_exit(0);
	return stopped(pid);
}

int64_t enters_a_namespace(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : stopped(syscall(SYS_setns, (long)fd, 0L));
}

int64_t gives_the_server_a_child(void)
{
	return clones(CLONE_PARENT);
}
