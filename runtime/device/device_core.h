/* SPDX-License-Identifier: MIT */
/* Private data of the device layer ("the core") behind the public structs. */
#ifndef RUNTIME_DEVICE_DEVICE_CORE_H
#define RUNTIME_DEVICE_DEVICE_CORE_H

#include <pthread.h>
#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

enum device_object {
	DEVICE_OBJECT_DEVICE,
	DEVICE_OBJECT_MEMORY,
	DEVICE_OBJECT_QUEUE,
	DEVICE_OBJECT_TIMELINE,
	DEVICE_OBJECT_COMMANDS,
	DEVICE_OBJECT_EXECUTABLE,
	DEVICE_OBJECT_PROGRAM,
	DEVICE_OBJECT_WAIT_SET,
	DEVICE_OBJECT_PREPARATION,
	DEVICE_OBJECT_COUNT,
};

/* Type index of the core's objects; TENON_TYPE_OBJECT when memory is out. */
int32_t device_object_type(enum device_object which);

/* values of tenon_device.lost */
#define DEVICE_LOST   1u
#define DEVICE_FORKED 2u
#define DEVICE_ENDED  3u /* lost, and this process cannot open it again */

/* atomic; 0 until it is registered */
extern int32_t device_object_types[DEVICE_OBJECT_COUNT] __attribute__((visibility("hidden")));

/* Type index, without registering it: for comparison with existing objects. */
static inline int32_t device_object_known(enum device_object which)
{
	return __atomic_load_n(&device_object_types[which], __ATOMIC_RELAXED);
}

struct retired;
struct held;
struct pool;
struct awaited_mark;
struct device_tables;

struct tenon_device_core {
	pthread_mutex_t lock; /* protects the rest */
	char *reason;	      /* of the loss */
	struct tenon_queue_core *queues;
	struct tenon_queue *idle; /* queues of ended threads, to be reused */
	struct retired *retired;
	uint32_t has_retired; /* @retired is not empty; read without the lock */
	char *query;	      /* the URI's keys; NULL for none */
	char *place;	      /* the URI's path, of a device that is not counted; NULL for others */
	bool has_number;      /* the backend chose its type and number, which the table keeps */
	uint32_t forks;	      /* device_forks when it was opened */
	struct tenon_device_properties properties;
	uint64_t allocated;	      /* bytes of memory; atomic */
	uint64_t trace_device;	      /* private to runtime/trace/ */
	struct device_tables *tables; /* completed tables; NULL if the backend's are long enough */
};

struct tenon_queue_core {
	struct tenon_queue *queue;
	struct tenon_queue_core *next, *previous; /* under the device's lock */
	bool listed;
	struct tenon_queue *next_idle;
	struct pool *pool;
	bool traced;			 /* the trace has the queue in a list */
	uint64_t trace_track;		 /* private to runtime/trace/ */
	struct tenon_commands *follower; /* records what is submitted; NULL for none */

	uint32_t holding; /* operations wait in @held; atomic */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct held *first, *last;
	uint64_t held;		      /* number of operations that were ever held */
	uint64_t placed;	      /* number of those that were submitted, or failed */
	struct awaited_mark *awaited; /* marks to update timelines at */
	bool notifying;		      /* a thread waits for @awaited */
	int failure;		      /* first failure since the last sync */
	char *reason;
};

/* "cpu:0", for messages */
#define DEVICE_LABEL 48
const char *device_label(const struct tenon_device *device, char label[DEVICE_LABEL]);

static inline void device_lock(struct tenon_device *device)
{
	pthread_mutex_lock(&device->core->lock);
}

static inline void device_unlock(struct tenon_device *device)
{
	pthread_mutex_unlock(&device->core->lock);
}

static inline bool device_is_lost(const struct tenon_device *device)
{
	return __atomic_load_n(&device->lost, __ATOMIC_ACQUIRE) != 0;
}

/* incremented in each child process after fork(), once the fork handler is registered; atomic */
extern uint32_t device_forks;

/*
 * The parent process opened the device: the threads of its driver do not exist here and its locks
 * may be held, so do not touch its objects.
 */
static inline bool device_is_parents(const struct tenon_device *device)
{
	return device->core->forks != __atomic_load_n(&device_forks, __ATOMIC_RELAXED);
}

/* Copy the thread's error message; NULL when memory is out. */
char *device_reason(void);

/* the queues of a device; few of them take no memory */
struct queue_list {
	struct tenon_queue **queues;
	size_t count;
	struct tenon_queue *few[8];
};

/* List and reference all queues of a device; free the list with device_queues_free(). */
int device_queues(struct tenon_device *device, struct queue_list *out);
void device_queues_free(struct queue_list *list);

/* Release the retired items that no queue uses any more. */
void device_reap(struct tenon_device *device);
/* Remove a queue that is destroyed from all retired items. Caller holds the device's lock. */
void device_reap_queue(struct tenon_device *device, const struct tenon_queue *queue);
/* Release all retired items, when the device is closed. */
void device_reap_all(struct tenon_device *device);

/* Make a queue of a vendor's handle. The backend must have ops->wrap. */
int queue_wrap(struct tenon_device *device, void *native, struct tenon_queue **out);

/* As tenon_queue_submit(), with a deadline as in struct tenon_job. */
int queue_submit(struct tenon_queue *queue, const struct tenon_operation *operation,
		 const struct tenon_sync *sync, uint64_t deadline);

/*
 * Submit an operation to a queue without held operations; ignores waits and signals. @begun:
 * initially false; set when a part was submitted, even on failure.
 */
int queue_place(struct tenon_queue *queue, const struct tenon_operation *operation, bool *begun);
/* Promise the signals of the operation submitted last. On failure the timelines fail. */
int queue_promise(struct tenon_queue *queue, const struct tenon_point *signal, size_t count,
		  uint64_t deadline);
/* Fail all timelines with the thread's error; returns @status. */
int queue_fail_signals(const struct tenon_point *signal, size_t count, int status);
/*
 * Mark what Tenon itself gave to a queue: any thread may do so while the program submits to the
 * handle. After a failure operations may still run.
 */
static inline int queue_mark_own(struct tenon_queue *queue, uint64_t *serial)
{
	const struct tenon_queue_ops *ops = queue->device->ops->queue;

	return ops->mark_own ? ops->mark_own(queue, serial) : ops->mark(queue, serial);
}

/* Order @queue behind all operations that Tenon submitted to other queues of its device. */
int queue_order_behind_all(struct tenon_queue *queue);

/*
 * Hold an operation until its waits are reached, or a host function until the operations before it
 * are done.
 */
int queue_hold(struct tenon_queue *queue, const struct tenon_operation *operation,
	       const struct tenon_sync *sync, uint64_t deadline);
/* The number of the newest held operation, for queue_held_wait(); 0 if none is held. */
uint64_t queue_held_goal(struct tenon_queue *queue);
/* Wait until the held operations up to @goal are submitted. Return: 0; -TENON_E_TIMEOUT. */
int queue_held_wait(struct tenon_queue *queue, uint64_t goal, uint64_t deadline);

/* Store the thread's error for the next sync, unless one is stored, and clear it. Return: 0. */
int queue_note_failure(struct tenon_queue *queue, int status);
/* Raise and clear the stored failure. Return: its status, or 0. */
int queue_failure(struct tenon_queue *queue);
/* Wait for what was submitted so far and store failures. Return: 0; -TENON_E_TIMEOUT. */
int queue_wait(struct tenon_queue *queue, uint64_t deadline);

static inline bool queue_holds(const struct tenon_queue *queue)
{
	return __atomic_load_n(&queue->core->holding, __ATOMIC_ACQUIRE) != 0;
}

/* the pool of a queue (device_pool.c) */
void pool_free(struct pool *pool);

/* state of a point that a queue is to wait for */
enum point_state {
	POINT_READY,   /* reached, or ordered on the device */
	POINT_PENDING, /* the host must wait */
};

/* Order a queue behind a point. Return: enum point_state; the status of a failed timeline. */
int timeline_resolve(const struct tenon_point *point, struct tenon_queue *queue);
/*
 * Check that an operation can signal all points. Return: 0; -TENON_E_VALUE for a value that is
 * reached already.
 */
int timeline_check_signals(const struct tenon_point *signal, size_t count);
/* Note that @timeline reaches @value when @queue reaches @serial; it fails at the deadline. */
int timeline_promise(struct tenon_timeline *timeline, uint64_t value, struct tenon_queue *queue,
		     uint64_t serial, uint64_t deadline);

/* monotonic time in nanoseconds */
uint64_t device_now(void);
/* Wait on a condition of CLOCK_MONOTONIC; false when the deadline passed. */
bool device_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline);
int device_condition_init(pthread_cond_t *condition);

#endif /* RUNTIME_DEVICE_DEVICE_CORE_H */
