/* SPDX-License-Identifier: MIT */
/* uploaded code that tries each way out of its sandbox (escapes.h) */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <tenon/value.h>
#include <termios.h>
#include <unistd.h>

#include "escapes.h"

/* the session's folder is in the server's, which is in a folder beside these */
#define OUTSIDE	       "../../../outside"
#define OUTSIDE_SOCKET "../../../outside.sock"
#define READABLE       "/etc/passwd"

/* Turn what a call returned into the errno that stopped it. */
static int64_t stopped(long result)
{
	return result < 0 ? errno : 0;
}

static int open_readable(void)
{
	return open(READABLE, O_RDONLY | O_CLOEXEC);
}

/* With the first of descriptors 0 to 2 and the controlling terminal that lets it: the answer of a call with it. */
static int64_t on_terminals(int64_t (*try)(int fd))
{
	int64_t last = ENOTTY;
	int fd, own = open("/dev/tty", O_RDWR | O_CLOEXEC);

	for (fd = 0; fd < 10; fd++) {
		last = try(fd);
		if (!last)
			return 0;
	}
	return own >= 0 ? try(own) : last;
}

static int64_t types(int fd)
{
	return stopped(ioctl(fd, TIOCSTI, "#"));
}

static int64_t types_into_the_terminal(void)
{
	return on_terminals(types);
}

/* the kernel takes 32 bits of the number; a filter may look at 64 */
static int64_t types_long(int fd)
{
	return stopped(syscall(SYS_ioctl, (long)fd, (long)(UINT64_C(0x100000000) | TIOCSTI), "#"));
}

static int64_t types_with_a_long_number(void)
{
	return on_terminals(types_long);
}

static int64_t pastes(int fd)
{
	char paste = 3;

	return stopped(ioctl(fd, TIOCLINUX, &paste));
}

static int64_t pastes_into_the_terminal(void)
{
	return on_terminals(pastes);
}

static int64_t sets(int fd)
{
	struct termios t;

	/* else a process in the background is stopped */
	signal(SIGTTOU, SIG_IGN);
	if (tcgetattr(fd, &t))
		return errno;
	return stopped(tcsetattr(fd, TCSANOW, &t));
}

static int64_t sets_the_terminal(void)
{
	return on_terminals(sets);
}

static int64_t takes(int fd)
{
	return stopped(ioctl(fd, TIOCSCTTY, 1));
}

static int64_t takes_a_terminal(void)
{
	return on_terminals(takes);
}

static int64_t has_a_terminal(void)
{
	int fd;

	for (fd = 0; fd < 512; fd++)
		if (isatty(fd))
			return 0;
	return ENOTTY;
}

static int64_t has_a_controlling_terminal(void)
{
	return getsid(0) == getsid(getppid()) ? 0 : EPERM;
}

/* the test leaves a file and a pipe open when it starts the server */
static int64_t has_files_from_before(void)
{
	struct stat st;
	int fd;

	for (fd = 3; fd < 4096; fd++)
		if (!fstat(fd, &st) && S_ISREG(st.st_mode))
			return 0;
	return EBADF;
}

/* of the operator */
static int64_t reads_a_token_in_the_environment(void)
{
	return getenv("ESCAPE_TOKEN") ? 0 : ENOENT;
}

static int64_t reads_a_token_in_memory(void)
{
	static char text[1 << 18];
	int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	close(fd);
	return n > 0 && memmem(text, (size_t)n, "ESCAPE_TOKEN", 12) ? 0 : ENOENT;
}

static int64_t truncates_the_log(void)
{
	return stopped(ftruncate(2, 0));
}

/* ---- files */

static int64_t opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int64_t reads_outside(void)
{
	return opens(OUTSIDE, O_RDONLY);
}

static int64_t writes_outside(void)
{
	return opens(OUTSIDE, O_WRONLY);
}

static int64_t creates_outside(void)
{
	return opens(OUTSIDE "-created", O_WRONLY | O_CREAT);
}

static int64_t lists_outside(void)
{
	return opens("..", O_RDONLY | O_DIRECTORY);
}

static int64_t lists_the_cache(void)
{
	return opens("../cache", O_RDONLY | O_DIRECTORY);
}

static int64_t removes_outside(void)
{
	return stopped(unlink(OUTSIDE));
}

static int64_t renames_outside(void)
{
	int64_t made = opens("renamed", O_WRONLY | O_CREAT);

	return made ? made : stopped(rename("renamed", OUTSIDE "-renamed"));
}

static int64_t links_outside(void)
{
	return stopped(link(OUTSIDE, "linked"));
}

static int64_t reads_through_a_link(void)
{
	(void)!symlink(OUTSIDE, "link");
	return opens("link", O_RDONLY);
}

static int64_t makes_shared_memory(void)
{
	int64_t answer = opens("/dev/shm/tenon-escape", O_RDWR | O_CREAT);

	unlink("/dev/shm/tenon-escape");
	return answer;
}

static int64_t opens_of_server(const char *what, int flags)
{
	char path[64], byte;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), what);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return errno;
	n = read(fd, &byte, 1);
	close(fd);
	return n == 1 || flags != O_RDONLY ? 0 : EACCES;
}

static int64_t reads_memory_of_the_server(void)
{
	return opens_of_server("mem", O_RDWR);
}

static int64_t reads_environment_of_the_server(void)
{
	return opens_of_server("environ", O_RDONLY);
}

static int64_t opens_a_descriptor_of_the_server(void)
{
	return opens_of_server("fd/2", O_WRONLY);
}

static int64_t truncates_outside(void)
{
	return stopped(truncate(OUTSIDE, 0));
}

static int64_t truncates_while_it_opens_for_reading(void)
{
	return opens("own", O_WRONLY | O_CREAT) ? EIO : opens("own", O_RDONLY | O_TRUNC);
}

static int64_t opens_for_neither(void)
{
	return opens(OUTSIDE, 3);
}

static int64_t changes_a_mode(void)
{
	return stopped(chmod(OUTSIDE, 0666));
}

static int64_t changes_a_mode_at(void)
{
	return stopped(fchmodat(AT_FDCWD, OUTSIDE, 0666, 0));
}

static int64_t changes_a_mode_of_a_descriptor(void)
{
	struct stat st;
	int fd = open_readable();

	if (fstat(fd, &st))
		return EIO;
	return stopped(fchmod(fd, st.st_mode & 07777));
}

static int64_t changes_a_mode_newly(void)
{
	return stopped(syscall(452, AT_FDCWD, OUTSIDE, 0666, 0));
}

static int64_t changes_an_owner(void)
{
	return stopped(chown(OUTSIDE, getuid(), getgid()));
}

static int64_t changes_an_owner_of_a_descriptor(void)
{
	return stopped(fchown(open_readable(), (uid_t)-1, (gid_t)-1));
}

static int64_t changes_times(void)
{
	return stopped(utimensat(AT_FDCWD, OUTSIDE, NULL, 0));
}

static int64_t changes_times_of_a_descriptor(void)
{
	int fd = open("times", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? EIO : stopped(futimens(fd, NULL));
}

static int64_t sets_an_attribute(void)
{
	return stopped(setxattr(OUTSIDE, "user.escape", "1", 1, 0));
}

static int64_t sets_an_attribute_of_a_descriptor(void)
{
	int fd = open("attributes", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? EIO : stopped(fsetxattr(fd, "user.escape", "1", 1, 0));
}

static int64_t removes_an_attribute(void)
{
	(void)!setxattr(OUTSIDE, "user.escape", "1", 1, 0);
	return stopped(removexattr(OUTSIDE, "user.escape"));
}

/* FS_IOC_GETFLAGS and FS_IOC_SETFLAGS */
static int64_t sets_flags_of_a_file(void)
{
	int fd = open_readable(), flags = 0;

	if (ioctl(fd, _IOR('f', 1, long), &flags))
		return errno;
	return stopped(ioctl(fd, _IOW('f', 2, long), &flags));
}

/* FS_IOC_FSGETXATTR: who can set the project of a file leaves its quota */
static int64_t sets_a_project_of_a_file(void)
{
	char attributes[28];

	return stopped(ioctl(open_readable(), _IOR('X', 31, char[28]), attributes));
}

static int64_t makes_a_node(void)
{
	return stopped(mknodat(AT_FDCWD, "node", S_IFBLK | 0600, 0x800));
}

static int64_t opens_by_handle(void)
{
	struct {
		unsigned int size;
		int type;
		char bytes[128];
	} handle = { .size = 128 };
	int mount;

	return stopped(syscall(SYS_name_to_handle_at, AT_FDCWD, OUTSIDE, &handle, &mount, 0));
}

static int64_t watches_files(void)
{
	int fd = (int)syscall(SYS_inotify_init1, 0);

	return fd < 0 ? errno : stopped(syscall(SYS_inotify_add_watch, fd, "../cache", 0xfff));
}

static int64_t changes_the_root(void)
{
	return stopped(syscall(SYS_chroot, "."));
}

static int64_t mounts(void)
{
	return stopped(syscall(SYS_mount, "none", ".", "tmpfs", 0L, NULL));
}

static int64_t mounts_newly(void)
{
	return stopped(syscall(428, AT_FDCWD, ".", 1));
}

/* ---- sockets */

static struct sockaddr_un outside_socket(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	strcpy(to.sun_path, OUTSIDE_SOCKET);
	return to;
}

static int64_t connects(struct sockaddr_un to, socklen_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : stopped(connect(fd, (struct sockaddr *)&to, size));
}

static int64_t connects_to_a_socket(void)
{
	return connects(outside_socket(), sizeof(struct sockaddr_un));
}

static int64_t connects_to_an_abstract_socket(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "\0tenon-escape" };

	return connects(to, offsetof(struct sockaddr_un, sun_path) + 13);
}

static int64_t sends_to_a_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_un to = outside_socket();

	if (fd < 0)
		return errno;
	/* ECONNREFUSED or EPROTOTYPE: it was asked */
	return sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof(to)) < 0 &&
			       (errno == EPERM || errno == EACCES)
		       ? errno
		       : 0;
}

/* a pair of datagram sockets can send to others than each other */
static int64_t sends_to_a_socket_from_a_pair(void)
{
	int fds[2];

	return stopped(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));
}

static int64_t opens_socket(long family, long type)
{
	return stopped(syscall(SYS_socket, family, type, 0L));
}

static int64_t opens_the_network(void)
{
	return opens_socket(AF_INET, SOCK_STREAM);
}

static int64_t opens_the_network_with_a_long_number(void)
{
	return opens_socket((long)(UINT64_C(0x100000000) | AF_INET), SOCK_STREAM);
}

static int64_t opens_netlink(void)
{
	return opens_socket(AF_NETLINK, SOCK_RAW);
}

static int64_t opens_the_host_of_a_machine(void)
{
	return opens_socket(40, SOCK_STREAM);
}

static int64_t opens_a_packet_socket(void)
{
	return opens_socket(AF_PACKET, SOCK_RAW);
}

static int64_t opens_the_kernels_ciphers(void)
{
	return opens_socket(38, SOCK_SEQPACKET);
}

static int find_socket(void)
{
	struct stat st;
	int fd;

	for (fd = 3; fd < 1024; fd++)
		if (!fstat(fd, &st) && S_ISSOCK(st.st_mode))
			return fd;
	return -1;
}

static int64_t dials_on_the_clients_connection(void)
{
	const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	/* a TCP connection can be ended so, and begun to another address */
	return connect(find_socket(), &nowhere, sizeof(nowhere)) < 0 && errno == EPERM ? EPERM : 0;
}

static int64_t dials_fast_on_the_clients_connection(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = 1 };

	return sendto(find_socket(), "", 0, 0x20000000, (struct sockaddr *)&to, sizeof(to)) < 0 &&
			       errno == EPERM
		       ? EPERM
		       : 0;
}

static int64_t loads_a_filter_for_a_socket(void)
{
	static struct {
		uint16_t code;
		uint8_t yes, no;
		uint32_t k;
	} all = { 0x06, 0, 0, 0xffffffff };
	struct {
		unsigned short length;
		void *filter;
	} program = { 1, &all };

	return stopped(setsockopt(find_socket(), SOL_SOCKET, 26, &program, sizeof(program)));
}

/* ---- processes */

static int64_t signals_the_server(void)
{
	return stopped(kill(getppid(), 0));
}

static int64_t signals_all(void)
{
	return stopped(kill(-1, 0));
}

static int64_t signals_a_thread_of_the_server(void)
{
	return stopped(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static int64_t signals_a_task(void)
{
	return stopped(syscall(SYS_tkill, getppid(), 0));
}

static int64_t queues_a_signal(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	return stopped(syscall(SYS_rt_sigqueueinfo, getppid(), 0, &info));
}

static int one_of_a_pair(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ? -1 : fds[0];
}

static int64_t has_a_signal_sent(void)
{
	return stopped(fcntl(one_of_a_pair(), F_SETOWN, getppid()));
}

static int64_t has_a_signal_sent_newly(void)
{
	int owner[2] = { 1, getppid() };

	return stopped(fcntl(one_of_a_pair(), 15, owner));
}

static int64_t chooses_a_signal(void)
{
	return stopped(fcntl(one_of_a_pair(), 10, SIGKILL));
}

static int64_t has_signals_sent_for_input(void)
{
	return stopped(fcntl(one_of_a_pair(), F_SETFL, O_ASYNC));
}

static int64_t has_signals_sent_by_ioctl(void)
{
	int on = 1;

	return stopped(ioctl(one_of_a_pair(), FIOASYNC, &on));
}

static int64_t chooses_a_receiver_by_ioctl(void)
{
	int server = getppid();

	return stopped(ioctl(one_of_a_pair(), 0x8901, &server));
}

static int64_t leases_a_file(void)
{
	int fd = open("leased", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return stopped(fcntl(fd, 1024, F_WRLCK));
}

static int64_t outlives_the_server(void)
{
	return stopped(prctl(PR_SET_PDEATHSIG, 0));
}

static int64_t traces_the_server(void)
{
	return stopped(syscall(SYS_ptrace, 0x4206, (long)getppid(), 0L, 0L));
}

static int64_t lets_others_trace(void)
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

static int64_t reads_of_the_server(void)
{
	return moves_memory(SYS_process_vm_readv);
}

static int64_t writes_to_the_server(void)
{
	return moves_memory(SYS_process_vm_writev);
}

static int64_t compares_with_the_server(void)
{
	return stopped(syscall(SYS_kcmp, (long)getpid(), (long)getppid(), 0L, 2L, 2L));
}

/* pidfd_open(), and what comes with it */
static int64_t refers_to_the_server(void)
{
	return stopped(syscall(434, (long)getppid(), 0L));
}

static int64_t advises_the_server(void)
{
	long fd = syscall(434, (long)getpid(), 0L);

	if (fd < 0)
		return errno;
	return stopped(syscall(440, fd, NULL, 0L, 4L, 0L));
}

static int64_t sets_a_priority(void)
{
	return stopped(setpriority(PRIO_PROCESS, (id_t)getppid(), 5));
}

static int64_t sets_priorities_of_the_user(void)
{
	return stopped(setpriority(PRIO_USER, 0, 0));
}

static int64_t sets_an_io_priority(void)
{
	return stopped(syscall(SYS_ioprio_set, 1L, (long)getppid(), 3L << 13));
}

static int64_t pins_the_server(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	return stopped(sched_setaffinity(getppid(), sizeof(set), &set));
}

static int64_t schedules_the_server(void)
{
	const struct sched_param none = { 0 };

	return stopped(syscall(SYS_sched_setscheduler, (long)getppid(), 0L, &none));
}

static int64_t schedules_the_server_newly(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags, rest[5];
	} attributes = { .size = 48 };

	return stopped(syscall(SYS_sched_setattr, (long)getppid(), &attributes, 0L));
}

static int64_t limits_the_server(void)
{
	struct rlimit limit = { 0, RLIM_INFINITY };

	if (getrlimit(RLIMIT_CORE, &limit))
		return EIO;
	return stopped(syscall(SYS_prlimit64, (long)getppid(), (long)RLIMIT_CORE, &limit, NULL));
}

static int64_t reads_limits_of_the_server(void)
{
	uint64_t limit[2];

	return stopped(syscall(SYS_prlimit64, (long)getppid(), (long)RLIMIT_CORE, NULL, limit));
}

static int64_t moves_pages_of_the_server(void)
{
	long from = 1, to = 1;

	return stopped(syscall(SYS_migrate_pages, (long)getppid(), 2L, &from, &to));
}

static int64_t shares_a_core_with_the_server(void)
{
	/* PR_SCHED_CORE; a kernel without it says EINVAL, and that counts as reached */
	long answer = prctl(62, 2L, (long)getppid(), 0L, 0L);

	return answer < 0 && errno == EPERM ? EPERM : 0;
}

static int64_t leaves_its_group(void)
{
	return stopped(setpgid(0, getpgid(getppid())));
}

static int64_t leaves_its_session(void)
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

static int64_t makes_a_namespace(void)
{
	return clones(CLONE_NEWUSER);
}

static int64_t makes_a_namespace_of_itself(void)
{
	return stopped(syscall(SYS_unshare, (long)CLONE_NEWUSER));
}

static int64_t makes_a_namespace_newly(void)
{
	uint64_t arguments[8] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
	long pid = syscall(435, arguments, sizeof(arguments));

	if (!pid)
		_exit(0);
	return stopped(pid);
}

static int64_t enters_a_namespace(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : stopped(syscall(SYS_setns, (long)fd, 0L));
}

static int64_t gives_the_server_a_child(void)
{
	return clones(CLONE_PARENT);
}

/* ---- what stays */

#ifdef SYS_shmget
static int64_t makes_a_segment(void)
{
	return stopped(syscall(SYS_shmget, 0L, 4096L, 01600L));
}

static int64_t makes_a_queue(void)
{
	return stopped(syscall(SYS_msgget, 0L, 01600L));
}

static int64_t makes_semaphores(void)
{
	return stopped(syscall(SYS_semget, 0L, 1L, 01600L));
}
#else
static int64_t makes_a_segment(void)
{
	return stopped(syscall(SYS_ipc, 23L, 0L, 4096L, 01600L));
}

static int64_t makes_a_queue(void)
{
	return stopped(syscall(SYS_ipc, 13L, 0L, 01600L));
}

static int64_t makes_semaphores(void)
{
	return stopped(syscall(SYS_ipc, 2L, 0L, 1L, 01600L));
}
#endif

static int64_t makes_a_named_queue(void)
{
	return stopped(syscall(SYS_mq_open, "tenon-escape", (long)(O_CREAT | O_RDWR), 0600L, NULL));
}

static int64_t stores_a_key(void)
{
	return stopped(syscall(SYS_add_key, "user", "escape", "1", 1L, -4L));
}

/* ---- the kernel */

static int64_t rings_the_kernel(void)
{
	static char parameters[256];

	return stopped(syscall(425, 4L, parameters));
}

static int64_t handles_faults(void)
{
	return stopped(syscall(SYS_userfaultfd, 1L));
}

static int64_t loads_a_program(void)
{
	static char attributes[128];

	return stopped(syscall(SYS_bpf, 0L, attributes, sizeof(attributes)));
}

static int64_t counts_events(void)
{
	struct {
		uint32_t type, size;
		uint64_t config, rest[14];
	} attributes = { .type = 1, .size = 64 };

	return stopped(syscall(SYS_perf_event_open, &attributes, 0L, -1L, -1L, 0L));
}

static int64_t moves_its_break(void)
{
	return prctl(35, 7L, 0L, 0L, 0L) < 0 && errno == EPERM ? EPERM : 0;
}

static int64_t becomes_another_machine(void)
{
	return stopped(syscall(SYS_personality, 0x0400000L));
}

static int64_t calls_as_x32(void)
{
#ifdef __x86_64__
	return stopped(syscall(0x40000000L | SYS_getpid));
#else
	return ENOSYS;
#endif
}

static int64_t splices(void)
{
	return stopped(syscall(SYS_tee, 0L, 1L, 1L, 0L)) == EPERM ? EPERM : 0;
}

static int64_t submits_old_io(void)
{
	unsigned long context = 0;

	return stopped(syscall(SYS_io_setup, 1L, &context));
}

static int64_t sets_the_clock(void)
{
	static char now[256];

	/* reads it, with these modes */
	return stopped(syscall(SYS_adjtimex, now));
}

static int64_t reads_the_kernels_log(void)
{
	return stopped(syscall(SYS_syslog, 10L, NULL, 0L));
}

static int64_t sets_a_quota(void)
{
	return syscall(SYS_quotactl, 0L, NULL, 0L, NULL) < 0 && errno == EPERM ? EPERM : 0;
}

static int64_t names_the_machine(void)
{
	return syscall(SYS_sethostname, NULL, -1L) < 0 && errno == EPERM ? EPERM : 0;
}

static int64_t adds_swap(void)
{
	return syscall(SYS_swapon, NULL, 0L) < 0 && errno == EPERM ? EPERM : 0;
}

static int64_t loads_a_module(void)
{
	return syscall(SYS_init_module, NULL, 0L, NULL) < 0 && errno == EPERM ? EPERM : 0;
}

static int64_t asks_for_ports(void)
{
#ifdef SYS_iopl
	return stopped(syscall(SYS_iopl, 0L));
#else
	return ENOSYS;
#endif
}

static int64_t changes_its_user(void)
{
	return stopped(syscall(SYS_setuid, (long)getuid()));
}

#define POINTER(name, part) name,
static int64_t (*const escapes[])(void) = { ESCAPES(POINTER) };

int __tvm_ffi_escape(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret);
int __tvm_ffi_escape(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	const int64_t number = args[0].as.integer;

	(void)self, (void)count;
	ret->type = TENON_TYPE_INT;
	ret->as.integer = number < 0 || number >= (int64_t)(sizeof(escapes) / sizeof(*escapes))
				  ? -1
				  : escapes[number]();
	return 0;
}
