/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_DEVICE_CORE_H
#define RUNTIME_DEVICE_DEVICE_CORE_H

/* What the device layer, which backends know as the core, keeps behind the public structs. */

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
	DEVICE_OBJECT_COUNT,
};

/* Type index of the core's objects; TENON_TYPE_OBJECT when there was no memory to register it. */
int32_t device_object_type(enum device_object which);

/* values of tenon_device.lost */
#define DEVICE_LOST   1u
#define DEVICE_FORKED 2u

/* atomic; 0 until it is registered */
extern int32_t device_object_types[DEVICE_OBJECT_COUNT] __attribute__((visibility("hidden")));

/* The type index of objects that there are: then it was registered. */
static inline int32_t device_object_known(enum device_object which)
{
	return __atomic_load_n(&device_object_types[which], __ATOMIC_RELAXED);
}

struct retired;
struct held;
struct pool;
struct watched;
struct device_tables;

struct tenon_device_core {
	pthread_mutex_t lock; /* of all that follows */
	char *reason;	      /* of the loss */
	struct tenon_queue_core *queues;
	struct tenon_queue *idle; /* of threads that ended, for the next one */
	struct retired *retired;
	uint32_t has_retired; /* the same as a flag that may be read without the lock */
	char *query;	      /* the URI's keys; NULL for none */
	uint32_t forks;	      /* device_forks when it was opened */
	struct tenon_device_properties properties;
	struct device_tables *tables; /* completed; NULL while the backend's own are long enough */
};

struct tenon_queue_core {
	struct tenon_queue *queue;
	struct tenon_queue_core *next, *previous; /* under the device's lock */
	bool listed;
	struct tenon_queue *next_idle;
	struct pool *pool;

	uint32_t holding; /* operations wait in @held; atomic */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct held *first, *last;
	struct watched *watched; /* timelines that want to hear of marks; a thread exists while there are any */
	bool watching;
	int failure; /* first failure since the last sync */
	char *reason;
};

/* "cpu:0", for messages */
#define DEVICE_LABEL 48
const char *device_label(const struct tenon_device *device, char label[DEVICE_LABEL]);

/* Lock a mutex that no error leaves locked. */
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

/* how often this process became another one's child since the first device was opened; atomic */
extern uint32_t device_forks;

/*
 * The parent process opened the device: the threads of its driver do not exist here and its locks
 * may be held, so do not touch its objects.
 */
static inline bool device_is_parents(const struct tenon_device *device)
{
	return device->core->forks != __atomic_load_n(&device_forks, __ATOMIC_RELAXED);
}

/* The message in the thread's slot, copied; never NULL unless memory is out. */
char *device_reason(void);

/* All queues of a device, each referenced; @count of them, to be given to device_queues_free(). */
int device_queues(struct tenon_device *device, struct tenon_queue ***out, size_t *count);
void device_queues_free(struct tenon_queue **queues, size_t count);

/* Give back what was retired and is done by now. */
void device_reap(struct tenon_device *device);
/* A queue ends: nothing waits for it any more. Called with the device's lock held. */
void device_reap_queue(struct tenon_device *device, const struct tenon_queue *queue);
/* The device ends: give everything back. */
void device_reap_all(struct tenon_device *device);

/* A queue around a vendor's handle; the backend has the slot. */
int queue_wrap(struct tenon_device *device, void *native, struct tenon_queue **out);

/*
 * Put an operation into a queue that holds nothing, without waits and signals. @begun: it failed
 * with a part of it submitted; comes false
 */
int queue_place(struct tenon_queue *queue, const struct tenon_operation *operation, bool *begun);
/* Promise the signals of an operation that was placed last; failures fail the timelines. */
int queue_promise(struct tenon_queue *queue, const struct tenon_point *signal, size_t count);
/* Fail all of them with the thread's error; returns @status. */
int queue_fail_signals(const struct tenon_point *signal, size_t count, int status);
/* Order @queue behind all that other queues of its device have been given so far. */
int queue_order_behind_all(struct tenon_queue *queue);

/*
 * Keep an operation back until its waits are reached. @call: a host function behind the queue's
 * work
 */
int queue_hold(struct tenon_queue *queue, const struct tenon_operation *operation,
	       const struct tenon_sync *sync);
/* Wait until nothing is held. Return: 0; -TENON_E_TIMEOUT. */
int queue_held_wait(struct tenon_queue *queue, uint64_t deadline);

/* Keep the thread's error for the next sync, unless one is kept. Return: 0, with an empty slot. */
int queue_note_failure(struct tenon_queue *queue, int status);
/* What was kept, once: 0, or the failure, raised. */
int queue_failure(struct tenon_queue *queue);
/* Wait until a queue is empty; failures are kept. Return: 0; -TENON_E_TIMEOUT. */
int queue_wait(struct tenon_queue *queue, uint64_t deadline);

static inline bool queue_holds(const struct tenon_queue *queue)
{
	return __atomic_load_n(&queue->core->holding, __ATOMIC_ACQUIRE) != 0;
}

/* the pool of a queue (device_pool.c) */
void pool_free(struct pool *pool);

/* how a point stands, for a queue that wants to wait for it */
enum point_state {
	POINT_READY,   /* reached, or ordered on the device */
	POINT_PENDING, /* has to be waited for on the host */
};

/* Return: enum point_state; the negative failure of the timeline, raised. */
int timeline_resolve(const struct tenon_point *point, struct tenon_queue *queue);
/*
 * Can an operation signal all these. Return: 0; -TENON_E_VALUE for a value that is reached already.
 */
int timeline_check_signals(const struct tenon_point *signal, size_t count);
/* Note that @timeline reaches @value when @queue reaches @serial. */
int timeline_promise(struct tenon_timeline *timeline, uint64_t value, struct tenon_queue *queue,
		     uint64_t serial);

/* monotonic time in nanoseconds */
uint64_t device_now(void);
/* Wait on a condition of CLOCK_MONOTONIC; false when the deadline passed. */
bool device_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline);
int device_condition_init(pthread_cond_t *condition);

#endif /* RUNTIME_DEVICE_DEVICE_CORE_H */
