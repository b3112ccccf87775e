/* SPDX-License-Identifier: MIT */
/* Confine a process that runs code of clients. */
#ifndef RPC_SERVER_SANDBOX_H
#define RPC_SERVER_SANDBOX_H

/*
 * Uploaded code is native code. The process that runs it cannot gain privileges, sees files through
 * Landlock (its folder read-write, the system read-only, nodes of devices), has no network and cannot
 * signal or trace other processes (seccomp), and has resource limits. The kernel enforces all of it;
 * an old kernel lacks a part, and the caller then says so. Of processes and threads the kernel asks the holder of a
 * descriptor, who counts them (peer_limits.c).
 */

#include <stdbool.h>
#include <stdint.h>

/** enum sandbox_part - what a kernel may lack; a mask */
enum sandbox_part {
	SANDBOX_PRIVILEGES = 1, /* no new privileges */
	SANDBOX_FILES = 2,	/* Landlock */
	SANDBOX_SYSCALLS = 4,	/* seccomp */
	SANDBOX_LIMITS = 8,	/* resource limits */
	SANDBOX_PROCESSES = 16, /* notifications of seccomp */
};

/**
 * struct sandbox_options - what a session may use
 * @folder: its folder
 * @cache: folder whose files it may read if it knows their names; or NULL
 * @read: further files and folders it may read, ending with NULL; or NULL
 * @write: further files and folders it may write, ending with NULL; or NULL
 * @memory_most: private memory in bytes; 0 for no limit
 * @file_most: largest file in bytes
 * @sockets: the process may make Unix sockets; the holder of the listener connects them
 * @learn: the holder of the listener is asked about calls that are not allowed, instead of their being refused
 */
struct sandbox_options {
	const char *folder;
	const char *cache;
	const char *const *read;
	const char *const *write;
	uint64_t memory_most;
	uint64_t file_most;
	bool sockets;
	bool learn;
};

/** sandbox_drop_capabilities - keep these of the first 32 capabilities, a bit each, and no others; false with errno set */
bool sandbox_drop_capabilities(uint32_t keep);

/**
 * sandbox_enter - limit the calling process for good
 * @options: what it may still use
 * @listener: receives a descriptor: its holder must answer for each new process and thread; -1 without
 *	SANDBOX_PROCESSES
 *
 * Context: a process with one thread.
 * Return: mask of enum sandbox_part that could not be set up; 0 when all is in force.
 */
unsigned int sandbox_enter(const struct sandbox_options *options, int *listener);

/** sandbox_reads - test whether a process in the sandbox can read a file that its user can read */
bool sandbox_reads(const struct sandbox_options *options, const char *path);

/** sandbox_part_name - what a part protects from, for messages */
const char *sandbox_part_name(enum sandbox_part part);

/* the parts: whether files are limited; which of the two parts of seccomp are missing */
bool sandbox_files(const struct sandbox_options *options);
unsigned int sandbox_syscalls(const struct sandbox_options *options, int *listener);

#endif /* RPC_SERVER_SANDBOX_H */
