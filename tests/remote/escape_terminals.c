/* SPDX-License-Identifier: MIT */
/* Ways out of a sandbox: the terminal, the files and the environment of the operator. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "escape_calls.h"

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

int64_t types_into_the_terminal(void)
{
	return on_terminals(types);
}

/* the kernel takes 32 bits of the number; a filter may look at 64 */
static int64_t types_long(int fd)
{
	return stopped(syscall(SYS_ioctl, (long)fd, (long)(UINT64_C(0x100000000) | TIOCSTI), "#"));
}

int64_t types_with_a_long_number(void)
{
	return on_terminals(types_long);
}

static int64_t pastes(int fd)
{
	char paste = 3;

	return stopped(ioctl(fd, TIOCLINUX, &paste));
}

int64_t pastes_into_the_terminal(void)
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

int64_t sets_the_terminal(void)
{
	return on_terminals(sets);
}

static int64_t takes(int fd)
{
	return stopped(ioctl(fd, TIOCSCTTY, 1));
}

int64_t takes_a_terminal(void)
{
	return on_terminals(takes);
}

int64_t has_a_terminal(void)
{
	int fd;

	for (fd = 0; fd < 512; fd++)
		if (isatty(fd))
			return 0;
	return ENOTTY;
}

int64_t has_a_controlling_terminal(void)
{
	return getsid(0) == getsid(getppid()) ? 0 : EPERM;
}

/* the test leaves a file and a pipe open when it starts the server */
int64_t has_files_from_before(void)
{
	struct stat st;
	int fd;

	for (fd = 3; fd < 4096; fd++)
		if (!fstat(fd, &st) && S_ISREG(st.st_mode))
			return 0;
	return EBADF;
}

/* of the operator */
int64_t reads_a_token_in_the_environment(void)
{
	return getenv("ESCAPE_TOKEN") ? 0 : ENOENT;
}

int64_t reads_a_token_in_memory(void)
{
	static char text[1 << 18];
	int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	close(fd);
	return n > 0 && memmem(text, (size_t)n, "ESCAPE_TOKEN", 12) ? 0 : ENOENT;
}

int64_t truncates_the_log(void)
{
	return stopped(ftruncate(2, 0));
}
