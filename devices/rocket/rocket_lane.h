/* SPDX-License-Identifier: MIT */
/* Lanes: the jobs of one queue, and what comes of them (rocket_accel.h). */
#ifndef DEVICES_ROCKET_ROCKET_LANE_H
#define DEVICES_ROCKET_ROCKET_LANE_H

/* Jobs, and what comes of them: see rocket_accel.h. */

#include <stddef.h>

#include "devices/rocket/rocket_accel.h"
#include "devices/rocket/rocket_uapi.h"

/* most tasks of a job; most buffers, with the lane's own page; most marks */
#define ROCKET_TASKS   1024
#define ROCKET_BUFFERS 72
#define ROCKET_MARKS   1024

/* bytes of a mark, which is what the NPU writes at once */
#define ROCKET_MARK 16

/* words of a task that the NPU can count */
#define ROCKET_WORDS 131072u

/**
 * struct rocket_use - what a job does with a buffer
 * @buffer: the buffer
 * @is_written: or it is only read
 * @is_given: the device owns it, because a job that is not finished writes it; else the CPU does. The bytes of the CPU
 *	would overwrite what that job makes.
 */
struct rocket_use {
	const struct rocket_buffer *buffer;
	bool is_written;
	bool is_given;
};

/**
 * struct rocket_job - what to run
 * @tasks: run one after the other
 * @task_count: number of these
 * @uses: all buffers whose addresses the tasks have, and those of the tasks; each once
 * @use_count: number of these
 * @marks: where results begin, in mappings of buffers that are written; nothing else is there before the run
 * @mark_count: number of these; without any a job that the kernel dropped is not noticed
 */
struct rocket_job {
	const struct rocket_uapi_task *tasks;
	size_t task_count;
	const struct rocket_use *uses;
	size_t use_count;
	uint8_t *const *marks;
	size_t mark_count;
};

/**
 * struct rocket_lane - takes one job at a time
 * @accel: the device; NULL when it is closed
 * @page: what each job writes, as far as the kernel knows
 * @shared: the same as a dma-buf
 * @fence: a sync_file; -1 without a job
 * @was_done: the job had ended when its fence was taken
 * @buffers: copies of those of the job
 * @buffer_count: number of these
 * @marks: of the job
 * @mark_count: number of these
 * @runs: number of submissions
 */
struct rocket_lane {
	struct rocket_accel *accel;
	struct rocket_buffer page;
	int shared;
	int fence;
	bool was_done;
	struct rocket_buffer buffers[ROCKET_BUFFERS];
	size_t buffer_count;
	const uint8_t *marks[ROCKET_MARKS];
	size_t mark_count;
	uint64_t runs;
};

/**
 * rocket_lane_open - make a lane
 * @a: the device, which outlives it
 * @out: the lane; closed on failure
 *
 * Return: 0; as rocket_buffer_open() and drm_export().
 */
int rocket_lane_open(struct rocket_accel *a, struct rocket_lane *out);

/** rocket_lane_close - close a lane; a job that runs goes on. Closing twice does nothing */
void rocket_lane_close(struct rocket_lane *l);

/** rocket_lane_is_busy - test whether there is a job */
bool rocket_lane_is_busy(const struct rocket_lane *l);

/**
 * rocket_lane_start - give the buffers to the device and start a job
 * @l: a lane without a job
 * @job: not used afterwards; its buffers and marks stay until the job is finished
 *
 * Return: 0; -TENON_E_USAGE when there is a job; -TENON_E_VALUE for what the kernel would drop: no tasks, tasks without
 *	words, too many of them, a buffer that is closed or listed twice; else system_status().
 */
int rocket_lane_start(struct rocket_lane *l, const struct rocket_job *job);

/**
 * rocket_lane_finish - wait for the job, learn what came of it, and give its buffers to the CPU
 * @l: the lane
 * @deadline: see rocket_accel.h
 *
 * Return: 0: the results are there; -TENON_E_TIMEOUT: not yet, and the job goes on; -TENON_E_LOST: the kernel reset the
 *	device, and the job may be run again; -TENON_E_DEVICE: the job ended at once, and left a mark as it was;
 *	-TENON_E_USAGE when there is no job; else system_status(). After all but a time-out and the misuse there is no job.
 */
int rocket_lane_finish(struct rocket_lane *l, uint64_t deadline);

#endif /* DEVICES_ROCKET_ROCKET_LANE_H */
