/* SPDX-License-Identifier: MIT */
/* The current devices and queues of a thread, which the thread reads without a lock. */
#ifndef RUNTIME_DEVICE_DEVICE_THREAD_H
#define RUNTIME_DEVICE_DEVICE_THREAD_H

/*
 * For each device type a thread has a current device, which `__tvm_set_device` sets and kernels run
 * on; for each device it has a current queue. Both are found without a lock.
 */

#include "runtime/device/device_core.h"

/**
 * struct device_place - where kernels of a device type run
 * @type: DLPack device type
 * @device: current device, referenced; NULL before the first use
 * @queue: current queue of it, kept alive by the thread; NULL before the first use
 * @number: device number chosen
 */
struct device_place {
	int32_t type;
	int32_t number;
	struct tenon_device *device;
	struct tenon_queue *queue;
};

#define DEVICE_PLACES 8

extern __thread struct device_place device_places[DEVICE_PLACES];

/* Open the device and create the queue if needed. Return: 0; as tenon_device_get(). */
int device_place_fill(int32_t type, struct device_place **out);

/* The thread's device and queue of a type. */
static inline int device_place_get(int32_t type, struct device_place **out)
{
	struct device_place *p = device_places, *const end = p + DEVICE_PLACES;

	for (; p < end && p->type; p++)
		if (p->type == type && p->queue && !device_is_lost(p->device)) {
			*out = p;
			return 0;
		}
	return device_place_fill(type, out);
}

/* Set the current device of a type. Return: 0; as tenon_device_get(). */
int device_thread_choose(DLDevice id);

/* TVMFFIEnvSetStream. @stream: a queue's native handle, a queue, or a vendor's stream. */
int device_thread_set_stream(DLDevice id, void *stream, void **old);
/* TVMFFIEnvGetStream */
void *device_thread_stream(DLDevice id);

/* Whether it is the current queue of the calling thread, or the one that this thread was given first. */
bool device_thread_uses(const struct tenon_queue *queue);

/* Keep a queue that is not used any more, with its reference, for the next thread. NULL is allowed. */
void device_give_queue_back(struct tenon_queue *queue);

/* Drop all devices and queues of the calling thread. */
void device_thread_drop(void);

#endif /* RUNTIME_DEVICE_DEVICE_THREAD_H */
