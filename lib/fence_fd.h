/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that signal once: an eventfd, by the convention of <tenon/fence.h>, and a Linux
 * sync_file (linux/sync_file.h).
 */
#ifndef LIB_FENCE_FD_H
#define LIB_FENCE_FD_H

#include <stdint.h>

/* Create an unsignalled eventfd. Return: the descriptor; -TENON_E_IO. */
int fence_eventfd_create(void);

/* Signal an eventfd. @status: 0, or the negative status that the fence failed with. */
void fence_eventfd_signal(int fd, int status);

/* Check the type of a descriptor. Return: 0; -TENON_E_VALUE with a message. */
int fence_eventfd_check(int fd);
int fence_sync_file_check(int fd);

/*
 * Poll a fence without blocking. Return: 1 if it signalled; 0 if not; the negative status, with a
 * message, if it signalled a failure.
 */
int fence_eventfd_look(int fd);
int fence_sync_file_look(int fd);

/*
 * Wait until a descriptor is readable. @deadline: absolute nanoseconds of CLOCK_MONOTONIC, or
 * UINT64_MAX to wait without limit. Return: 1 when it may be readable; 0 when the deadline passed.
 */
int fence_fd_wait(int fd, uint64_t deadline);

#endif /* LIB_FENCE_FD_H */
