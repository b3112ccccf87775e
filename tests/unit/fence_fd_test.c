/* SPDX-License-Identifier: MIT */
/* Fences that are eventfds, and descriptors of other kinds that are given in their place. */
#include "suite.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/fence_fd.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_eventfd_tells_how_its_fence_ended),
		cmocka_unit_test(a_wait_ends_by_a_signal_or_at_the_deadline),
		cmocka_unit_test(other_descriptors_are_no_fences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
