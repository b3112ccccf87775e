/* SPDX-License-Identifier: MIT */
/*
 * Short-lived threads of a queue: one submits held operations (device_held.c), one waits for marks
 * (device_notify.c).
 */
#ifndef RUNTIME_DEVICE_DEVICE_QUEUE_THREAD_H
#define RUNTIME_DEVICE_DEVICE_QUEUE_THREAD_H

#include <tenon/backend/queue.h>

/* Start a detached thread that runs @work and references @queue. Return: 0; -TENON_E_NOMEM. */
int queue_thread_start(struct tenon_queue *queue, void (*work)(struct tenon_queue *queue));

/* Called by such a thread before and after a wait that may never end. */
void queue_thread_waits(void);
void queue_thread_goes_on(void);

/*
 * Wait until all threads that do not wait have ended: each may hold the last reference of a queue.
 */
void queue_threads_leave(void);

/* After fork(): the threads do not exist in the child. */
void queue_threads_forked(void);

#endif /* RUNTIME_DEVICE_DEVICE_QUEUE_THREAD_H */
