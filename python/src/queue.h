/* SPDX-License-Identifier: MIT */
/* The type tenon.Queue, for the files that submit operations. */
#ifndef PYTHON_QUEUE_H
#define PYTHON_QUEUE_H

#include "core.h"

/** queue_make - a new queue of a device, whose reference is taken over, also on failure */
PyObject *queue_make(struct tenon_device *device);

/** queue_check - whether an object is a tenon.Queue */
bool queue_check(PyObject *o);

/** queue_of - the queue of the library */
struct tenon_queue *queue_of(PyObject *queue);

/**
 * queue_lock - let other threads wait before they submit to a queue
 *
 * Return: 0, then queue_unlock(); -1 with an exception set, when another thread has made it its current one.
 */
int queue_lock(PyObject *queue);
/** queue_lock_always - as queue_lock(), also when another thread has made it its current one */
void queue_lock_always(PyObject *queue);
void queue_unlock(PyObject *queue);

/**
 * queue_set_recorded - a recording follows a queue, or does so no more
 * @queue: queue, locked
 * @list: receives the objects that operations use; NULL when no recording follows
 */
void queue_set_recorded(PyObject *queue, PyObject *list);

#endif /* PYTHON_QUEUE_H */
