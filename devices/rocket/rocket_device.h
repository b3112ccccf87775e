/* SPDX-License-Identifier: MIT */
/* The state of the backend's devices, memory and queues. */
#ifndef DEVICES_ROCKET_ROCKET_DEVICE_H
#define DEVICES_ROCKET_ROCKET_DEVICE_H

/*
 * Its devices are the nodes of Linux's driver "rocket". Memory is a buffer of the node each, which the CPU and the NPU
 * both use, so nothing is copied. A queue is a lane, with a buffer for register commands; operations have ended when
 * they were submitted. Programs are command streams whose target is "rocket" (tenon/uapi/rocket.h).
 */

#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/payload_format.h>
#include <tenon/backend/queue.h>

#include "devices/cmdstream/cmdstream_executable.h"
#include "devices/rocket/rocket_lane.h"

/**
 * struct rocket_source - where devices of the kernel are; tests set another place
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev
 */
struct rocket_source {
	const struct system_calls *calls;
	const char *root;
};

extern struct rocket_source rocket_source;

/** struct rocket_device - a device; @base: for the core; @accel: the node */
struct rocket_device {
	struct tenon_device base;
	struct rocket_accel accel;
};

/** struct rocket_memory - memory; @base: for the core; @buffer: what it is */
struct rocket_memory {
	struct tenon_memory base;
	struct rocket_buffer buffer;
};

/**
 * struct rocket_queue - a queue
 * @base: for the core
 * @lane: runs its jobs
 * @commands: the words of the current job; handle 0 before the first
 * @tasks: of the current job
 * @binding: likewise
 * @kept: references to memory of a job that outlived its deadline
 * @kept_count: number of these
 */
struct rocket_queue {
	struct tenon_queue base;
	struct rocket_lane lane;
	struct rocket_buffer commands;
	struct rocket_uapi_task tasks[ROCKET_TASKS];
	struct cmdstream_binding binding;
	struct tenon_memory *kept[TENON_CMDSTREAM_REGIONS];
	size_t kept_count;
};

extern const struct tenon_backend rocket_backend;
extern const struct tenon_memory_ops rocket_memory_ops;
extern const struct tenon_queue_ops rocket_queue_ops;
extern const struct tenon_executable_ops rocket_executable_ops;
extern const struct cmdstream_target rocket_target;

/* rocket_format.c: kinds of modules, and the formats of their payloads; each ended by NULL */
extern const char *const rocket_payload_kinds[];
extern const struct tenon_payload_format *const rocket_payload_formats[];

/** rocket_field - tenon_payload_format.field */
int rocket_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);

/** rocket_show_stream - tenon_payload_format.show */
int rocket_show_stream(const struct tenon_payload_info *info, struct tenon_buffer *out);

static inline struct rocket_accel *rocket_accel_of(struct tenon_device *device)
{
	return &((struct rocket_device *)device)->accel;
}

/** rocket_memory_of - the memory of a range; adds where the range begins in it to *@offset */
struct rocket_memory *rocket_memory_of(const struct tenon_range *range, uint64_t *offset);

/**
 * rocket_dispatch - run a kernel, and wait for it
 * @q: its queue
 * @dispatch: of a command stream
 *
 * A job that outlived a deadline of an earlier call is waited for first.
 *
 * Return: 0; as cmdstream_bind(), cmdstream_patch(), rocket_lane_start() and rocket_lane_finish().
 */
int rocket_dispatch(struct rocket_queue *q, const struct tenon_dispatch *dispatch);

/** rocket_settle - wait for a job that outlived its deadline; 0, or -TENON_E_TIMEOUT */
int rocket_settle(struct rocket_queue *q);

/** rocket_let_go - release the memory of a job that outlived its deadline: it has ended, or nobody will look at it */
void rocket_let_go(struct rocket_queue *q);

#endif /* DEVICES_ROCKET_ROCKET_DEVICE_H */
