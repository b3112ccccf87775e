/* SPDX-License-Identifier: MIT */
/* The kernel's system calls behind the table, repeated where a signal interrupts them. */
#include "driver/syscall/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"

#define SECOND UINT64_C(1000000000)
#define DAY    (86400 * SECOND)

/* by the rights that open() asks about: access() asks about those of the real user */
static int kernel_access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

static int kernel_open(const char *path, int flags)
{
	return open(path, flags);
}

static int kernel_ioctl(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument);
}

static int kernel_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	return ppoll(polled, count, timeout, NULL);
}

static int kernel_eventfd(unsigned int count, int flags)
{
	return eventfd(count, flags);
}

const struct system_calls system_calls_of_kernel = {
	.access = kernel_access,
	.open = kernel_open,
	.close = close,
	.ioctl = kernel_ioctl,
	.mmap = mmap,
	.munmap = munmap,
	.madvise = madvise,
	.read = read,
	.write = write,
	.pread = pread,
	.pwrite = pwrite,
	.readlink = readlink,
	.ppoll = kernel_ppoll,
	.eventfd = kernel_eventfd,
	.mkdir = mkdir,
	.rmdir = rmdir,
	.flock = flock,
};

/* Raise an error for errno of a file that cannot be opened. */
static int not_opened(const char *path)
{
	if (errno == ENODEV || errno == ENXIO)
		return tenon_error(-TENON_E_DEVICE, "%s: the node has no device: %s", path,
				   strerror(errno));
	if (errno == EACCES || errno == EPERM)
		return tenon_error(system_status(errno),
				   "%s: cannot open it: %s; run as a user or in a group that may "
				   "read and write it",
				   path, strerror(errno));
	return system_error(errno, path, "open it");
}

int system_find(const struct system_calls *calls, const char *path)
{
	return calls->access(path, R_OK | W_OK) ? not_opened(path) : 0;
}

int system_open(const struct system_calls *calls, const char *path, int flags)
{
	int fd;

	do
		fd = calls->open(path, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? not_opened(path) : fd;
}

void system_close(const struct system_calls *calls, int *fd)
{
	/* Linux releases the descriptor even if close() reports an error. */
	if (*fd >= 0)
		calls->close(*fd);
	*fd = -1;
}

int system_ioctl(const struct system_calls *calls, int fd, unsigned long request, void *argument)
{
	int result;

	do
		result = calls->ioctl(fd, request, argument);
	while (result < 0 && errno == EINTR);
	return result < 0 ? -errno : result;
}

int system_map(const struct system_calls *calls, int fd, const char *name, uint64_t offset,
	       uint64_t size, void **base)
{
	void *start;

	*base = NULL;
	if (!size || size > SIZE_MAX / 2 || offset > INT64_MAX - size)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%s: cannot map %" PRIu64 " bytes at offset %" PRIu64, name,
				   size, offset);
	start = calls->mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)offset);
	if (start == MAP_FAILED)
		return system_error(errno, name, "map it");
	/* Without it a child has the mapping too, which costs it nothing until it touches it. */
	(void)calls->madvise(start, (size_t)size, MADV_DONTFORK);
	*base = start;
	return 0;
}

void system_unmap(const struct system_calls *calls, void **base, uint64_t size)
{
	if (*base)
		calls->munmap(*base, (size_t)size);
	*base = NULL;
}

int system_wait(const struct system_calls *calls, int fd, const char *name, short events,
		uint64_t deadline)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = events };
		uint64_t now = clock_now(), left = deadline > now ? deadline - now : 0;
		/* time_t may have 32 bits: a wait for years is one of days */
		uint64_t part = left < DAY ? left : DAY;
		struct timespec t = { (time_t)(part / SECOND), (long)(part % SECOND) };
		int ready = calls->ppoll(&p, 1, deadline == UINT64_MAX ? NULL : &t);

		if (ready > 0 || (!ready && part == left))
			return ready;
		if (ready < 0 && errno != EINTR)
			return system_error(errno, name, "wait for it");
	}
}

int system_lock(const struct system_calls *calls, int fd, bool on)
{
	int result;

	do
		result = calls->flock(fd, on ? LOCK_EX | LOCK_NB : LOCK_UN);
	while (result < 0 && errno == EINTR);
	return result;
}

int system_read_whole(const struct system_calls *calls, int fd, const char *name, uint64_t offset,
		      void *bytes, size_t size)
{
	ssize_t n;

	do
		n = calls->pread(fd, bytes, size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)size)
		return 0;
	memset(bytes, 0, size);
	if (n < 0)
		return system_error(errno, name, "read it");
	return tenon_error(-TENON_E_TRUNCATED, "%s: %zd of %zu bytes read at offset 0x%" PRIx64,
			   name, n, size, offset);
}

int system_write_whole(const struct system_calls *calls, int fd, const char *name, uint64_t offset,
		       const void *bytes, size_t size)
{
	ssize_t n;

	do
		n = calls->pwrite(fd, bytes, size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)size)
		return 0;
	if (n < 0)
		return system_error(errno, name, "write it");
	return tenon_error(-TENON_E_TRUNCATED, "%s: %zd of %zu bytes written at offset 0x%" PRIx64,
			   name, n, size, offset);
}
