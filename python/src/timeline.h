/* SPDX-License-Identifier: MIT */
/* tenon.Timeline, and waiting for a value of it in asyncio. */
#ifndef PYTHON_TIMELINE_H
#define PYTHON_TIMELINE_H

#include "core.h"

/** timeline_awaitable - a coroutine that waits for a value; takes over the reference, also on failure */
PyObject *timeline_awaitable(struct tenon_timeline *timeline, uint64_t value);

/** timeline_deadline - the deadline of a timeout in seconds, or None for none; 0 or -1 */
int timeline_deadline(PyObject *timeout, uint64_t *out);

#endif /* PYTHON_TIMELINE_H */
