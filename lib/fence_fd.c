/* SPDX-License-Identifier: MIT */
/* Signal, test and wait for eventfds and sync_files. */
#include "lib/fence_fd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <tenon/error.h>
#include <time.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"

#define SECOND UINT64_C(1000000000)

/* as in linux/sync_file.h, which some C libraries do not install */
struct sync_file_info {
	char name[32];
	int32_t status;
	uint32_t flags;
	uint32_t num_fences;
	uint32_t pad;
	uint64_t sync_fence_info;
};
#define SYNC_FILE_INFO _IOWR('>', 4, struct sync_file_info)

int fence_eventfd_create(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? tenon_error(-TENON_E_IO, "no eventfd: %s", strerror(errno)) : fd;
}

void fence_eventfd_signal(int fd, int status)
{
	uint64_t counter = status < 0 ? 1 + (uint64_t)-status : 1;
	ssize_t wrote;

	do
		wrote = write(fd, &counter, sizeof(counter));
	while (wrote < 0 && errno == EINTR);
}

int fence_eventfd_check(int fd)
{
	static const char want[] = "anon_inode:[eventfd]";
	char link[40], target[sizeof(want)];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target));
	if (n == sizeof(want) - 1 && !memcmp(target, want, sizeof(want) - 1))
		return 0;
	/* without /proc the type of a descriptor is unknown: accept it */
	if (n < 0 && access("/proc/self/fd", F_OK))
		return 0;
	return tenon_error(-TENON_E_VALUE, "descriptor %d is not an eventfd", fd);
}

static int sync_file_status(int fd, int *status)
{
	struct sync_file_info info;
	int failed;

	memset(&info, 0, sizeof(info));
	do
		failed = ioctl(fd, SYNC_FILE_INFO, &info);
	while (failed && errno == EINTR);
	*status = info.status;
	return failed ? -1 : 0;
}

int fence_sync_file_check(int fd)
{
	int status;

	if (!sync_file_status(fd, &status))
		return 0;
	return tenon_error(-TENON_E_VALUE, "descriptor %d is not a sync_file: %s", fd,
			   strerror(errno));
}

static int readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

int fence_eventfd_look(int fd)
{
	uint64_t counter;
	ssize_t n;

	if (!readable(fd))
		return 0;
	n = read(fd, &counter, sizeof(counter));
	if (n != sizeof(counter))
		return 0; /* another reader has the counter and will write it back */
	do
		n = write(fd, &counter, sizeof(counter));
	while (n < 0 && errno == EINTR);
	if (counter == 1)
		return 1;
	if (counter - 1 > TENON_E_NO_FUNCTION)
		return tenon_error(-TENON_E_CALL, "an imported fence failed");
	return tenon_error(-(int)(counter - 1), "an imported fence failed: %s",
			   tenon_status_kind(-(int)(counter - 1)));
}

int fence_sync_file_look(int fd)
{
	int status;

	if (!readable(fd))
		return 0;
	if (sync_file_status(fd, &status))
		return tenon_error(-TENON_E_IO, "the state of an imported sync_file: %s",
				   strerror(errno));
	if (status < 0)
		return tenon_error(-TENON_E_CALL, "an imported fence failed: %s",
				   strerror(-status));
	return status > 0;
}

int fence_fd_wait(int fd, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now = clock_now(), left = deadline > now ? deadline - now : 0;
	struct timespec t = { (time_t)(left / SECOND), (long)(left % SECOND) };

	/* after EINTR the caller checks the fence and polls again */
	return ppoll(&p, 1, deadline == UINT64_MAX ? NULL : &t, NULL) != 0;
}
