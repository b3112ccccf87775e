/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_PROCESS_LIST_H
#define RUNTIME_REMOTE_PROCESS_LIST_H

/* the processes of this machine, as /proc shows them */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct process - a process
 * @pid: its number
 * @parent: that of its parent
 * @group: that of its process group
 * @threads: number of its threads; 1 for one that has ended and was not waited for
 */
struct process {
	pid_t pid;
	pid_t parent;
	pid_t group;
	unsigned int threads;
};

/**
 * process_list - call a function for each process
 *
 * Return: false when /proc cannot be read.
 */
bool process_list(void (*each)(void *context, const struct process *p), void *context);

/** process_memory - memory that a process alone uses, and shared memory that it has touched, in bytes */
uint64_t process_memory(pid_t pid);

#endif /* RUNTIME_REMOTE_PROCESS_LIST_H */
