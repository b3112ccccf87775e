/* SPDX-License-Identifier: MIT */
/* The processes of this machine, as /proc shows them. */
#ifndef RPC_SERVER_PROCESS_LIST_H
#define RPC_SERVER_PROCESS_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * struct process - a process
 * @pid: its number
 * @parent: that of its parent
 * @group: that of its process group
 * @threads: number of its threads; 1 for one that has ended and was not waited for
 * @ticks: processor time of it and of the children that it waited for, in units of sysconf(_SC_CLK_TCK)
 */
struct process {
	pid_t pid;
	pid_t parent;
	pid_t group;
	unsigned int threads;
	uint64_t ticks;
};

/**
 * process_list - call a function for each process
 *
 * Return: false when /proc cannot be read.
 */
bool process_list(void (*each)(void *context, const struct process *p), void *context);

/** process_read - read one process; false when it does not exist */
bool process_read(pid_t pid, struct process *out);

/**
 * struct process_memory - memory of a process in bytes
 * @own: memory that it alone uses
 * @shared: shared memory that it has touched
 */
struct process_memory {
	uint64_t own;
	uint64_t shared;
};

/** process_memory - add the memory of a process to @sum; false when it has none: it has ended */
bool process_memory(pid_t pid, struct process_memory *sum);

/** enum process_wait - whether a process waits for its peer */
enum process_wait {
	PROCESS_READS,	 /* its first thread sleeps in a call that reads the socket */
	PROCESS_WORKS,	 /* it does something else */
	PROCESS_UNKNOWN, /* the kernel does not say */
};

/** process_waits - what the first thread of a process does; @fd is the caller's descriptor of its socket */
enum process_wait process_waits(pid_t pid, int fd);

/**
 * process_unnamed_files - call a function for each open file of a process that has no name: removed, or of memfd_create()
 *
 * Return: false when the process does not let this user see its files.
 */
bool process_unnamed_files(pid_t pid,
			   void (*each)(void *context, const struct stat *file, bool in_memory),
			   void *context);

#endif /* RPC_SERVER_PROCESS_LIST_H */
