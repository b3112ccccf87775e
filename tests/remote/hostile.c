/* SPDX-License-Identifier: MIT */
/* uploaded code that crashes, hangs, and tries to leave its sandbox */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
