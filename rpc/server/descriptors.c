/* SPDX-License-Identifier: MIT */
/* Close all descriptors of a process but those that it needs. */
#include "rpc/server/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* the same on all machines but alpha; Linux 5.9 */
#define CLOSE_RANGE 436

static int by_number(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static bool is_kept(const int *keep, size_t count, int fd)
{
	return count && bsearch(&fd, keep, count, sizeof(*keep), by_number);
}

static bool close_ranges(const int *keep, size_t count)
{
	unsigned int from = STDERR_FILENO + 1;
	size_t i;

	for (i = 0; i < count; i++) {
		if (keep[i] < (int)from)
			continue;
		if (keep[i] > (int)from && syscall(CLOSE_RANGE, from, (unsigned int)keep[i] - 1, 0))
			return false;
		from = (unsigned int)keep[i] + 1;
	}
	return !syscall(CLOSE_RANGE, from, UINT_MAX, 0);
}

/* The numbers come from /proc; each is closed when the next has been read. */
static bool close_listed(const int *keep, size_t count)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd, last = -1;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (last >= 0)
			close(last);
		fd = *entry->d_name == '.' ? -1 : atoi(entry->d_name);
		last = fd <= STDERR_FILENO || fd == dirfd(dir) || is_kept(keep, count, fd) ? -1
											   : fd;
	}
	if (last >= 0)
		close(last);
	closedir(dir);
	return true;
}

/* A descriptor may be above a limit that was lowered after it was opened; without /proc it is not found. */
static void close_all(const int *keep, size_t count)
{
	struct rlimit limit;
	int fd, end = 1 << 20;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_max < (rlim_t)end)
		end = (int)limit.rlim_max;
	for (fd = STDERR_FILENO + 1; fd < end; fd++)
		if (!is_kept(keep, count, fd))
			close(fd);
}

void descriptors_keep(int *keep, size_t count)
{
	if (count)
		qsort(keep, count, sizeof(*keep), by_number);
	if (!close_ranges(keep, count) && !close_listed(keep, count))
		close_all(keep, count);
}

void descriptors_standard(int output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(output < 0 ? null : output, STDOUT_FILENO) < 0 ||
	    dup2(output < 0 ? null : output, STDERR_FILENO) < 0)
		_exit(1);
	if (null > STDERR_FILENO)
		close(null);
}
