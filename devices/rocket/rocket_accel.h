/* SPDX-License-Identifier: MIT */
/* Buffers and jobs of the NPU, by ioctls of Linux's driver "rocket". */
#ifndef DEVICES_ROCKET_ROCKET_ACCEL_H
#define DEVICES_ROCKET_ROCKET_ACCEL_H

/*
 * A *buffer* has an address of the device, which registers take as 32 bits. Its memory is cached: the CPU owns it
 * between rocket_buffer_begin() and rocket_buffer_end(), and the device outside of that.
 *
 * A *job* is a list of tasks, each of them words that write registers. It names the buffers that it reads and those
 * that it writes; the kernel lets it begin when earlier jobs that write these have ended, also those of other lanes. A
 * buffer that a job reads and a later one writes orders nothing: such a buffer is listed as written by both. Jobs of
 * one node run on up to three cores at a time.
 *
 * A *lane* runs one job at a time and finds out its outcome. The kernel does not report that: it drops an invalid job
 * and returns success, and a wait succeeds for a job that it aborted. So this room refuses every job that the kernel
 * would drop. Each job declares that it writes to a page of its lane: the fence of that page is the job's and has its
 * status. If the fence is gone before it can be exported, *marks* show whether results were written: before the run,
 * the first 16 bytes of each result are filled with a pattern.
 *
 * A lane belongs to one thread at a time; several lanes and descriptors may be in use at once.
 *
 * Deadlines are absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX for none, 0 to look once.
 */

#include "driver/drm/drm.h"

/** struct rocket_accel - a device; @drm: its node */
struct rocket_accel {
	struct drm drm;
};

/**
 * struct rocket_buffer - memory of a device
 * @drm: its object, mapped
 * @address: where the device has it: below 4 GiB, and 0 is an address like any other
 */
struct rocket_buffer {
	struct drm_buffer drm;
	uint32_t address;
};

/**
 * rocket_accel_open - open a device
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev; "" except in tests
 * @path: "/dev/accel/accel0"
 * @out: the device; closed on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a node of another driver; else as drm_open().
 */
int rocket_accel_open(const struct system_calls *calls, const char *root, const char *path,
		      struct rocket_accel *out);

/** rocket_accel_close - close a device; closing twice does nothing */
void rocket_accel_close(struct rocket_accel *a);

/**
 * rocket_buffer_open - allocate a buffer and map it; the CPU owns it
 * @a: the device
 * @size: bytes; rounded up to pages
 * @out: the buffer; closed on failure
 *
 * Return: 0; -TENON_E_OVERFLOW for no bytes or more than 32 bits count; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED when the
 *	device has it above 4 GiB, where its registers do not reach; else system_status().
 */
int rocket_buffer_open(struct rocket_accel *a, uint64_t size, struct rocket_buffer *out);

/** rocket_buffer_close - release a buffer; a job that was started keeps its memory. Closing twice does nothing */
void rocket_buffer_close(struct rocket_accel *a, struct rocket_buffer *b);

/**
 * rocket_buffer_begin - wait for jobs that write a buffer, and give it to the CPU
 * @a: the device
 * @b: the buffer
 * @deadline: see above
 *
 * Does not wait for jobs that read it, and succeeds for jobs that failed.
 *
 * Return: 0; -TENON_E_TIMEOUT; else system_status().
 */
int rocket_buffer_begin(const struct rocket_accel *a, const struct rocket_buffer *b,
			uint64_t deadline);

/** rocket_buffer_end - give a buffer to the device. Return: 0; system_status() */
int rocket_buffer_end(const struct rocket_accel *a, const struct rocket_buffer *b);

#endif /* DEVICES_ROCKET_ROCKET_ACCEL_H */
