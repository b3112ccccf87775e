/* SPDX-License-Identifier: MIT */
/* The system calls that a session may make (sandbox_calls.c), for the filter that enforces it (sandbox_syscalls.c). */
#ifndef RPC_SERVER_SANDBOX_CALLS_H
#define RPC_SERVER_SANDBOX_CALLS_H

#include <stddef.h>
#include <stdint.h>

/** enum call_rule - what becomes of a system call */
enum call_rule {
	CALL_DENIED, /* EPERM: not on the list */
	CALL_ABSENT, /* ENOSYS: C libraries take an older call then */
	CALL_ALLOWED,
	CALL_START,	 /* the server counts processes and threads */
	CALL_CLONE,	 /* the same; no namespaces, no child of the parent */
	CALL_OWN,	 /* the process of the first argument is the caller's */
	CALL_OWN_THREAD, /* or a thread of the session, for which the server looks */
	CALL_PRIORITY,	 /* the second argument is that, and the first says process */
	CALL_IO_PRIORITY,
	CALL_CLONE3, /* ENOSYS: its flags are in memory, which other threads can change */
	CALL_OPEN,   /* flags in the second argument */
	CALL_OPENAT, /* in the third */
	CALL_IOCTL,
	CALL_FCNTL,
	CALL_PRCTL,
	CALL_PAIR,    /* socketpair() */
	CALL_SOCKET,  /* where the operator allows a socket */
	CALL_CONNECT, /* the server does it */
	CALL_SEND,    /* no address, no fast open; flags in the fourth argument */
	CALL_MESSAGE, /* no fast open; flags in the third */
};

/** struct call - a system call that is not simply allowed */
struct call {
	uint32_t number;
	uint8_t rule;
};

/* flags of clone() that are refused: namespaces of mounts, groups, names, IPC, users, processes, networks; CLONE_PARENT */
#define CLONE_REFUSED 0x7e028000U

/* Calls from this number on came so late that C libraries can do without them. */
#ifdef __LP64__
#define CALLS_NEWER 424
#else
#define CALLS_NEWER 403
#endif

/* numbers of the calls that are allowed with all arguments */
extern const uint16_t calls_allowed[];
extern const size_t calls_allowed_count;

/* calls that have a rule */
extern const struct call calls_ruled[];
extern const size_t calls_ruled_count;

/* what the rules allow: types and numbers of ioctl(), commands of fcntl(), options of prctl() */
extern const uint8_t ioctl_types[];
extern const size_t ioctl_types_count;
extern const uint32_t ioctl_numbers[];
extern const size_t ioctl_numbers_count;
extern const uint16_t fcntl_commands[];
extern const size_t fcntl_commands_count;
extern const uint32_t prctl_options[];
extern const size_t prctl_options_count;

#endif /* RPC_SERVER_SANDBOX_CALLS_H */
