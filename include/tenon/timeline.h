/* SPDX-License-Identifier: MIT */
#ifndef TENON_TIMELINE_H
#define TENON_TIMELINE_H

/**
 * DOC: timelines
 *
 * A *timeline* is a 64-bit value that only grows. A *point* is a timeline and a value. An operation
 * may wait for points before it starts and signal points when it is done. A wait may be submitted
 * before the operation that signals its point. A timeline may fail: it then stays failed, and every
 * wait for it returns the reason. An operation that waits for a failed timeline does not run, and
 * its own signals fail with the same reason.
 *
 * A deadline is absolute, in nanoseconds of CLOCK_MONOTONIC; TENON_FOREVER is none. As an argument 0 polls; as a member of
 * a struct 0 is none, because 0 is the default of every member.
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
 * tenon_timeline_create - create a timeline
 * @value: initial value
 * @out: receives it with one reference; an object of type "tenon.Timeline"
 *
 * It belongs to no device: any queue and the host may wait for it or signal it.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_timeline_create(uint64_t value, struct tenon_timeline **out);

/**
 * tenon_timeline_value - get the current value of a timeline
 * @timeline: timeline
 * @value: receives the value; for a failed timeline the last one it had
 *
 * Context: any thread; never waits.
 * Return: 0; the status of the failure, with its reason.
 */
TENON_API int tenon_timeline_value(struct tenon_timeline *timeline, uint64_t *value);

/**
 * tenon_timeline_signal - advance a timeline from the host
 * @timeline: timeline
 * @value: new value; larger than the current one
 *
 * Context: any thread.
 * Return: 0; -TENON_E_VALUE when the timeline reached @value before; the failure of a failed
 *	timeline.
 */
TENON_API int tenon_timeline_signal(struct tenon_timeline *timeline, uint64_t value);

/**
 * tenon_timeline_fail - fail a timeline; later failures are ignored
 * @timeline: timeline
 * @status: negative; the thread's message becomes the reason and stays in its error slot
 *
 * Context: any thread.
 */
TENON_API void tenon_timeline_fail(struct tenon_timeline *timeline, int status);

/**
 * tenon_timeline_wait - wait for a value
 * @timeline: timeline
 * @value: wait until the timeline has this value or a larger one
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; 0 polls, TENON_FOREVER waits without limit
 *
 * Context: any thread.
 * Return: 0, also when the timeline failed after it reached @value; -TENON_E_TIMEOUT; the failure,
 *	with its reason.
 */
TENON_API int tenon_timeline_wait(struct tenon_timeline *timeline, uint64_t value,
				  uint64_t deadline);

/** tenon_deadline - the deadline @nanoseconds from now; TENON_FOREVER gives TENON_FOREVER */
TENON_API uint64_t tenon_deadline(uint64_t nanoseconds);

/** tenon_now - the current time of CLOCK_MONOTONIC in nanoseconds */
static inline uint64_t tenon_now(void)
{
	return tenon_deadline(0);
}

#ifdef __cplusplus
}
#endif

#endif /* TENON_TIMELINE_H */
