/* SPDX-License-Identifier: MIT */
/* The state of the backend's devices, memory and queues. */
#ifndef DEVICES_ROCKET_ROCKET_DEVICE_H
#define DEVICES_ROCKET_ROCKET_DEVICE_H

/*
 * Its devices are the nodes of Linux's driver "rocket". Memory is a buffer of the node each, which the CPU and the NPU
 * both use, so nothing is copied. A queue is a lane and a thread that waits for its jobs; each launch has a buffer for
 * register commands. Programs are command streams whose target is "rocket" (tenon/uapi/rocket.h).
 */

#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/payload_format.h>
#include <tenon/backend/queue.h>

#include "devices/cmdstream/cmdstream_executable.h"
#include "devices/mapped/worker_queue.h"
#include "devices/rocket/rocket_chip.h"
#include "devices/rocket/rocket_lane.h"

extern struct system_source rocket_source;

/** struct rocket_device - a device; @base: for the core; @accel: the node; @chip: the SoC */
struct rocket_device {
	struct tenon_device base;
	struct rocket_accel accel;
	const struct rocket_chip *chip;
};

/** struct rocket_memory - memory; @base: for the core; @buffer: what it is */
struct rocket_memory {
	struct tenon_memory base;
	struct rocket_buffer buffer;
};

/**
 * struct rocket_queue - a queue
 * @worker: its base, and its thread
 * @lane: runs its jobs; the thread's
 * @binding: of the launch that is being prepared; the submitting thread's
 */
struct rocket_queue {
	struct worker_queue worker;
	struct rocket_lane lane;
	struct cmdstream_binding binding;
};

/**
 * struct rocket_launch - a job, from its submission to its end
 * @commands: the words, with addresses; handle 0 before the first launch
 * @tasks: run one after the other
 * @task_count: number of these
 * @uses: buffers
 * @use_count: number of these
 * @marks: where results begin
 * @mark_count: number of these
 */
struct rocket_launch {
	struct rocket_buffer commands;
	struct rocket_uapi_task tasks[ROCKET_TASKS];
	size_t task_count;
	struct rocket_use uses[ROCKET_BUFFERS];
	size_t use_count;
	uint8_t *marks[ROCKET_MARKS];
	size_t mark_count;
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

/** rocket_check_program - tenon_payload_format.check */
int rocket_check_program(const struct tenon_payload_request *r, struct tenon_report *report);

static inline struct rocket_accel *rocket_accel_of(struct tenon_device *device)
{
	return &((struct rocket_device *)device)->accel;
}

/** rocket_memory_of - the memory of a range; adds where the range begins in it to *@offset */
struct rocket_memory *rocket_memory_of(const struct tenon_range *range, uint64_t *offset);

/* rocket_dispatch.c: a struct rocket_launch each */
extern const struct worker_launches rocket_launches;

#endif /* DEVICES_ROCKET_ROCKET_DEVICE_H */
