/* SPDX-License-Identifier: MIT */
/* Queues whose operations a thread does in order, for devices whose jobs must be waited for. */
#ifndef DEVICES_MAPPED_WORKER_QUEUE_H
#define DEVICES_MAPPED_WORKER_QUEUE_H

/*
 * Submitting adds an operation to a list and returns; the queue's thread does the operations in order. For devices
 * whose memory is always mapped, and whose jobs end only for a thread that waits for them: the kernel's interface
 * cannot order a copy by the CPU behind a job.
 *
 * A backend says how it runs kernels. Its create and destroy call worker_queue_create() and worker_queue_destroy(), or
 * worker_queue_open() and worker_queue_close() if its queue has fields of its own. It releases memory and executables
 * through tenon_device_retire(), because operations are pending.
 */

#include <pthread.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/queue.h>

/**
 * struct worker_launches - how a backend runs kernels
 * @size: bytes of a launch, which begin as zeroes; the queue reuses launches that have ended, as they are
 * @prepare: keeps in a launch what @run needs, in the thread that submits; must not wait. The executable and parts of
 *	memory may be released before @run, but not what tenon_device_retire() releases
 * @run: runs it in the queue's thread; returns when it has ended, or soon after a loss of the device
 * @release: releases what a launch has kept, when the queue is destroyed; NULL for nothing
 */
struct worker_launches {
	size_t size;
	int (*prepare)(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
		       void *launch);
	int (*run)(struct tenon_queue *queue, void *launch);
	void (*release)(struct tenon_queue *queue, void *launch);
};

/* operations of a queue that are in flight without memory of their own */
#define WORKER_JOBS 8

/**
 * struct worker_queue - the base of such queues
 * @base: for the core
 * @launches: of the backend
 * @thread: does the operations
 * @lock: guards what follows
 * @submitted: @first or @stop was set
 * @done: @finished was raised
 * @first: jobs, in order
 * @last: of these
 * @spare: jobs that have ended
 * @failures: of marks
 * @given: serial of the last job
 * @finished: serial of the last job that has ended
 * @started: the thread runs
 * @stop: the thread ends when no job is left
 */
struct worker_queue {
	struct tenon_queue base;
	const struct worker_launches *launches;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t submitted;
	pthread_cond_t done;
	struct worker_job *first, *last, *spare;
	struct worker_failure *failures;
	uint64_t given;
	uint64_t finished;
	bool started;
	bool stop;
};

/**
 * worker_queue_open - initialise a queue and start its thread
 * @w: zeroes, allocated by the backend
 * @device: its device
 * @launches: of the backend
 *
 * Return: 0; -TENON_E_NOMEM, in which case the caller frees @w.
 */
int worker_queue_open(struct worker_queue *w, struct tenon_device *device,
		      const struct worker_launches *launches);

/**
 * worker_queue_close - end the thread and release all but the struct; all marks are reached, or the device is lost
 */
void worker_queue_close(struct worker_queue *w);

/** worker_queue_create - make a queue without fields of its own. Return: 0; -TENON_E_NOMEM */
int worker_queue_create(struct tenon_device *device, const struct worker_launches *launches,
			struct tenon_queue **out);

/** worker_queue_destroy - tenon_queue_ops.destroy of what worker_queue_create() made */
void worker_queue_destroy(struct tenon_queue *queue);

/* longest wait in nanoseconds before a thread checks again whether its device is lost: a loss wakes no thread */
#define WORKER_SLICE UINT64_C(20000000)

/** worker_is_lost - test whether a device is lost; if so, worker_launches.run returns without waiting for its job */
static inline bool worker_is_lost(const struct tenon_device *device)
{
	return __atomic_load_n(&device->lost, __ATOMIC_ACQUIRE) != 0;
}

int worker_submit(struct tenon_queue *queue, const struct tenon_operation *op);
int worker_mark(struct tenon_queue *queue, uint64_t *serial);
int worker_reached(struct tenon_queue *queue, uint64_t serial);
int worker_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline);
int worker_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial);

/** WORKER_SLOTS - the slots of struct tenon_queue_ops but create and destroy */
#define WORKER_SLOTS                                                                               \
	.submit = worker_submit, .mark = worker_mark, .reached = worker_reached,                   \
	.wait = worker_wait, .order = worker_order, .calls = 1

#endif /* DEVICES_MAPPED_WORKER_QUEUE_H */
