/* SPDX-License-Identifier: MIT */
/* The descriptors of a process that runs or reads what clients send. */
#ifndef RPC_SERVER_DESCRIPTORS_H
#define RPC_SERVER_DESCRIPTORS_H

#include <stddef.h>

/**
 * descriptors_keep - close all descriptors but 0 to 2 and some others
 * @keep: the others; numbers below 3 are ignored. Sorted by this function
 * @count: number of them
 *
 * The process that started the server may have left files open without O_CLOEXEC: the server cannot know their numbers.
 */
void descriptors_keep(int *keep, size_t count);

/**
 * descriptors_standard - set descriptors 0 to 2
 * @output: what 1 and 2 become; -1 for /dev/null. 0 is always /dev/null
 *
 * Ends the process when /dev/null cannot be opened: it would keep a terminal.
 */
void descriptors_standard(int output);

#endif /* RPC_SERVER_DESCRIPTORS_H */
