/* SPDX-License-Identifier: MIT */
/* Questions that the filter of seccomp has the kernel ask; as in linux/seccomp.h, which some C libraries do not install. */
#ifndef RPC_SERVER_NOTIFICATION_H
#define RPC_SERVER_NOTIFICATION_H

#include <stdint.h>
#include <sys/ioctl.h>

struct notification {
	uint64_t id;
	uint32_t pid;
	uint32_t flags;
	int32_t number;
	uint32_t machine;
	uint64_t instruction;
	uint64_t arguments[6];
};

struct notification_answer {
	uint64_t id;
	int64_t value;
	int32_t error;
	uint32_t flags;
};

struct notification_descriptor {
	uint64_t id;
	uint32_t flags;
	uint32_t from;
	uint32_t to;
	uint32_t to_flags;
};

#define NOTIFICATION_RECEIVE  _IOWR('!', 0, struct notification)
#define NOTIFICATION_SEND     _IOWR('!', 1, struct notification_answer)
#define NOTIFICATION_IS_VALID _IOW('!', 2, uint64_t)
#define NOTIFICATION_GIVE     _IOW('!', 3, struct notification_descriptor)

/* of an answer: the kernel makes the call. Of a descriptor: it has the number @to */
#define NOTIFICATION_CONTINUE 1
#define NOTIFICATION_SET_FD   1

#endif /* RPC_SERVER_NOTIFICATION_H */
