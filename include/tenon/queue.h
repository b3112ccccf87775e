/* SPDX-License-Identifier: MIT */
#ifndef TENON_QUEUE_H
#define TENON_QUEUE_H

/**
 * DOC: queues
 *
 * A queue runs operations in submission order; each sees what earlier ones wrote. Queues run
 * concurrently. Submitting never waits for the device. An operation may wait for points of
 * timelines (tenon/timeline.h) before it starts, and signal points when it is done.
 *
 * Each thread has a current queue per device: the one it set, or else its own queue, created at
 * first use. Only timelines, tenon_device_sync() and tenon_tensor_copy() order operations on
 * different queues.
 */

#include <tenon/device.h>
#include <tenon/export.h>
#include <tenon/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_commands;
struct tenon_dispatch;
struct tenon_kernel;
struct tenon_memory;
struct tenon_queue;

/**
 * struct tenon_sync - points that an operation waits for and signals
 * @wait: points to wait for before the operation starts
 * @wait_count: number of points in @wait
 * @signal: points to signal when the operation is done
 * @signal_count: number of points in @signal
 */
struct tenon_sync {
	const struct tenon_point *wait;
	size_t wait_count;
	const struct tenon_point *signal;
	size_t signal_count;
};

/**
 * struct tenon_job - when an operation starts, and when it has to be done
 * @size: sizeof(struct tenon_job)
 * @sync: points to wait for and to signal
 * @deadline: see tenon/timeline.h; 0 for none. An operation that still waits for
 *	a point then does not run. One that was started goes on: its memory stays the device's until
 *	the operation is done or the device is lost. In both cases the timelines to signal fail with
 *	-TENON_E_TIMEOUT.
 * @priority: 0 is usual. Of operations that several queues could start, one with a larger number
 *	goes first, if the backend has a choice; operations of one queue stay in order.
 * @reserved: 0
 */
struct tenon_job {
	size_t size;
	struct tenon_sync sync;
	uint64_t deadline;
	int32_t priority;
	uint32_t reserved;
};

/**
 * tenon_queue_create - create a queue
 * @device: device
 * @out: receives it with one reference
 *
 * Dropping the last reference waits until the queue is idle, unless the device is lost.
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_LOST; -TENON_E_DEVICE.
 */
TENON_API int tenon_queue_create(struct tenon_device *device, struct tenon_queue **out);

/**
 * tenon_queue_current - get the calling thread's current queue of a device
 * @device: device
 * @out: receives the queue, borrowed; created at the thread's first use
 *
 * Return: 0; an error of tenon_queue_create().
 */
TENON_API int tenon_queue_current(struct tenon_device *device, struct tenon_queue **out);

/**
 * tenon_queue_set_current - set the calling thread's current queue of a device
 * @device: device
 * @queue: a queue of @device, referenced until another is set; NULL for the thread's own
 *
 * Return: 0; -TENON_E_VALUE for a queue of another device; -TENON_E_NOMEM.
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
 * On failure nothing was submitted and no point will be signalled, except that when the device is
 * lost the timelines to signal fail with the reason. The other functions below that submit return
 * the same errors.
 *
 * Context: one thread at a time per queue; never waits for the device.
 * Return: 0; -TENON_E_VALUE for a range outside its memory or memory of another device;
 *	-TENON_E_UNSUPPORTED; -TENON_E_LOST; -TENON_E_NOMEM.
 */
TENON_API int tenon_queue_copy(struct tenon_queue *queue, struct tenon_memory *to,
			       uint64_t to_offset, struct tenon_memory *from, uint64_t from_offset,
			       uint64_t size, const struct tenon_sync *sync);
/**
 * tenon_queue_write - submit a copy from host memory, which must stay unchanged until it is done
 */
TENON_API int tenon_queue_write(struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
				const void *host, uint64_t size, const struct tenon_sync *sync);
/** tenon_queue_read - submit a copy to host memory, which must stay valid until it is done */
TENON_API int tenon_queue_read(struct tenon_queue *queue, void *host, struct tenon_memory *from,
			       uint64_t offset, uint64_t size, const struct tenon_sync *sync);
/** tenon_queue_fill - submit a fill with a pattern of @width 1, 2 or 4 bytes */
TENON_API int tenon_queue_fill(struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
			       uint64_t size, uint32_t pattern, uint32_t width,
			       const struct tenon_sync *sync);
/** tenon_queue_dispatch - submit a kernel; see tenon/executable.h */
TENON_API int tenon_queue_dispatch(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
				   const struct tenon_sync *sync);
/**
 * tenon_queue_launch - submit a kernel with a deadline and a priority
 * @queue: queue; one thread at a time
 * @dispatch: as for tenon_queue_dispatch()
 * @job: points, deadline, priority; NULL for none
 *
 * Return: as tenon_queue_copy().
 */
TENON_API int tenon_queue_launch(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
				 const struct tenon_job *job);
/**
 * tenon_queue_run - submit a kernel with a tensor for each argument
 * @queue: queue; one thread at a time
 * @kernel: a kernel without scalars, on the device of @queue
 * @tensors: @count compact tensors, on that device or in host memory; borrowed, but their data must
 *	stay valid and unchanged until the job is done
 * @count: number of tensors
 * @job: points, deadline, priority; NULL for none
 *
 * Tensors in host memory are for kernels that tell what they read and write (command streams).
 * They are imported if the device can, else copied before and after the kernel.
 *
 * Return: as tenon_queue_copy(), except that copies to the device may have been submitted on
 *	failure: sync the queue before freeing host memory. -TENON_E_TYPE for another number of
 *	arguments, or scalars.
 */
TENON_API int tenon_queue_run(struct tenon_queue *queue, struct tenon_kernel *kernel,
			      const DLTensor *const *tensors, size_t count,
			      const struct tenon_job *job);
/**
 * tenon_queue_execute - submit a recording; see tenon/commands.h
 * @queue: queue; one thread at a time
 * @commands: finished recording
 * @bindings: memory for each of its slots
 * @binding_count: number of bindings
 * @sync: points to wait for and to signal; NULL for none
 *
 * A device without native recordings may reject an operation after the first. The operations before
 * it run all the same, the signals fail with the reason, and this function returns it, unless it
 * returned 0 already because the execution waits for a point. Imported memory may be in use until
 * the queue was synced.
 *
 * Return: as tenon_queue_copy(), but a part may have been submitted on failure.
 */
TENON_API int tenon_queue_execute(struct tenon_queue *queue, struct tenon_commands *commands,
				  struct tenon_memory *const *bindings, size_t binding_count,
				  const struct tenon_sync *sync);
/** tenon_queue_call - submit a call of a host function, which must be short and must not submit */
TENON_API int tenon_queue_call(struct tenon_queue *queue, void (*function)(void *context),
			       void *context, const struct tenon_sync *sync);
/** tenon_queue_timestamp - submit a write of the device's time to @nanoseconds, valid until done */
TENON_API int tenon_queue_timestamp(struct tenon_queue *queue, uint64_t *nanoseconds,
				    const struct tenon_sync *sync);
/** tenon_queue_join - submit the waits and signals of @sync without an operation */
TENON_API int tenon_queue_join(struct tenon_queue *queue, const struct tenon_sync *sync);

/** tenon_queue_flush - start submitted operations that the queue still batches; never waits */
TENON_API int tenon_queue_flush(struct tenon_queue *queue);

/**
 * tenon_queue_sync - wait until a queue is idle
 * @queue: queue
 * @deadline: as in tenon_timeline_wait()
 *
 * After any result but -TENON_E_TIMEOUT the caller may free memory that it passed to the queue.
 *
 * Context: no other thread may submit to @queue.
 * Return: 0; -TENON_E_TIMEOUT, in which case the next sync returns failures; -TENON_E_LOST; the
 *	first failure since the last sync.
 */
TENON_API int tenon_queue_sync(struct tenon_queue *queue, uint64_t deadline);

/**
 * tenon_queue_sync_or_stop - wait for what was submitted to a queue before the call, or until the caller stops it
 * @queue: queue
 * @deadline: as in tenon_timeline_wait()
 * @stop: see tenon_stop_fn; NULL for none
 * @context: passed to @stop
 *
 * After any result but -TENON_E_TIMEOUT the caller may free memory of operations that were submitted
 * before the call.
 *
 * Context: any thread; others may submit to @queue meanwhile.
 * Return: as tenon_queue_sync(); -TENON_E_TIMEOUT also when @stop ended the wait.
 */
TENON_API int tenon_queue_sync_or_stop(struct tenon_queue *queue, uint64_t deadline,
				       tenon_stop_fn stop, void *context);

#ifdef __cplusplus
}
#endif

#endif /* TENON_QUEUE_H */
