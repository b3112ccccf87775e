/* SPDX-License-Identifier: MIT */
/* Fences of another API for fake drivers: each is a descriptor that a case signals. */
#ifndef TESTS_DEVICE_FOREIGN_FENCE_H
#define TESTS_DEVICE_FOREIGN_FENCE_H

#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <tenon/fence.h>
#include <unistd.h>

#include "tests/unit/suite.h"

static inline struct tenon_timeline *foreign_fence(uint32_t type, int *fd)
{
	struct tenon_timeline *t;

	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(*fd >= 0);
	assert_int_equal(tenon_fence_import(type, *fd, &t), 0);
	return t;
}

static inline void signal_foreign(int fd)
{
	assert_int_equal(eventfd_write(fd, 1), 0);
}

static inline bool becomes_readable(int fd, int milliseconds)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, milliseconds) == 1;
}

#endif /* TESTS_DEVICE_FOREIGN_FENCE_H */
