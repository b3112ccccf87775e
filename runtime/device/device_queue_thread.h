/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_DEVICE_QUEUE_THREAD_H
#define RUNTIME_DEVICE_DEVICE_QUEUE_THREAD_H

/*
 * Threads that do something for a queue and end when it is done: one submits operations that were held
 * back (device_held.c), one watches marks (device_watch.c).
 */

#include <tenon/backend/queue.h>

/* Start a detached thread that runs @work and references @queue meanwhile. Return: 0; -TENON_E_NOMEM. */
int queue_thread_start(struct tenon_queue *queue, void (*work)(struct tenon_queue *queue));

/* Such a thread begins, or ends, to wait for something that may never come. */
void queue_thread_waits(void);
void queue_thread_goes_on(void);

/* Wait for all of these threads that do not wait: each may hold the last reference of its queue. */
void queue_threads_leave(void);

/* In a child process those threads do not exist. */
void queue_threads_forked(void);

#endif /* RUNTIME_DEVICE_DEVICE_QUEUE_THREAD_H */
