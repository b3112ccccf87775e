/* SPDX-License-Identifier: MIT */
#ifndef LIB_FENCE_FD_H
#define LIB_FENCE_FD_H

/*
 * Descriptors that signal once: an eventfd, by the convention that <tenon/fence.h> describes, and a Linux
 * sync_file (linux/sync_file.h).
 */

#include <stdint.h>

/* Make an eventfd that has not signalled. Return: the descriptor; -TENON_E_IO. */
int fence_eventfd_create(void);

/* Let an eventfd signal: @status 0, or the negative status that the fence failed with. */
void fence_eventfd_signal(int fd, int status);

/* Return: 0; -TENON_E_VALUE with words when the descriptor is none. */
int fence_eventfd_check(int fd);
int fence_sync_file_check(int fd);

/*
 * Did the fence signal. Neither waits. Return: 1; 0; negative with words when it signalled a failure.
 */
int fence_eventfd_look(int fd);
int fence_sync_file_look(int fd);

/*
 * Wait until a descriptor is readable. @deadline: absolute nanoseconds of CLOCK_MONOTONIC, UINT64_MAX for
 * ever. Return: 1 when it may be; 0 when the deadline passed.
 */
int fence_fd_wait(int fd, uint64_t deadline);

#endif /* LIB_FENCE_FD_H */
