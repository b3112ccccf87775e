/* SPDX-License-Identifier: MIT */
#ifndef TENON_QUEUE_H
#define TENON_QUEUE_H

/**
 * DOC: queues
 *
 * A queue runs operations in the order they were submitted: each sees what the ones before it wrote.
 * Two queues run side by side. Submitting never waits for the device. Every operation may wait for points
 * of timelines (tenon/timeline.h) before it starts, and signal points when it is done.
 *
 * Every thread has a current queue per device. Where it chose none, that is a queue of its own, made
 * at first use. Work on queues of two threads is ordered by timelines, tenon_device_sync() or
 * tenon_tensor_copy() alone.
 */

#include <tenon/device.h>
#include <tenon/export.h>
#include <tenon/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_commands;
struct tenon_dispatch;
struct tenon_memory;
struct tenon_queue;

/**
 * struct tenon_sync - what an operation waits for and signals
 * @wait: reached before it starts
 * @wait_count: how many
 * @signal: reached when it is done
 * @signal_count: how many
 */
struct tenon_sync {
	const struct tenon_point *wait;
	size_t wait_count;
	const struct tenon_point *signal;
	size_t signal_count;
};

/**
 * tenon_queue_create - make a queue
 * @device: device
 * @out: receives it with one reference
 *
 * Dropping the last reference waits until the queue is empty, or for a lost device not at all.
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_LOST; -TENON_E_DEVICE.
 */
TENON_API int tenon_queue_create(struct tenon_device *device, struct tenon_queue **out);

/**
 * tenon_queue_current - the calling thread's queue of a device
 * @device: device
 * @out: receives the queue, borrowed; made at the thread's first use
 *
 * Return: 0; as tenon_queue_create().
 */
TENON_API int tenon_queue_current(struct tenon_device *device, struct tenon_queue **out);

/**
 * tenon_queue_set_current - choose the calling thread's queue of a device
 * @device: device
 * @queue: a queue of it, referenced until another is chosen; NULL for the thread's own
 *
 * Return: 0; -TENON_E_VALUE for another device's; -TENON_E_NOMEM.
 */
TENON_API int tenon_queue_set_current(struct tenon_device *device, struct tenon_queue *queue);

/**
 * tenon_queue_copy - submit a copy of @size bytes within a device
 * @queue: queue; one thread at a time
 * @to: memory of the queue's device
 * @to_offset: first byte
 * @from: memory of the queue's device; the ranges do not overlap
 * @from_offset: first byte
 * @size: bytes
 * @sync: points to wait for and to signal; NULL for none
 *
 * What fails here was not submitted and signals nothing; except that after a loss the signals fail with
 * the reason. All that submits below answers alike.
 *
 * Return: 0; -TENON_E_VALUE for a range that is not within its memory or memory of another device;
 *	-TENON_E_UNSUPPORTED; -TENON_E_LOST; -TENON_E_NOMEM.
 */
TENON_API int tenon_queue_copy(struct tenon_queue *queue, struct tenon_memory *to,
			       uint64_t to_offset, struct tenon_memory *from, uint64_t from_offset,
			       uint64_t size, const struct tenon_sync *sync);
/** tenon_queue_write - submit a copy of @size bytes from host memory, kept until it is done */
TENON_API int tenon_queue_write(struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
				const void *host, uint64_t size, const struct tenon_sync *sync);
/** tenon_queue_read - submit a copy of @size bytes to host memory, kept until it is done */
TENON_API int tenon_queue_read(struct tenon_queue *queue, void *host, struct tenon_memory *from,
			       uint64_t offset, uint64_t size, const struct tenon_sync *sync);
/** tenon_queue_fill - submit filling @size bytes with a pattern of @width 1, 2 or 4 bytes */
TENON_API int tenon_queue_fill(struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
			       uint64_t size, uint32_t pattern, uint32_t width,
			       const struct tenon_sync *sync);
/** tenon_queue_dispatch - submit a kernel; see tenon/executable.h */
TENON_API int tenon_queue_dispatch(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
				   const struct tenon_sync *sync);
/**
 * tenon_queue_execute - submit a recording, @bindings for its slots; see tenon/commands.h
 *
 * As tenon_queue_copy(). Where a recording is kept as a list and the device refuses an operation
 * behind the first, those in front of it run: that is 0, the signals fail with the reason, and the next
 * sync of the queue tells it.
 */
TENON_API int tenon_queue_execute(struct tenon_queue *queue, struct tenon_commands *commands,
				  struct tenon_memory *const *bindings, size_t binding_count,
				  const struct tenon_sync *sync);
/** tenon_queue_call - submit a call of a host function: short, and without submitting */
TENON_API int tenon_queue_call(struct tenon_queue *queue, void (*function)(void *context),
			       void *context, const struct tenon_sync *sync);
/** tenon_queue_timestamp - submit noting the device's time in @nanoseconds, kept until it is done */
TENON_API int tenon_queue_timestamp(struct tenon_queue *queue, uint64_t *nanoseconds,
				    const struct tenon_sync *sync);
/** tenon_queue_join - submit nothing but the waits and signals of @sync */
TENON_API int tenon_queue_join(struct tenon_queue *queue, const struct tenon_sync *sync);

/** tenon_queue_flush - make the device begin what was submitted; never waits */
TENON_API int tenon_queue_flush(struct tenon_queue *queue);

/**
 * tenon_queue_sync - wait until a queue is empty
 * @queue: queue; the thread that submits to it, or while nobody does
 * @deadline: absolute nanoseconds
 *
 * Any answer but -TENON_E_TIMEOUT says that nothing uses what the queue was given any more.
 *
 * Return: 0; -TENON_E_TIMEOUT, and failures are told by the next sync; -TENON_E_LOST; the first failure
 *	since the last sync.
 */
TENON_API int tenon_queue_sync(struct tenon_queue *queue, uint64_t deadline);

#ifdef __cplusplus
}
#endif

#endif /* TENON_QUEUE_H */
