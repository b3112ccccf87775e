/* SPDX-License-Identifier: MIT */
#ifndef TENON_TIMELINE_H
#define TENON_TIMELINE_H

/**
 * DOC: timelines
 *
 * A *timeline* is a 64-bit value that only grows. A *point* is a timeline and a value. Every
 * operation may wait for points before it starts and signal points when it is done; a point may be
 * waited for before anything has promised to signal it. A timeline may fail instead: it then stays
 * failed, and every wait for it returns the reason. An operation that waits for a failed timeline does not
 * run, and its own signals fail with the same reason.
 *
 * Deadlines are absolute nanoseconds of CLOCK_MONOTONIC: 0 asks without waiting, TENON_FOREVER waits
 * without a limit.
 */

#include <tenon/export.h>
#include <tenon/object.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_timeline;

#define TENON_FOREVER UINT64_MAX

/** struct tenon_point - a value of a timeline */
struct tenon_point {
	struct tenon_timeline *timeline;
	uint64_t value;
};

/**
 * tenon_timeline_create - make a timeline
 * @value: where it starts
 * @out: receives it with one reference; an object of type "tenon.Timeline"
 *
 * It belongs to no device: any queue and the host may wait for it and signal it.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_timeline_create(uint64_t value, struct tenon_timeline **out);

/**
 * tenon_timeline_value - where a timeline is
 * @timeline: timeline
 * @value: receives the value; when it failed, the last one it had
 *
 * Context: any thread; never waits.
 * Return: 0; the failure's status with its reason.
 */
TENON_API int tenon_timeline_value(struct tenon_timeline *timeline, uint64_t *value);

/**
 * tenon_timeline_signal - move a timeline on, from the host
 * @timeline: timeline
 * @value: larger than its value
 *
 * Return: 0; -TENON_E_VALUE when it is there already; the failure when it failed.
 */
TENON_API int tenon_timeline_signal(struct tenon_timeline *timeline, uint64_t value);

/**
 * tenon_timeline_fail - fail a timeline; the first failure stays
 * @timeline: timeline
 * @status: negative; its message in the thread's slot becomes the reason, and stays in the slot
 */
TENON_API void tenon_timeline_fail(struct tenon_timeline *timeline, int status);

/**
 * tenon_timeline_wait - wait for a value
 * @timeline: timeline
 * @value: wait until the timeline is there or further
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; 0 asks, TENON_FOREVER waits
 *
 * Return: 0; -TENON_E_TIMEOUT; the failure, with its reason. A value that was reached before the
 *	failure is still 0.
 */
TENON_API int tenon_timeline_wait(struct tenon_timeline *timeline, uint64_t value,
				  uint64_t deadline);

/** tenon_deadline - the deadline that is @nanoseconds from now; TENON_FOREVER stays */
TENON_API uint64_t tenon_deadline(uint64_t nanoseconds);

/** tenon_now - the time of CLOCK_MONOTONIC in nanoseconds, which deadlines and timestamps count in */
static inline uint64_t tenon_now(void)
{
	return tenon_deadline(0);
}

#ifdef __cplusplus
}
#endif

#endif /* TENON_TIMELINE_H */
