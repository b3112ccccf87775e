/* SPDX-License-Identifier: MIT */
/*
 * Runs a command, some of whose system calls fail or end it.
 *
 * usage: disturb [--count FILE] [--at N | --one-in N --seed S] [--errno E | --kill] CALLS COMMAND...
 *
 * CALLS are kinds of calls, separated by commas: open map ioctl read write wait clone futex file. Those of the command and of
 * all that it starts are counted, from when the dynamic linker has started the command. --at chooses one of them, --one-in many
 * at random; the chosen fail with errno E, or their process is killed before they are made. FILE gets how many calls there
 * were. The exit status is that of the command, or 128 and its signal; 125 if this machine cannot do it, which a message explains.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 125

static const struct {
	const char *kind;
	int number;
} calls[] = {
#ifdef SYS_open
	{ "open", SYS_open },
#endif
	{ "open", SYS_openat },	    { "open", SYS_memfd_create }, { "map", SYS_mmap },
	{ "map", SYS_mremap },	    { "map", SYS_mprotect },	  { "ioctl", SYS_ioctl },
	{ "read", SYS_read },	    { "read", SYS_pread64 },	  { "read", SYS_readv },
	{ "read", SYS_recvfrom },   { "read", SYS_recvmsg },	  { "write", SYS_write },
	{ "write", SYS_pwrite64 },  { "write", SYS_writev },	  { "write", SYS_sendto },
	{ "write", SYS_ftruncate },
#ifdef SYS_poll
	{ "wait", SYS_poll },
#endif
	{ "wait", SYS_ppoll },	    { "wait", SYS_epoll_pwait },  { "clone", SYS_clone },
#ifdef SYS_clone3
	{ "clone", SYS_clone3 },
#endif
	{ "futex", SYS_futex }, /* waits alone: a wake does not fail */
	{ "file", SYS_fsync },	    { "file", SYS_fdatasync },
#ifdef SYS_rename
	{ "file", SYS_rename },	    { "file", SYS_unlink },	  { "file", SYS_mkdir },
	{ "file", SYS_chmod },
#endif
	{ "file", SYS_renameat },   { "file", SYS_renameat2 },	  { "file", SYS_unlinkat },
	{ "file", SYS_mkdirat },    { "file", SYS_fchmod },	  { "file", SYS_ftruncate },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

struct plan {
	const char *count_file;
	unsigned long at, one_in;
	uint64_t state; /* of the random numbers */
	int error;
	bool kill;
};

static unsigned long seen;
static bool has_begun;

static void die(const char *what)
{
	fprintf(stderr, "disturb: %s: %s\n", what, strerror(errno));
	exit(CANNOT);
}

/* ---- the command's side */

static bool is_in(const char *list, const char *kind)
{
	size_t size = strlen(kind);
	const char *at = list;

	while ((at = strstr(at, kind))) {
		if ((at == list || at[-1] == ',') && (!at[size] || at[size] == ','))
			return true;
		at += size;
	}
	return false;
}

/*
 * Install a filter for this process and its children: the kernel stops calls of the kinds in @list until the parent has
 * answered, and runs all others. Return: the descriptor that the parent answers on; -1.
 */
static int filter(const char *list)
{
	struct sock_filter code[2 * CALLS + 4];
	struct sock_fprog program = { 0, code };
	unsigned short n = 0;
	size_t i;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 1);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	for (i = 0; i < CALLS; i++) {
		if (!is_in(list, calls[i].kind))
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned int)calls[i].number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

/* The filter lets sendmsg() pass: it is not in the table of calls. */
static bool send_descriptor(int channel, int fd)
{
	char byte = 0;
	struct iovec part = { &byte, 1 };
	union control control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(channel, &message, 0) == 1;
}

static void start(int channel, const char *list, char **command)
{
	int fd = filter(list);

	if (fd < 0)
		die("seccomp");
	if (!send_descriptor(channel, fd))
		die("sendmsg");
	/* execve() closes the channel and the descriptor of the filter: both have close-on-exec set */
	execvp(command[0], command);
	_exit(127);
}

/* ---- the watching side */

static int receive_descriptor(int channel)
{
	char byte;
	struct iovec part = { &byte, 1 };
	union control control;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	int fd;

	if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool counts(const struct seccomp_data *call)
{
	unsigned long long operation = call->args[1] & FUTEX_CMD_MASK;

	/* The dynamic linker unmaps its cache last. The command cannot handle failures before that. */
	if (call->nr == SYS_munmap) {
		has_begun = true;
		return false;
	}
	if (call->nr == SYS_futex && operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
		return false;
	return has_begun;
}

static bool is_chosen(struct plan *plan, const struct seccomp_data *call)
{
	if (!counts(call))
		return false;
	seen++;
	if (plan->at)
		return seen == plan->at;
	return plan->one_in && !(random_next(&plan->state) % plan->one_in);
}

static void answer(int listener, struct plan *plan)
{
	struct seccomp_notif_resp response = { 0 };
	struct seccomp_notif request;

	memset(&request, 0, sizeof(request));
	/* the process may have ended while it asked */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request))
		return;
	response.id = request.id;
	response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (is_chosen(plan, &request.data)) {
		if (plan->kill)
			kill((pid_t)request.pid, SIGKILL);
		response.flags = 0;
		response.error = -plan->error;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void watch(int listener, struct plan *plan)
{
	struct pollfd ask = { listener, POLLIN, 0 };

	/* the listener hangs up when the last process with this filter is gone */
	while (poll(&ask, 1, -1) > 0 || errno == EINTR) {
		if (ask.revents & POLLIN)
			answer(listener, plan);
		else if (ask.revents)
			break;
	}
}

static void write_count(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "%lu\n", seen) < 0 || fclose(f))
		die(path);
}

static int run(struct plan *plan, const char *list, char **command)
{
	int channel[2], status, listener;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel))
		die("socketpair");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		start(channel[1], list, command);
	close(channel[1]);
	listener = receive_descriptor(channel[0]);
	if (listener >= 0)
		watch(listener, plan);
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	if (plan->count_file)
		write_count(plan->count_file);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void usage(void)
{
	fprintf(stderr, "usage: disturb [--count FILE] [--at N | --one-in N --seed S] "
			"[--errno E | --kill] CALLS COMMAND...\n");
	exit(CANNOT);
}

int main(int argc, char **argv)
{
	struct plan plan = { .state = 1, .error = EIO };
	int i = 1;

	for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--kill"))
			plan.kill = true;
		else if (!strcmp(argv[i], "--count"))
			plan.count_file = argv[++i];
		else if (!strcmp(argv[i], "--at"))
			plan.at = strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--one-in"))
			plan.one_in = strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--seed"))
			plan.state = strtoull(argv[++i], NULL, 10) | 1;
		else if (!strcmp(argv[i], "--errno"))
			plan.error = atoi(argv[++i]);
		else
			usage();
	}
	if (argc - i < 2)
		usage();
	return run(&plan, argv[i], argv + i + 1);
}
