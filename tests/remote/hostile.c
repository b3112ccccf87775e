/* SPDX-License-Identifier: MIT */
/* Uploaded code that crashes, hangs, and tries to leave its sandbox. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/time.h>
#include <tenon/value.h>
#include <unistd.h>

#define FUNCTION(name)                                                                             \
	int __tvm_ffi_##name(void *self, const struct tenon_value *args, int32_t count,            \
			     struct tenon_value *ret);                                             \
	int __tvm_ffi_##name(void *self, const struct tenon_value *args, int32_t count,            \
			     struct tenon_value *ret)
#define UNUSED()                                                                                   \
	do {                                                                                       \
		(void)self;                                                                        \
		(void)args;                                                                        \
		(void)count;                                                                       \
		(void)ret;                                                                         \
	} while (0)

static int integer(struct tenon_value *ret, int64_t value)
{
	ret->type = TENON_TYPE_INT;
	ret->as.integer = value;
	return 0;
}

FUNCTION(add_one)
{
	UNUSED();
	return integer(ret, args[0].as.integer + 1);
}

FUNCTION(crashes)
{
	UNUSED();
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 0;
}

FUNCTION(exits)
{
	UNUSED();
	_exit(7);
}

FUNCTION(hangs)
{
	volatile int forever = 1;

	UNUSED();
	while (forever)
		usleep(1000);
	return 0;
}

FUNCTION(sleeps_for_ms)
{
	UNUSED();
	usleep((unsigned int)args[0].as.integer * 1000);
	return integer(ret, 0);
}

/* leaves processes behind, in a folder that is hard to remove */
FUNCTION(leaves_processes)
{
	int i;

	UNUSED();
	for (i = 0; i < 5; i++) {
		if (!fork()) {
			setsid();
			setpgid(0, 0);
			for (;;)
				pause();
		}
	}
	for (i = 0; i < 200; i++)
		if (mkdir("deep", 0700) || chdir("deep"))
			break;
	symlink("/", "link");
	mkfifo("fifo", 0600);
	/* the sandbox refuses chmod() */
	if (chmod(".", 0)) {
		umask(0777);
		mkdir("closed", 0);
	}
	return integer(ret, 0);
}

/* each process starts others as fast as it can, and takes memory */
FUNCTION(forks_without_end)
{
	volatile int forever = 1;

	UNUSED();
	while (forever) {
		char *volatile p = malloc(1 << 20);

		if (p)
			memset(p, 1, 1 << 20);
		if (!fork())
			setsid();
	}
	return 0;
}

static void *sleeps(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* the following two return how many they could start, or a negative errno when it is not the expected one */

FUNCTION(starts_processes)
{
	int i;
	pid_t pid;

	UNUSED();
	for (i = 0; i < 100000; i++) {
		pid = fork();
		if (!pid)
			sleeps(NULL);
		if (pid < 0)
			break;
	}
	return integer(ret, errno == EAGAIN ? i : -errno);
}

FUNCTION(starts_threads)
{
	pthread_attr_t attr;
	pthread_t thread;
	int i, err = 0;

	UNUSED();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	for (i = 0; i < 100000 && !err; i++)
		err = pthread_create(&thread, &attr, sleeps, NULL);
	return integer(ret, err == EAGAIN ? i - 1 : -err);
}

/* takes memory that is not private, which no limit of the process bounds */
FUNCTION(shares_memory)
{
	const size_t size = 16 << 20;
	volatile int forever = 1;
	char *p;

	UNUSED();
	while (forever) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return integer(ret, errno);
		memset(p, 1, size);
		/* as slow as needed for the test to end before the machine's memory does */
		usleep(5000);
	}
	return 0;
}

/* takes as many MiB of such memory as its argument says, and gives it back: faster than the server looks */
FUNCTION(takes_for_a_moment)
{
	const size_t size = (size_t)args[0].as.integer << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	UNUSED();
	if (p == MAP_FAILED)
		return integer(ret, errno);
	memset(p, 1, size);
	munmap(p, size);
	return integer(ret, 0);
}

/* ---- what the sandbox must let code do; 0, or the errno that stopped it */

/* Return: the error of the first file that drivers and C libraries read and this session cannot. */
FUNCTION(reads_configuration)
{
	static const char *const paths[] = { "/etc/ld.so.cache",  "/etc/localtime",
					     "/etc/os-release",	  "/etc/OpenCL/vendors",
					     "/etc/vulkan/icd.d", "/sys/devices/system/cpu/online",
					     "/sys/class" };
	size_t i;

	UNUSED();
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 && errno != ENOENT)
			return integer(ret, errno);
		if (fd >= 0)
			close(fd);
	}
	return integer(ret, 0);
}

/* as libcuda and pthread_setname_np() do: the name of another thread */
FUNCTION(names_a_thread)
{
	char path[64], name[32] = "";
	pthread_t thread;
	int fd, err;

	UNUSED();
	err = pthread_create(&thread, NULL, sleeps, NULL);
	if (!err)
		err = pthread_setname_np(thread, "cuda-EvtHandlr");
	if (err)
		return integer(ret, err);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)syscall(SYS_gettid));
	fd = open(path, O_RDWR);
	if (fd < 0 || write(fd, "renamed", 7) != 7)
		return integer(ret, errno);
	if (lseek(fd, 0, SEEK_SET) || read(fd, name, sizeof(name)) < 0)
		return integer(ret, errno);
	close(fd);
	return integer(ret, strcmp(name, "renamed\n") ? EIO : 0);
}

/* threads of programs that pin theirs */
static void *pins_itself(void *result)
{
	cpu_set_t set;

	/* with its number, which the filter cannot know */
	*(int *)result = sched_getaffinity(0, sizeof(set), &set) ||
					 syscall(SYS_sched_setaffinity, syscall(SYS_gettid),
						 sizeof(set), &set)
				 ? errno
				 : 0;
	return NULL;
}

FUNCTION(pins_a_thread)
{
	pthread_t thread;
	int result = -1;

	UNUSED();
	if (pthread_create(&thread, NULL, pins_itself, &result))
		return integer(ret, EAGAIN);
	pthread_join(thread, NULL);
	return integer(ret, result);
}

FUNCTION(prints)
{
	static const char text[] = "said by uploaded code\n"
				   "tenon: a line that is \033[1mforged\n"
				   "without an end";

	UNUSED();
	return integer(ret, write(1, text, sizeof(text) - 1) < 0 ? errno : 0);
}

FUNCTION(prints_much)
{
	static char line[1024];
	int i;

	UNUSED();
	memset(line, 'm', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (i = 0; i < 4096; i++)
		if (write(2, line, sizeof(line)) < 0)
			return integer(ret, errno);
	return integer(ret, 0);
}

/* ---- sockets beside the server's folder */

static void beside(struct sockaddr_un *at, const char *name)
{
	char folder[sizeof(at->sun_path)] = "";
	int i;

	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	if (!getcwd(folder, sizeof(folder)))
		return;
	for (i = 0; i < 3 && strrchr(folder, '/'); i++)
		*strrchr(folder, '/') = '\0';
	if (strlen(folder) + strlen(name) < sizeof(at->sun_path))
		strcat(strcpy(at->sun_path, folder), name);
}

static int talks_to(const char *name)
{
	struct sockaddr_un to;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0)
		return errno;
	beside(&to, name);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) || send(fd, "hello", 5, 0) != 5)
		err = errno;
	close(fd);
	return err;
}

FUNCTION(talks_to_the_allowed_socket)
{
	UNUSED();
	return integer(ret, talks_to("/outside.sock"));
}

FUNCTION(talks_to_the_servers_socket)
{
	UNUSED();
	return integer(ret, talks_to("/socket"));
}

static struct {
	struct sockaddr_un address;
	atomic_int end;
} flipped;

static void *flips(void *unused)
{
	struct sockaddr_un allowed, other;

	beside(&allowed, "/outside.sock");
	beside(&other, "/socket");
	while (!atomic_load(&flipped.end)) {
		memcpy(&flipped.address, &other, sizeof(other));
		memcpy(&flipped.address, &allowed, sizeof(allowed));
	}
	return unused;
}

/* The address changes while the server looks at it. Returns whether any connection went to the other socket. */
FUNCTION(changes_an_address_meanwhile)
{
	struct sockaddr_un peer;
	pthread_t thread;
	int i, fd, wrong = 0;

	UNUSED();
	if (pthread_create(&thread, NULL, flips, NULL))
		return integer(ret, -1);
	for (i = 0; i < 300 && !wrong; i++) {
		socklen_t size = sizeof(peer);

		memset(&peer, 0, sizeof(peer));
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(fd, (struct sockaddr *)&flipped.address, sizeof(peer)) &&
		    (getpeername(fd, (struct sockaddr *)&peer, &size) ||
		     !strstr(peer.sun_path, "/outside.sock")))
			wrong = 1;
		close(fd);
	}
	atomic_store(&flipped.end, 1);
	pthread_join(thread, NULL);
	return integer(ret, wrong);
}

/* ---- the following return 0, or the errno that stopped them */
/* ---- limits that the server keeps */

/* Say in all memory that is shared with the server that nothing is done: its first word is the state. */
static void claim_to_be_idle(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[600];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, " rw-s ") && strstr(line, "/dev/zero") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			memset((void *)from, 0, to - from < 64 ? to - from : 64);
	if (maps)
		fclose(maps);
}

FUNCTION(hangs_and_claims_to_be_idle)
{
	volatile int forever = 1;

	UNUSED();
	while (forever) {
		claim_to_be_idle();
		usleep(50000);
	}
	return 0;
}

/* reads the socket of its client, as a session does that waits for a request */
FUNCTION(hangs_in_a_read)
{
	volatile int forever = 1;
	struct timeval often = { 0, 50000 };
	char byte;
	int fd;

	UNUSED();
	while (forever) {
		claim_to_be_idle();
		for (fd = 3; fd < 100; fd++) {
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &often, sizeof(often));
			recv(fd, &byte, 1, MSG_PEEK);
		}
	}
	return 0;
}

/* more than the limit of the tests, all at once, and then nothing more */
FUNCTION(holds_memory)
{
	const size_t size = (size_t)1100 << 20;
	volatile int forever = 1;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	UNUSED();
	if (p == MAP_FAILED)
		return integer(ret, errno);
	memset(p, 1, size);
	while (forever) {
		claim_to_be_idle();
		usleep(50000);
	}
	return 0;
}

/* Write files of 16 MiB without end; as slow as needed for the test to end before the disk is full. */
static int64_t fill(int (*create)(int i))
{
	static char bytes[1 << 20];
	int i, k, fd;

	memset(bytes, 1, sizeof(bytes));
	for (i = 0; i < 1000; i++) {
		fd = create(i);
		if (fd < 0)
			return errno;
		for (k = 0; k < 16; k++)
			if (write(fd, bytes, sizeof(bytes)) < 0)
				return errno;
		usleep(10000);
	}
	return 0;
}

static int create_file(int i)
{
	char name[40];

	snprintf(name, sizeof(name), "file-%d", i);
	return open(name, O_WRONLY | O_CREAT, 0600);
}

static int create_removed_file(int i)
{
	int fd = create_file(i);
	char name[40];

	snprintf(name, sizeof(name), "file-%d", i);
	unlink(name);
	return fd;
}

static int create_memory_file(int i)
{
	(void)i;
	return (int)syscall(SYS_memfd_create, "memory", 0);
}

FUNCTION(fills_its_folder)
{
	UNUSED();
	return integer(ret, fill(create_file));
}

FUNCTION(fills_removed_files)
{
	UNUSED();
	return integer(ret, fill(create_removed_file));
}

FUNCTION(fills_files_in_memory)
{
	UNUSED();
	return integer(ret, fill(create_memory_file));
}

/* How many MiB its folder takes before the system refuses more; or the error, if that is another one. */
FUNCTION(fills_its_folder_at_once)
{
	static const char bytes[1 << 20];
	int64_t written = 0;
	int i, k, fd;
	ssize_t n;

	UNUSED();
	for (i = 0; i < 64; i++) {
		fd = create_file(i);
		for (k = 0; fd >= 0 && k < 16; k++) {
			n = write(fd, bytes, sizeof(bytes));
			if (n < 0)
				return integer(ret, errno == ENOSPC ? written >> 20 : -errno);
			written += n;
		}
	}
	return integer(ret, written >> 20);
}

FUNCTION(makes_deep_folders)
{
	volatile int forever = 1;
	int i;

	UNUSED();
	for (i = 0; i < 300; i++)
		if (mkdir("deeper", 0700) || chdir("deeper"))
			return integer(ret, errno);
	while (forever)
		usleep(50000);
	return 0;
}

/* the following return 0, or the errno that stopped them */

FUNCTION(opens_network)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	UNUSED();
	if (fd < 0)
		return integer(ret, errno);
	close(fd);
	return integer(ret, 0);
}

FUNCTION(kills_parent)
{
	UNUSED();
	return integer(ret, kill(getppid(), 0) ? errno : 0);
}

/* a namespace of users, where the child would be root */
FUNCTION(makes_a_namespace)
{
	long pid = syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0);

	UNUSED();
	if (!pid)
		_exit(0);
	return integer(ret, pid < 0 ? errno : 0);
}

FUNCTION(reads_outside)
{
	int fd = open("../../../secret", O_RDONLY);

	UNUSED();
	if (fd < 0)
		return integer(ret, errno);
	close(fd);
	return integer(ret, 0);
}

FUNCTION(writes_outside)
{
	int fd = open("../../../written", O_WRONLY | O_CREAT, 0600);

	UNUSED();
	if (fd < 0)
		return integer(ret, errno);
	close(fd);
	return integer(ret, 0);
}

FUNCTION(lists_the_cache)
{
	int fd = open("../cache", O_RDONLY | O_DIRECTORY);

	UNUSED();
	if (fd < 0)
		return integer(ret, errno);
	close(fd);
	return integer(ret, 0);
}

FUNCTION(watches_the_cache)
{
	int fd = inotify_init1(IN_CLOEXEC), watch;

	UNUSED();
	if (fd < 0)
		return integer(ret, errno);
	watch = inotify_add_watch(fd, "../cache", IN_ALL_EVENTS);
	watch = watch < 0 ? errno : 0;
	close(fd);
	return integer(ret, watch);
}

FUNCTION(takes_memory)
{
	size_t i;

	UNUSED();
	for (i = 0; i < 1024; i++) {
		/* volatile: a compiler may leave out memory that nothing reads */
		char *volatile p = malloc(16 << 20);

		if (!p)
			return integer(ret, ENOMEM);
		memset(p, 1, 4096);
	}
	return integer(ret, 0);
}
