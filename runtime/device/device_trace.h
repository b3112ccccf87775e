/* SPDX-License-Identifier: MIT */
/* The events that the device layer reports to a trace. */
#ifndef RUNTIME_DEVICE_DEVICE_TRACE_H
#define RUNTIME_DEVICE_DEVICE_TRACE_H

#include "lib/trace.h"
#include "runtime/device/device_core.h"

/* Submit an operation to the backend. Every operation passes here. */
static inline int queue_give(struct tenon_queue *queue, const struct tenon_operation *operation)
{
	const struct tracer *t = trace_on();

	return t ? t->submit(queue, operation)
		 : queue->device->ops->queue->submit(queue, operation);
}

/* A queue is about to be destroyed. */
static inline void trace_forget_queue(struct tenon_queue *queue)
{
#if OPTION_ON(TRACE)
	if (queue->core->traced)
		plugin_trace.offer->tracer->queue_gone(queue);
#endif
}

/* Count @bytes more of a device's memory, or fewer (a negative number, modulo 2^64). */
static inline void trace_count_memory(struct tenon_device *device, uint64_t bytes)
{
	const struct tracer *t;

	__atomic_add_fetch(&device->core->allocated, bytes, __ATOMIC_RELAXED);
	t = trace_on();
	if (t && t->memory)
		t->memory(device);
}

#endif /* RUNTIME_DEVICE_DEVICE_TRACE_H */
