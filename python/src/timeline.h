/* SPDX-License-Identifier: MIT */
/* tenon.Timeline, and waiting for a value of it in asyncio. */
#ifndef PYTHON_TIMELINE_H
#define PYTHON_TIMELINE_H

#include "core.h"

/** timeline_awaitable - a coroutine that waits for a value; takes over the reference, also on failure */
PyObject *timeline_awaitable(struct tenon_timeline *timeline, uint64_t value);

/** timeline_deadline - the deadline of a timeout in seconds, or None for none; 0 or -1 */
int timeline_deadline(PyObject *timeout, uint64_t *out);

/**
 * struct points - what an operation waits for and signals
 * @sync: points to the array below
 * @at: those to wait for, then those to signal, then room for one more to signal
 * @kept: a tuple that holds the timelines
 */
struct points {
	struct tenon_sync sync;
	struct tenon_point *at;
	PyObject *kept;
};

/** points_read - read sequences of (timeline, value), or None; 0, then points_end(), or -1 */
int points_read(PyObject *wait, PyObject *signal, struct points *out);

/** points_add_signal - signal one more point; once */
static inline void points_add_signal(struct points *p, struct tenon_timeline *timeline,
				     uint64_t value)
{
	p->at[p->sync.wait_count + p->sync.signal_count++] =
		(struct tenon_point){ timeline, value };
}

/** points_end - release all */
void points_end(struct points *p);

/** timeline_stop - a tenon_stop_fn, for waits without the GIL: handlers of signals run, and end the wait by an exception */
int timeline_stop(void *unused);

#endif /* PYTHON_TIMELINE_H */
