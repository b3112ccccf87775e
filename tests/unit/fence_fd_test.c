/* SPDX-License-Identifier: MIT */
/*
 * Fences that are eventfds or sync_files, and descriptors of other kinds that are given in their place. The linker's --wrap puts the
 * calls below before those of the C library (Kbuild): a kernel that has no /proc, no descriptors left, interrupts, and a sync_file.
 */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/fence_fd.h"

/* ---- the kernel */

static bool no_proc, no_eventfd;
static bool is_broken;	  /* what is written */
static int interruptions; /* of the next calls */
static int fence_state;	  /* of each sync_file */
static bool are_sync_files;

static bool interrupted(void)
{
	if (!interruptions)
		return false;
	interruptions--;
	errno = EINTR;
	return true;
}

/* as in linux/sync_file.h */
struct sync_file_info {
	char name[32];
	int32_t status;
	uint32_t rest[5];
};

static int answer(struct sync_file_info *info)
{
	if (interrupted())
		return -1;
	errno = ENOTTY;
	info->status = fence_state;
	return are_sync_files ? 0 : -1;
}

int __wrap_ioctl(int fd, unsigned long request, struct sync_file_info *info);
int __wrap_ioctl(int fd, unsigned long request, struct sync_file_info *info)
{
	(void)fd;
	(void)request;
	return answer(info);
}

/* the name where time has 64 bits and an address 32 */
int __wrap___ioctl_time64(int fd, unsigned long request, struct sync_file_info *info);
int __wrap___ioctl_time64(int fd, unsigned long request, struct sync_file_info *info)
{
	return __wrap_ioctl(fd, request, info);
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (interrupted())
		return -1;
	errno = EAGAIN;
	return is_broken ? -1 : __real_write(fd, data, size);
}

ssize_t __real_readlink(const char *path, char *to, size_t room);
ssize_t __wrap_readlink(const char *path, char *to, size_t room);
ssize_t __wrap_readlink(const char *path, char *to, size_t room)
{
	return no_proc ? -1 : __real_readlink(path, to, room);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
	return no_proc ? -1 : __real_access(path, mode);
}

int __real_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags)
{
	errno = EMFILE;
	return no_eventfd ? -1 : __real_eventfd(count, flags);
}

/* ---- eventfds */

static void an_eventfd_tells_how_its_fence_ended(void **state)
{
	static const struct {
		int status, found;
		const char *message;
	} cases[] = {
		{ 0, 1, "" },
		{ -TENON_E_NOMEM, -TENON_E_NOMEM, "an imported fence failed: MemoryError" },
		/* a status that a newer release may have */
		{ -TENON_E_NO_FUNCTION - 1, -TENON_E_CALL, "an imported fence failed" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = fence_eventfd_create();

		assert_true(fd >= 0);
		assert_int_equal(fence_eventfd_check(fd), 0);
		assert_int_equal(fence_eventfd_look(fd), 0);
		fence_eventfd_signal(fd, cases[i].status);
		/* a look leaves it to others as it was */
		assert_int_equal(fence_eventfd_look(fd), cases[i].found);
		tenon_error_clear();
		assert_int_equal(fence_eventfd_look(fd), cases[i].found);
		assert_error(cases[i].message);
		close(fd);
	}
}

static void a_wait_ends_by_a_signal_or_at_the_deadline(void **state)
{
	int fd = fence_eventfd_create();
	uint64_t start;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fence_fd_wait(fd, 0), 0);
	start = clock_now();
	assert_int_equal(fence_fd_wait(fd, start + 2000000), 0);
	assert_true(clock_now() >= start + 2000000);
	fence_eventfd_signal(fd, 0);
	assert_int_equal(fence_fd_wait(fd, 0), 1);
	assert_int_equal(fence_fd_wait(fd, UINT64_MAX), 1);
	close(fd);
}

static void other_descriptors_are_no_fences(void **state)
{
	int pair[2], fd = fence_eventfd_create();

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(fence_eventfd_check(pair[0]), -TENON_E_VALUE);
	assert_error_has("is not an eventfd");
	assert_int_equal(fence_eventfd_check(-1), -TENON_E_VALUE);
	tenon_error_clear();
	assert_int_equal(fence_sync_file_check(fd), -TENON_E_VALUE);
	assert_error_has("is not a sync_file");
	/* nothing to read: not signalled yet */
	assert_int_equal(fence_sync_file_look(pair[0]), 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	assert_int_equal(fence_sync_file_look(pair[0]), -TENON_E_IO);
	assert_error_has("the state of an imported sync_file");
	/* less than a counter: someone else reads it */
	assert_int_equal(fence_eventfd_look(pair[0]), 0);
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

static void a_clock_is_no_eventfd(void **state)
{
	/* the name of its kind is as long */
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fence_eventfd_check(fd), -TENON_E_VALUE);
	assert_error_has("is not an eventfd");
	/* without /proc it cannot be told */
	no_proc = true;
	assert_int_equal(fence_eventfd_check(fd), 0);
	no_proc = false;
	close(fd);
}

static void without_descriptors_there_is_no_eventfd(void **state)
{
	(void)state;
	no_eventfd = true;
	assert_int_equal(fence_eventfd_create(), -TENON_E_IO);
	assert_error_has("no eventfd");
	no_eventfd = false;
}

static void an_interrupted_call_is_made_again(void **state)
{
	int fd = fence_eventfd_create();

	(void)state;
	assert_true(fd >= 0);
	interruptions = 2;
	fence_eventfd_signal(fd, 0);
	assert_int_equal(interruptions, 0);
	interruptions = 2;
	assert_int_equal(fence_eventfd_look(fd), 1);
	assert_int_equal(interruptions, 0);
	/* it was written back */
	assert_int_equal(fence_eventfd_look(fd), 1);
	close(fd);
}

static void what_cannot_be_written_is_given_up(void **state)
{
	int fd = fence_eventfd_create();

	(void)state;
	assert_true(fd >= 0);
	is_broken = true;
	fence_eventfd_signal(fd, 0);
	is_broken = false;
	assert_int_equal(fence_eventfd_look(fd), 0);
	fence_eventfd_signal(fd, 0);
	is_broken = true;
	assert_int_equal(fence_eventfd_look(fd), 1);
	is_broken = false;
	close(fd);
}

static void a_sync_file_tells_how_its_fence_ended(void **state)
{
	int fd = fence_eventfd_create();

	(void)state;
	assert_true(fd >= 0);
	fence_eventfd_signal(fd, 0);
	are_sync_files = true;
	interruptions = 2;
	assert_int_equal(fence_sync_file_check(fd), 0);
	assert_int_equal(interruptions, 0);
	fence_state = 0;
	assert_int_equal(fence_sync_file_look(fd), 0);
	fence_state = 1;
	assert_int_equal(fence_sync_file_look(fd), 1);
	fence_state = -EIO;
	assert_int_equal(fence_sync_file_look(fd), -TENON_E_CALL);
	assert_error_has("an imported fence failed: ");
	are_sync_files = false;
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_eventfd_tells_how_its_fence_ended),
		cmocka_unit_test(a_wait_ends_by_a_signal_or_at_the_deadline),
		cmocka_unit_test(other_descriptors_are_no_fences),
		cmocka_unit_test(a_clock_is_no_eventfd),
		cmocka_unit_test(without_descriptors_there_is_no_eventfd),
		cmocka_unit_test(an_interrupted_call_is_made_again),
		cmocka_unit_test(what_cannot_be_written_is_given_up),
		cmocka_unit_test(a_sync_file_tells_how_its_fence_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
