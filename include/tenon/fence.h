/* SPDX-License-Identifier: MIT */
#ifndef TENON_FENCE_H
#define TENON_FENCE_H

/**
 * DOC: fences across processes, and wait sets
 *
 * A fence is a point: a timeline and a value (tenon/timeline.h). This header exports fences to
 * other processes and APIs, and waits for many points at once.
 *
 * A fence is exported as a file descriptor: an eventfd, a Linux sync_file (dma-fence), or a
 * driver-specific fd. The importer gets a timeline that reaches 1 when the fence signals. Pass
 * descriptors to another process over a Unix socket with SCM_RIGHTS.
 *
 * A *wait set* has one pollable descriptor for any number of points. Add it to epoll, io_uring or
 * libuv, and fetch the points that were reached when it becomes readable. The program needs no
 * thread for waiting.
 *
 * An eventfd used as a fence becomes readable when the fence signals, and stays readable. Its
 * counter is then 1, or 1 plus the positive status of the failure. A reader writes the counter back
 * after reading it, so that other holders of the descriptor see it too.
 */

#include <tenon/export.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_wait_set;

/** enum tenon_fence_type - kinds of file descriptor for a fence */
enum tenon_fence_type {
	TENON_FENCE_EVENTFD = 0,   /* an eventfd; works on every device and the host */
	TENON_FENCE_SYNC_FILE = 1, /* a Linux sync_file; can be polled */
	/*
	 * The payload of a driver's binary semaphore, called an opaque fd in Vulkan, CUDA and
	 * OpenCL. Only queues can wait for it. A wait consumes it, so import it once.
	 */
	TENON_FENCE_OPAQUE_FD = 2,
};

/**
 * tenon_fence_export - export a fence to another process, API or event loop
 * @point: the fence. TENON_FENCE_EVENTFD: any point, reached or not. Other types: a point that the
 *	last operation submitted to a queue will signal, on a device with the type in
 *	properties.fence_exports.
 * @type: enum tenon_fence_type
 * @fd: receives a descriptor that the caller closes
 *
 * If an operation on a queue signals the point, the descriptor signals even after the timeline was
 * released. A point that no operation can reach any more fails with -TENON_E_CALL. Call
 * tenon_queue_sync(), tenon_device_sync() or tenon_device_close_all() before exit, or the receiver
 * may wait forever: completed operations have signalled their descriptors when these return.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_UNSUPPORTED when the device lacks the type, or for a type other than eventfd
 *	when no submitted operation signals the point or it was reached already; for these types the
 *	failure of the timeline; -TENON_E_IO when out of descriptors; -TENON_E_NOMEM; -TENON_E_LOST.
 */
TENON_API int tenon_fence_export(const struct tenon_point *point, uint32_t type, int *fd);

/**
 * tenon_fence_import - create a timeline from an exported fence
 * @type: enum tenon_fence_type
 * @fd: descriptor; the caller still owns it
 * @out: receives a timeline at 0 with one reference. It reaches 1 when the fence signals, and fails
 *	when the fence fails.
 *
 * Operations on any queue may wait for the timeline. The device waits if its
 * properties.fence_imports has the type, else the host does. The host cannot wait for a
 * TENON_FENCE_OPAQUE_FD until an operation that waits for it was submitted. The timeline cannot be
 * signalled by the importer.
 *
 * A wait on the device cannot be cancelled: releasing its queue blocks until the fence signals.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_VALUE for an invalid descriptor or type; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_fence_import(uint32_t type, int fd, struct tenon_timeline **out);

/**
 * tenon_wait_any - wait until one of several points is reached or fails
 * @points: points
 * @count: number of points; at least 1
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; 0 polls, TENON_FOREVER waits without limit
 * @which: receives the index of the first such point; may be NULL
 *
 * Return: 0; -TENON_E_TIMEOUT; the failure of the point at @which, with its reason; -TENON_E_NOMEM;
 *	-TENON_E_IO when out of descriptors.
 */
TENON_API int tenon_wait_any(const struct tenon_point *points, size_t count, uint64_t deadline,
			     size_t *which);

/**
 * tenon_wait_all - wait until all of several points are reached
 * @points: points
 * @count: number of points
 * @deadline: as in tenon_wait_any()
 * @which: receives the index of the point that failed; may be NULL
 *
 * Return: 0; -TENON_E_TIMEOUT; the failure of the first failed point in @points.
 */
TENON_API int tenon_wait_all(const struct tenon_point *points, size_t count, uint64_t deadline,
			     size_t *which);

/**
 * struct tenon_wait_result - a point returned by a wait set
 * @context: from tenon_wait_set_add()
 * @status: 0 when the point was reached; negative when its timeline failed
 */
struct tenon_wait_result {
	void *context;
	int status;
};

/**
 * tenon_wait_set_create - make an empty wait set
 * @out: receives it with one reference; an object of type "tenon.WaitSet"
 *
 * Return: 0; -TENON_E_IO when out of descriptors; -TENON_E_NOMEM.
 */
TENON_API int tenon_wait_set_create(struct tenon_wait_set **out);

/**
 * tenon_wait_set_fd - the descriptor to poll
 * @set: set
 *
 * It is readable while tenon_wait_set_next() has a point to return, and occasionally without one.
 * The set owns it: do not read, write or close it.
 *
 * Return: the descriptor, valid as long as the set.
 */
TENON_API int tenon_wait_set_fd(const struct tenon_wait_set *set);

/**
 * tenon_wait_set_add - add a point to a wait set
 * @set: set
 * @point: point; its timeline is referenced until the point is returned or removed
 * @context: returned with the point
 *
 * The point is returned once, even if it was reached before. For each queue with pending points the
 * library runs a thread that sleeps in the driver; it ends with the queue's last point.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_UNSUPPORTED for a fence that only queues can wait for; -TENON_E_IO;
 *	-TENON_E_NOMEM.
 */
TENON_API int tenon_wait_set_add(struct tenon_wait_set *set, const struct tenon_point *point,
				 void *context);

/**
 * tenon_wait_set_next - fetch a point that was reached or failed
 * @set: set
 * @result: receives the point; after a failure the thread's error holds the reason
 *
 * Context: any thread; never waits.
 * Return: 1; 0 when no point is ready.
 */
TENON_API int tenon_wait_set_next(struct tenon_wait_set *set, struct tenon_wait_result *result);

/**
 * tenon_wait_set_remove - remove points from a wait set
 * @set: set
 * @context: all pending points that were added with this context
 *
 * Context: any thread. The removed points are not returned after this function returns.
 * Return: the number of points removed.
 */
TENON_API size_t tenon_wait_set_remove(struct tenon_wait_set *set, const void *context);

#ifdef __cplusplus
}
#endif

#endif /* TENON_FENCE_H */
